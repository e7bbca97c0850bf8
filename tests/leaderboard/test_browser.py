"""The pages in Chromium: by keyboard, in light and dark, with axe, and nothing on the console."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, Tab, axe_finds
from leaderboard.material import PREDICTIONS, tsv, zip_bytes

pytestmark = MARKS


@pytest.fixture(scope="module")
def entry(served: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graded submission on the served site; returns the address of its page."""
    path = tmp_path_factory.mktemp("browser") / "own.zip"
    path.write_bytes(zip_bytes(PREDICTIONS))
    return f"/submissions/{served.submit(path, 'Seen in a browser')}"


def sign_up(page: Any, email: str) -> None:
    page.goto("/account/signup/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign up").click()


def test_a_row_opens_and_closes_by_keyboard(chromium: Any, served: Any, entry: str) -> None:
    with Tab(chromium, served.url) as tab:
        tab.page.goto("/")
        button = tab.page.get_by_role("button", name="Details of Seen in a browser, a model")
        button.focus()
        assert button.get_attribute("aria-expanded") == "false"
        tab.page.keyboard.press("Enter")
        tab.page.get_by_text("Full report of Seen in a browser").wait_for()
        assert button.get_attribute("aria-expanded") == "true"
        tab.page.keyboard.press("Space")
        tab.page.get_by_text("Full report of Seen in a browser").wait_for(state="hidden")
        assert not tab.complaints


def test_searching_leaves_the_tables_of_an_open_row_alone(chromium: Any, served: Any, entry: str) -> None:
    """Those of classes are there where labels are public."""
    with Tab(chromium, served.url) as tab:
        tab.page.goto("/")
        tab.page.get_by_role("button", name="Details of Seen in a browser, a model").click()
        tab.page.get_by_text("Full report of Seen in a browser").wait_for()
        inner = "<table><tbody><tr><th>entailment</th><td>50.0</td></tr></tbody></table>"
        tab.page.locator(".detail").evaluate("(detail, table) => { detail.innerHTML += table; }", inner)
        tab.page.locator("input[name=q]").fill("Seen in a browser")
        assert tab.page.locator(".tally").inner_text().startswith("1 of ")
        assert tab.page.get_by_text("entailment", exact=True).is_visible()
        assert not tab.complaints


def names(page: Any) -> list[str]:
    return [
        name.split("\n")[0] for name in page.locator("#board tbody th.name > a:visible").all_inner_texts()
    ]


def test_a_board_is_sorted_and_searched_by_keyboard(
    chromium: Any, served: Any, entry: str, tmp_path: Path
) -> None:
    (tmp_path / "worse.zip").write_bytes(zip_bytes({**PREDICTIONS, "Refer": "0011"}))
    served.submit(tmp_path / "worse.zip", "Another one")
    with Tab(chromium, served.url) as tab:
        page = tab.page
        page.goto("/")
        both = [name for name in names(page) if name in ("Seen in a browser", "Another one")]
        assert both == ["Seen in a browser", "Another one"]
        head = page.get_by_role("columnheader", name="Refer")
        button = head.get_by_role("button")
        button.focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert names(page)[0] == "Another one"
        page.get_by_role("searchbox").fill("seen in")
        assert names(page) == ["Seen in a browser"]
        assert "1 of" in page.get_by_role("status").inner_text()
        page.get_by_role("searchbox").fill("")
        page.evaluate(RENAME)
        page.locator("#board [data-sort=name] button").click()
        renamed = [name for name in names(page) if name in ("run 10", "run 9")]
        assert renamed == ["run 9", "run 10"], "as the server sorts names"
        assert not tab.complaints


RENAME = """() => {
  const links = document.querySelectorAll("#board tbody th.name > a[href*='/submissions/']");
  links[0].textContent = "run 10";
  links[1].textContent = "run 9";
}"""


