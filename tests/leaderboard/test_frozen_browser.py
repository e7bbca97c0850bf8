"""A frozen copy opened as files in Chromium: boards sort and search without a server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, Tab
from django.test import override_settings
from leaderboard.test_board_browser import _database_beside_a_browser, made_up  # noqa: F401 - a fixture for all tests
from leaderboard.test_pages import board_of

from gluebench import leaderboard

pytestmark = [*MARKS, pytest.mark.django_db]
SYSTEMS = 7


@pytest.fixture(scope="module")
def copy(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a frozen copy of a board."""
    from django.core.cache import caches
    from django.db import transaction

    from gluebench.leaderboard.keeping.freeze import freeze

    home = tmp_path_factory.mktemp("frozen")
    shutil.copytree(Path(leaderboard.__file__).parent / "static", home / "static")
    folder: Path = home / "copy"
    static = override_settings(STATIC_ROOT=str(home / "static"))
    with django_db_blocker.unblock(), static, transaction.atomic():
        entries = made_up(SYSTEMS)
        for one in entries:
            one["report"] = {**one["scores"], "diagnostics": {}, "provenance": {}}
        board_of(entries)
        freeze(folder)
        transaction.set_rollback(True)
        caches["pages"].clear()
    return folder


@pytest.fixture
def page(copy: Path, chromium: Any) -> Iterator[Any]:
    """The board of the copy, from the disk."""
    tab = Tab(chromium, "")
    tab.page.goto((copy / "index.html").as_uri())
    yield tab.page
    tab.context.close()
    assert not tab.complaints


def names(page: Any) -> list[str]:
    return page.locator("#board tbody tr:visible th.name > a").all_inner_texts()  # type: ignore[no-any-return]


def test_a_copied_board_sorts_and_searches_from_the_disk(page: Any) -> None:
    usual = names(page)
    assert len(usual) == SYSTEMS
    by_name = page.get_by_role("columnheader", name="System").get_by_role("button")
    by_name.click()
    by_name.click()
    assert names(page) == sorted(usual, reverse=True)
    page.get_by_role("columnheader", name="Score").get_by_role("button").click()
    assert names(page) == usual
    page.get_by_role("searchbox").fill("kestrel")
    assert names(page) == [name for name in usual if name.startswith("Kestrel")]
    page.get_by_role("searchbox").press("Enter")
    assert page.locator("#tally").inner_text().startswith("2 of 7")


def test_a_copy_is_shown_in_its_own_font(page: Any) -> None:
    page.evaluate("document.fonts.ready")
    tools = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        tools.send(f"{domain}.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    heading = tools.send("DOM.querySelector", {"nodeId": root, "selector": "h1"})
    fonts = tools.send("CSS.getPlatformFontsForNode", heading)["fonts"]
    assert [(font["familyName"], font["isCustomFont"]) for font in fonts] == [("Inter", True)]


def test_a_copied_board_leads_to_its_systems(page: Any) -> None:
    page.locator("#board tbody th.name > a").first.click()
    assert page.url.endswith("/submissions/key000.html")
    assert page.locator("h1").inner_text() == names_of(0)


def names_of(at: int) -> str:
    name: str = made_up(SYSTEMS)[at]["name"]
    return name


def test_a_copied_board_has_no_dead_controls_without_a_script(copy: Path, chromium: Any) -> None:
    tab = Tab(chromium, "", java_script_enabled=False)
    tab.page.goto((copy / "index.html").as_uri())
    assert not tab.page.get_by_role("searchbox").is_visible()
    assert tab.page.locator("#board thead a[href]").count() == 0
    tab.context.close()


def test_a_copy_does_not_hold_the_data_twice(copy: Path) -> None:
    assert not list(copy.rglob("data.zip"))
    assert "Download all" not in (copy / "benchmarks/glue/data.html").read_text()
