"""Pages in Chromium: what every test of them needs."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium found; install it or set CHROMIUM"),
]
"""For `pytestmark` in a file of such tests."""

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUIET += [
    "--renderer-process-limit=1",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Tab:
    """A page with its complaints."""

    def __init__(self, chromium: Any, url: str | None = None, **context: Any) -> None:
        self.context = chromium.new_context(base_url=url, **context)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def axe_finds(page: Any, rules: list[str] = RULES) -> list[dict[str, Any]]:
    """What axe finds."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found: list[dict[str, Any]] = axe.Axe().run(page, options={"runOnly": rules}).response["violations"]
    return found


def shown(violation: dict[str, Any]) -> str:
    """One of them in a line."""
    return f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
