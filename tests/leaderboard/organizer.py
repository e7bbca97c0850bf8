"""A person at a browser, whose clicks, fields and characters are counted, with pictures of each step."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from browser import Tab

SCREENSHOTS = "GLUEBENCH_SCREENSHOTS"
"""The variable that names a folder for pictures of every step."""
POINT, TYPE, THINK, READ, FILES = 1.3, 0.28, 1.35, 8.0, 8.0
"""Seconds: to point and click; for a character; to think before each (Card, Moran and Newell 1980); to look
over a new page; to choose files in the browser's window."""
WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}


class Person:
    """Someone who goes from page to page by links and buttons alone."""

    def __init__(self, chromium: Any, url: str, name: str, **context: Any) -> None:
        self.tab = Tab(chromium, url, viewport={"width": 1280, "height": 900}, **context)
        self.page, self.name = self.tab.page, name
        self.page.set_default_timeout(150_000)  # as long as the grader may take to build a benchmark
        self.clicks = self.fields = self.characters = self.files = self.pages = 0
        self.page.on("load", self._loaded)

    def _loaded(self, _: Any) -> None:
        self.pages += 1

    @property
    def seconds(self) -> float:
        """An estimate of the time that all this takes a person."""
        acts = self.clicks + self.fields
        return acts * (POINT + THINK) + self.characters * TYPE + self.pages * READ + self.files * FILES

    def click(self, role: str, text: str, within: str = "main", number: int = 0) -> None:
        """Press a link or a button."""
        self.page.locator(within).get_by_role(role, name=text, exact=True).nth(number).click()
        self.clicks += 1

    def fill(self, label: str, text: str) -> None:
        """Write into a field, or choose from its list."""
        field = self._field(label)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(label=text)
        else:
            field.fill(text)
            self.characters += len(text)
        self.fields += 1

    def _field(self, label: str) -> Any:
        return self.page.get_by_label(re.compile(f"^\\s*{re.escape(label)}\\b")).first

    def check(self, label: str) -> None:
        """Tick a box, or choose one of several."""
        self.page.get_by_label(label, exact=True).first.check()
        self.fields += 1

    def choose(self, label: str, *paths: Path) -> None:
        """Choose files."""
        self._field(label).set_input_files(paths)
        self.files += 1

    def sees(self, text: str) -> None:
        """Wait for a text of the page."""
        self.page.get_by_text(text).first.wait_for()

    def look(self, step: str) -> None:
        """See that the page fits a desk and a phone; keep a picture of each where a folder is named."""
        folder = os.environ.get(SCREENSHOTS)
        for device, (width, height) in WIDTHS.items():
            self.page.set_viewport_size({"width": width, "height": height})
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{step}: {wide} px wide on a {device} of {width} px"
            if folder:
                Path(folder).mkdir(exist_ok=True)
                self.page.screenshot(path=Path(folder, f"{step}-{device}.png"), full_page=True)
        self.page.set_viewport_size({"width": 1280, "height": 900})

    def report(self) -> str:
        """What was counted, as one line of JSON."""
        names = ("clicks", "fields", "characters", "files", "pages")
        return json.dumps(
            {"who": self.name, **{n: getattr(self, n) for n in names}, "seconds": round(self.seconds)}
        )
