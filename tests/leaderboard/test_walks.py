"""One's whole way, from signing up to taking a submission back: by keyboard alone, and without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, Tab
from leaderboard.material import PREDICTIONS, zip_bytes

pytestmark = MARKS

PRESSES = 60
"""No control of a page is further away than this many presses of Tab."""


@pytest.fixture
def good_file(tmp_path: Path) -> Path:
    (tmp_path / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    return tmp_path / "good.zip"


class Keys:
    """Somebody who has a keyboard and no mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def reach(self, control: Any) -> None:
        """Press Tab until the control has the focus, and see that the focus shows."""
        for _ in range(PRESSES):
            self.page.keyboard.press("Tab")
            if control.evaluate("each => each === document.activeElement"):
                outlined = control.evaluate("each => getComputedStyle(each).outlineStyle !== 'none'")
                assert outlined, f"the focus does not show on {control}"
                return
        raise AssertionError(f"{PRESSES} presses of Tab do not reach {control}")

    def press(self, role: str, name: str, key: str = "Enter", exact: bool = True) -> None:
        """Reach a link or a button, and use it."""
        self.reach(self.page.get_by_role(role, name=name, exact=exact))
        self.page.keyboard.press(key)

    def type(self, label: str, text: str) -> None:
        """Reach a field, and put text in place of what it holds."""
        self.reach(self.page.get_by_label(label, exact=True))
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)


def test_the_whole_way_by_keyboard_alone(chromium: Any, served: Any, good_file: Path) -> None:
    with Tab(chromium, served.url) as tab:
        page, keys = tab.page, Keys(tab.page)
        page.on("filechooser", lambda _: None)  # a wish just before a press may come late
        page.goto("/")
        keys.press("link", "Submit predictions")
        page.get_by_role("heading", name="Sign in").wait_for()
        page.get_by_role("navigation", name="Account").get_by_role("link", name="Sign up").wait_for()
        keys.press("link", "Skip to the content")
        keys.reach(page.locator("main").get_by_role("link", name="Sign up"))
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Sign up").wait_for()
        keys.type("Email address", "keys@example.org")
        keys.type("Password", "a long password")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Submit to").wait_for()
        upload = page.get_by_label("Submission", exact=True)
        keys.reach(upload)
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(good_file)
        keys.press("button", "Check the file only")
        page.get_by_text("The file is valid.").wait_for()
        keys.type("Name", "Sent by keyboard")
        keys.type("Model", "CBoW")
        keys.press("button", "Submit", key="Space")
        page.get_by_role("heading", name="Tasks").wait_for(timeout=60000)
        keys.press("link", "Edit")
        page.get_by_role("heading", name="Edit Sent by keyboard").wait_for()
        keys.type("Model", "CBoW, corrected")
        keys.press("button", "Save")
        page.get_by_text("CBoW, corrected").first.wait_for()
        keys.press("button", "Publish it on the board")
        page.get_by_text("It is on the board now.").wait_for()
        keys.reach(page.locator("summary", has_text="Withdraw"))
        page.keyboard.press("Enter")
        keys.press("button", "Withdraw it")
        page.get_by_role("button", name="Undo the withdrawal").wait_for()
        page.goto("/")
        assert page.get_by_role("link", name="Sent by keyboard", exact=True).count() == 0
        assert not tab.complaints


def test_the_whole_way_without_javascript(chromium: Any, served: Any, good_file: Path) -> None:
    with Tab(chromium, served.url, java_script_enabled=False) as tab:
        page = tab.page
        page.goto("/")
        page.get_by_role("link", name="Submit predictions").click()
        page.locator("main").get_by_role("link", name="Sign up").click()
        page.get_by_label("Email address").fill("plain@example.org")
        page.get_by_label("Password").fill("a long password")
        page.get_by_role("button", name="Sign up").click()
        page.get_by_role("heading", name="Submit to").wait_for()
        page.get_by_label("Submission", exact=True).set_input_files(good_file)
        page.get_by_role("button", name="Check the file only").click()
        page.get_by_text("The file is valid.").wait_for()
        page.get_by_text("Choose the file again").wait_for()
        page.get_by_label("Submission", exact=True).set_input_files(good_file)
        page.get_by_label("Name", exact=True).fill("Sent without a script")
        page.get_by_label("Model", exact=True).fill("CBoW")
        page.get_by_role("button", name="Submit", exact=True).click()
        page.get_by_role("heading", name="Tasks").wait_for(timeout=60000)
        page.get_by_role("link", name="Edit", exact=True).click()
        page.get_by_label("Team").fill("Nobody's")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Nobody's").first.wait_for()
        page.get_by_role("button", name="Publish it on the board").click()
        page.get_by_text("It is on the board now.").wait_for()
        page.locator("summary", has_text="Withdraw").click()
        page.get_by_role("button", name="Withdraw it").click()
        page.get_by_role("button", name="Undo the withdrawal").click()
        page.get_by_role("button", name="Make it private").click()
        page.get_by_role("button", name="Publish it on the board").wait_for()


def test_where_a_benchmark_is_organized_all_its_pages_are_two_links_away(
    client: Any, tiny: Any, ada: Any
) -> None:
    """The first link opens a group of pages, the second one a page of it."""
    tiny.organizers.add(ada)
    client.force_login(ada)
    home = "/benchmarks/tiny/organize"
    assert home in client.get("/account/").content.decode()

    def links_of(address: str) -> set[str]:
        page = client.get(address).content.decode()
        return set(re.findall(rf'href="({home}[^"#?]*)"', page))

    for here in ("", "/alike", "/log", "/limits"):
        reached = links_of(home + here)
        for group in sorted(reached):
            reached = reached | links_of(group)
        for there in ("", "/alike", "/log", "/limits"):
            assert home + there in reached, f"from {here} to {there}"
        shown = client.get(home + here).content.decode()
        assert f'href="{home}{here}" aria-current="page"' in shown


def test_a_form_of_the_library_speaks_as_the_site_does(client: Any, db: None) -> None:
    for path in ("login", "signup", "password/reset"):
        shown = client.get(f"/account/{path}/").content.decode()
        assert "Email address" in shown
        assert "placeholder=" not in shown