def test_a_search_finds_the_whole_team_and_nothing_else_below_the_name(
    chromium: Any, served: Any, entry: str, tmp_path: Path
) -> None:
    (tmp_path / "team.zip").write_bytes(zip_bytes(PREDICTIONS))
    served.python(
        "from gluebench.leaderboard import commands; import sys\n"
        "commands.submit_local(*sys.argv[1:], model='a model', name='Of a team', team='NYU/UW')",
        *(str(served.folder), "tiny", "demo@example.org", str(tmp_path / "team.zip")),
    )
    for java_script in (True, False):
        with Tab(chromium, served.url, java_script_enabled=java_script) as tab:
            page = tab.page
            for wanted, found in {"uw": ["Of a team"], "nyu/uw": ["Of a team"], "submission": []}.items():
                page.goto("/")
                assert "submission" in page.locator("tr", has_text="Of a team").inner_text()
                page.get_by_role("searchbox").fill(wanted)
                if not java_script:
                    page.get_by_role("button", name="Find").click()
                assert names(page) == found, (wanted, java_script)


LONG = """() => {
  const body = document.querySelector("#board tbody");
  const row = body.querySelector("tr:has([aria-expanded=true])");
  for (let at = 0; at < 300; at += 1) {
    const more = row.cloneNode(true);
    more.querySelector(".expand").remove();
    more.querySelector(".score").textContent = String((at * 7) % 300);
    body.append(more);
  }
}"""
SORT_QUICKLY = """() => {
  const button = document.querySelector('.heads [data-sort=""] button');
  for (let time = 0; time < 3; time += 1) button.click();
  const rows = [...document.querySelectorAll("#board tbody tr")];
  return [rows.length, rows.filter((row) => row.checkVisibility()).length];
}"""


def test_a_long_board_is_sorted_at_once_and_whole_a_moment_later(
    chromium: Any, served: Any, entry: str
) -> None:
    with Tab(chromium, served.url) as tab:
        page = tab.page
        page.goto("/")
        page.get_by_role("button", name="Details of Seen in a browser, a model").click()
        page.get_by_text("Full report of Seen in a browser").wait_for()
        page.evaluate(LONG)
        height = page.locator("#board").bounding_box()["height"]
        rows, at_once = page.evaluate(SORT_QUICKLY)
        assert 60 <= at_once < rows
        page.locator("#board .later").first.wait_for(state="detached")
        assert page.locator("#board tbody tr:visible").count() == rows
        assert page.locator("#board").bounding_box()["height"] == height
        scores = [
            float(text)
            for text in page.locator("#board tbody td.score").all_inner_texts()
            if text[:1].isdigit()
        ]
        assert scores == sorted(scores)
        below = page.locator("tr:has([aria-controls=detail-1]) + tr")
        assert "Full report of Seen in a browser" in below.inner_text()
        assert not tab.complaints


def test_without_javascript_a_board_is_sorted_and_searched_by_links_and_a_form(
    chromium: Any, served: Any, entry: str
) -> None:
    with Tab(chromium, served.url, java_script_enabled=False) as tab:
        page = tab.page
        page.goto("/")
        page.get_by_role("columnheader", name="Refer").get_by_role("link").click()
        assert page.get_by_role("columnheader", name="Refer").get_attribute("aria-sort") == "descending"
        page.get_by_role("searchbox").fill("no such system")
        page.get_by_role("button", name="Find").click()
        assert "sort=Refer" in page.url
        page.get_by_text("No system has").wait_for()


def test_without_javascript_the_row_leads_to_its_page(chromium: Any, served: Any, entry: str) -> None:
    with Tab(chromium, served.url, java_script_enabled=False) as tab:
        tab.page.goto("/")
        tab.page.get_by_role("link", name="Seen in a browser", exact=True).click()
        assert tab.page.url.endswith(entry)


def test_a_zip_is_checked_and_submitted(chromium: Any, served: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(zip_bytes({**PREDICTIONS, "Refer": "01x0"}))
    (tmp_path / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    with Tab(chromium, served.url) as tab:
        page = tab.page
        sign_up(page, "clicker@example.org")
        page.goto("/benchmarks/tiny/submit")
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "broken.zip")
        page.get_by_role("button", name="Check the file only").click()
        page.get_by_text("Refer.tsv:4").wait_for()
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "good.zip")
        page.get_by_role("button", name="Check the file only").click()
        page.get_by_text("The file is valid.").wait_for()
        page.get_by_label("Name").fill("Clicked")
        page.get_by_label("Model", exact=True).fill("CBoW")
        page.get_by_text("More about the system").click()
        page.get_by_label("Multi-task training").check()
        page.get_by_role("button", name="Submit", exact=True).click()
        page.get_by_role("heading", name="Tasks").wait_for(timeout=60000)
        page.get_by_role("button", name="Publish it on the board").click()
        page.get_by_text("It is on the board now.").wait_for()
        page.goto("/")
        assert page.get_by_role("link", name="Clicked", exact=True).count() == 1
        assert not tab.complaints


