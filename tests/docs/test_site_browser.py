"""The documentation site in Chromium, from a plain file server: its policy, its search, and what axe says."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, RULES, Tab, axe_finds, shown

pytestmark = MARKS + [pytest.mark.xdist_group("docs/test_site")]  # one process builds the site
LOOKS = {
    ("light", 1280): ("index.html", "reference/python/data.html"),
    ("dark", 390): ("how-to/compare.html",),
}
"""Colors and width to the pages that are looked at so."""


class Quiet(SimpleHTTPRequestHandler):
    """A file server that prints nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_pages_load_their_own_files_alone_and_fit_a_phone(address: str, chromium: Any) -> None:
    for (scheme, width), pages in LOOKS.items():
        with Tab(chromium, address, color_scheme=scheme, viewport={"width": width, "height": 900}) as tab:
            for path in pages:
                tab.page.goto(f"/{path}", wait_until="networkidle")
                assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, path
                assert not [shown(finding) for finding in axe_finds(tab.page, RULES[:-1])], (path, scheme)
            assert not tab.complaints
            assert not [url for url in tab.requests if not url.startswith(address)]


def test_search_finds_a_page(address: str, chromium: Any) -> None:
    with Tab(chromium, address, viewport={"width": 1280, "height": 900}) as tab:
        tab.page.goto("/how-to/compare.html", wait_until="networkidle")
        tab.page.keyboard.press("/")
        tab.page.wait_for_timeout(300)
        tab.page.keyboard.type("suppression hiding a category")
        tab.page.get_by_text("Explanation / Terms").or_(
            tab.page.get_by_text("Words", exact=True)
        ).first.wait_for()
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_url("**/explanation/*.html**", timeout=10_000)
        assert not tab.complaints