def tabs_to(page: Any, role: str, name: str, *, most: int = 30) -> int:
    """Press Tab until this has the focus; returns how often."""
    target = page.get_by_role(role, name=name, exact=True).first
    for times in range(1, most + 1):
        page.keyboard.press("Tab")
        if target.evaluate("each => each === document.activeElement"):
            return times
    raise AssertionError(f"{name} is more than {most} stops away")


def test_from_the_board_to_a_sent_file_it_is_25_tab_stops_at_most(
    chromium: Any, served: Any, entry: str, tmp_path: Path
) -> None:
    """By Tab alone, every stop counted, no link to skip what comes first."""
    (tmp_path / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    with Tab(chromium, served.url) as tab:
        page = tab.page
        sign_up(page, "tabs@example.org")
        page.goto("/")
        stops = tabs_to(page, "link", "Submit")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Submit to A tiny benchmark").wait_for()
        file = page.get_by_label("Submission", exact=True)
        for times in range(1, 30):
            page.keyboard.press("Tab")
            if file.evaluate("each => each === document.activeElement"):
                stops += times
                break
        file.set_input_files(tmp_path / "good.zip")  # a browser's own window, which opens with Enter
        stops += tabs_to(page, "textbox", "Name")
        page.keyboard.type("By keyboard")
        stops += tabs_to(page, "textbox", "Model")
        page.keyboard.type("CBoW")
        stops += tabs_to(page, "button", "Submit")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="By keyboard").wait_for()
        assert stops <= 25
        assert not tab.complaints


@pytest.mark.parametrize("java_script", [True, False])
def test_a_file_that_can_be_fixed_is_fixed_and_sent_from_the_page(
    chromium: Any, served: Any, tmp_path: Path, java_script: bool
) -> None:
    path = tmp_path / "commas.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in PREDICTIONS.items():
            archive.writestr(f"{name}.tsv", tsv(values, "prediction").replace("\t", ","))
    with Tab(chromium, served.url, java_script_enabled=java_script) as tab:
        page = tab.page
        sign_up(page, f"commas-{java_script}@example.org".lower())
        page.goto("/benchmarks/tiny/submit")
        page.get_by_label("Submission", exact=True).set_input_files(path)
        page.get_by_label("Name").fill("Fixed here")
        page.get_by_label("Model", exact=True).fill("CBoW")
        page.get_by_role("button", name="Submit", exact=True).click()
        page.get_by_role("heading", name="Fix these automatically").wait_for()
        assert page.get_by_label("Name").input_value() == "Fixed here"
        assert not (java_script and axe_finds(page))
        page.get_by_role("button", name="Submit the fixed copy").click()
        page.get_by_role("heading", name="Fixed here").wait_for()
        assert not [each for each in tab.complaints if "422" not in each]


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(
    chromium: Any, served: Any, tmp_path: Path
) -> None:
    with (tmp_path / "large.zip").open("wb") as file:
        file.truncate(17 * 1024**2)
    with Tab(chromium, served.url) as tab:
        page = tab.page
        sign_up(page, "large@example.org")
        page.goto("/benchmarks/tiny/submit")
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "large.zip")
        page.get_by_label("Name").fill("Large")
        page.get_by_label("Model", exact=True).fill("CBoW")
        for button in ("Check the file only", "Submit"):
            page.get_by_role("button", name=button, exact=True).click()
            page.get_by_text("The file is larger than 16 MB").wait_for()
            assert page.url.endswith("/submit")
        assert not tab.complaints


def test_enter_submits_and_a_second_click_does_not_submit_again(
    chromium: Any, served: Any, tmp_path: Path
) -> None:
    (tmp_path / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    with Tab(chromium, served.url) as tab:
        page = tab.page
        page.goto("/benchmarks/tiny/submit")
        page.get_by_role("navigation", name="Account").get_by_role("link", name="Sign up").click()
        page.get_by_label("Email").fill("hasty@example.org")
        page.get_by_label("Password").fill("a long password")
        page.get_by_role("button", name="Sign up").click()
        assert page.url.endswith("/benchmarks/tiny/submit"), "signing up leads where one wanted to go"
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "good.zip")
        page.get_by_label("Name").fill("Hasty")
        page.get_by_label("Model", exact=True).fill("CBoW")
        page.evaluate("""() => {
          const form = document.getElementById("submit-form");
          form.requestSubmit(); form.requestSubmit();
        }""")
        page.get_by_role("heading", name="About the system").wait_for()
        page.goto("/benchmarks/tiny/submit")
        (tmp_path / "good.zip").write_bytes(zip_bytes({**PREDICTIONS, "Refer": "0011"}))
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "good.zip")
        page.get_by_label("Model", exact=True).fill("CBoW")
        page.get_by_label("Name").fill("By Enter")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="By Enter").wait_for()
        page.goto("/submissions")
        assert page.get_by_role("row").count() == 1 + 2
        assert not tab.complaints


@pytest.mark.parametrize("button", ["Check the file only", "Submit"])
def test_who_signs_in_again_in_another_tab_sends_the_form_that_is_open(
    chromium: Any, served: Any, tmp_path: Path, button: str
) -> None:
    (tmp_path / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    email = f"away-{button[:5].lower()}@example.org"
    with Tab(chromium, served.url) as tab:
        page = tab.page
        sign_up(page, email)
        page.goto("/benchmarks/tiny/submit")
        page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "good.zip")
        page.get_by_label("Name").fill("Away")
        page.get_by_label("Model", exact=True).fill("CBoW")
        key = page.locator("[name=retry_key]").input_value()
        tab.context.clear_cookies(name="sessionid")
        page.get_by_role("button", name=button, exact=True).click()
        page.get_by_text("You are not signed in any more.").wait_for()
        other = tab.context.new_page()
        other.goto("/account/login/")
        other.get_by_label("Email").fill(email)
        other.get_by_label("Password").fill("a long password")
        other.get_by_role("button", name="Sign in", exact=True).click()
        other.get_by_role("heading", name="My submissions").wait_for()
        with page.expect_request(lambda sent: sent.method == "POST") as first:
            page.get_by_role("button", name=button, exact=True).click()
        assert first.value.response().status == 403, "the token of the open form is void"
        if button == "Submit":
            page.get_by_role("heading", name="Away").wait_for()
        else:
            page.get_by_text("The file is valid.").wait_for()
            assert page.locator("[name=retry_key]").input_value() == key


def test_scripts_shift_nothing(chromium: Any, served: Any, tmp_path: Path) -> None:
    """They are held until the page is drawn; a button beside these names leaves them less room."""
    (tmp_path / "own.zip").write_bytes(zip_bytes(PREDICTIONS))
    served.submit(tmp_path / "own.zip", *("in" + " in" * more for more in range(4, 16)))
    drawn = """() => new Promise(done => {
      const settle = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
      if (document.readyState !== "loading") settle();
      else document.addEventListener("readystatechange", settle, {once: true});
    })"""
    shifted = """(since) => new Promise(done => {
      let sum = 0;
      const add = (entry) => { if (entry.startTime > since) sum += entry.value; };
      const observer = new PerformanceObserver(list => list.getEntries().forEach(add));
      observer.observe({type: "layout-shift", buffered: true});
      setTimeout(() => done(sum), 300);
    })"""
    with Tab(chromium, served.url, viewport={"width": 1280, "height": 1200}) as tab:
        since: list[float] = []

        def hold(route: Any) -> None:
            since.append(tab.page.evaluate(drawn))
            route.continue_()

        sign_up(tab.page, "shift@example.org")
        tab.page.get_by_role("link", name="Sign out").wait_for()
        tab.page.route("**/*.js", hold)
        for path in ("/", "/benchmarks/tiny/submit"):
            since.clear()
            tab.page.goto(path)
            assert tab.page.evaluate(shifted, since[0]) == 0
