"""Take pictures of the demo's pages: `python -m docs.tools.screenshots [--site FOLDER]`. Needs Chromium.

The demo is made in FOLDER, or brought up to date there; without one, in a temporary folder.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "img"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
COLORS = 48
ROLES = 2
"""People whom the demo prints a link for."""
DESKTOP, PHONE = (1280, 960), (390, 1100)
BOARD = "/benchmarks/sample"


class Look(NamedTuple):
    """How a page is shown."""

    ending: str
    """The end of the picture's name."""
    size: tuple[int, int] = DESKTOP
    scheme: str = "light"
    media: str = "screen"


LIGHT, ON_PHONE = Look(""), Look("-phone", PHONE)
BOARD_LOOKS = (
    *(LIGHT, Look("-dark", scheme="dark"), ON_PHONE, Look("-phone-dark", PHONE, "dark")),
    Look("-print", (1123, 794), media="print"),
)
PAGES = {
    "charts": f"{BOARD}/progress",
    "task": f"{BOARD}/tasks/RTE",
    "data": f"{BOARD}/data",
    "diagnostics": f"{BOARD}/diagnostics/AX",
}
ORGANIZER_PAGES = {
    "organize-new": "/organize/new",
    "organize-setup": f"{BOARD}/organize/setup",
    "organize-phases": f"{BOARD}/organize/phases",
    "organize-limits": f"{BOARD}/organize/limits",
    "organize-submissions": f"{BOARD}/organize",
    "organize-participants": f"{BOARD}/organize/participants",
    "organize-results": f"{BOARD}/organize/results",
}
SHEET_LOOKS = {
    "1440": Look("", (1440, 900)),
    "1280": Look("", (1280, 800)),
    "390": Look("", (390, 844)),
    "dark": Look("", (1280, 800), scheme="dark"),
    "print": Look("", (1123, 794), media="print"),
    "200 %": Look("", (640, 400)),
}
"""What the contact sheet shows of each page; at 200 % a window of 1280 pixels has room for 640."""
THUMB = 230, 180
"""Size of a page on the contact sheet, in pixels."""
TRANSCRIPT = Path(__file__).parents[1] / "how-to" / "board.md"
HEARD = re.compile(r"(<!-- heard: python -m docs.tools.screenshots -->\n\n```text\n).*?(```)", re.DOTALL)
CELL = re.compile(r'  - (?:cell|rowheader|columnheader) "(.*)":?')
"""A cell in the accessibility tree of a row, as Playwright writes it."""


def main() -> None:
    """Start the demo, and take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path)
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        site = parser.parse_args().site or Path(scratch) / "site"
        with _demo(site) as (url, links), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            participant = _signed_in(browser, url, links["a participant"])
            _take_all(browser, url, participant, Path(scratch) / "mistaken.zip")
            organizer = _signed_in(browser, url, links["the organizer"])
            take_organizer_pages(browser, url, organizer)
            take_sheet(browser, url, participant, organizer)
            write_transcript(browser, url)


@contextmanager
def _demo(site: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a running demo, and the links that sign people in, by their roles."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gluebench",
        "leaderboard",
        "demo",
        "--site",
        str(site),
        "--port",
        str(port),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            links = {}
            for line in process.stdout or ():
                print(line, end="")
                if link := re.search(r"Sign in once as ([\w ]+): (http://[^/]+)(/\S+)", line):
                    links[link[1]] = link[3]
                if link and len(links) == ROLES:
                    yield link[2], links
                    break
            else:
                sys.exit("The demo did not start.")
        finally:
            process.terminate()


def _take_all(browser: Any, url: str, participant: Any, mistaken: Path) -> None:
    with _page(browser, url, LIGHT) as page:
        rows = page.request.get(f"{BOARD}.json").json()["rows"]
        first, second = (row["key"] for row in rows[:2])
        sample = page.request.get(f"{BOARD}/data/sample-submission.zip").body()
    _write_mistaken(sample, mistaken)
    pages = {**PAGES, "compare": f"{BOARD}/compare?a={first}&b={second}", "report": f"/submissions/{second}"}
    for look in BOARD_LOOKS:
        with _page(browser, url, look) as page:
            page.goto(BOARD)
            while page.get_by_text("are being computed").count():  # the rank sets
                page.wait_for_timeout(1000)
                page.reload()
            _take(page, f"board{look.ending}")
    for look in (LIGHT, ON_PHONE):
        with _page(browser, url, look) as page:
            for name, path in pages.items():
                page.goto(path)
                while page.locator("#progress").count():  # a comparison in the queue
                    page.wait_for_timeout(1000)
                    page.reload()
                _take(page, f"{name}{look.ending}")
        with _page(browser, url, look, storage_state=participant) as page:
            _send_mistaken(page, mistaken)
            _take(page, f"submit{look.ending}")


def _signed_in(browser: Any, url: str, link: str) -> Any:
    """The state of a browser in which the person of this link is signed in."""
    with _page(browser, url, LIGHT) as page:
        page.goto(link)
        for field in page.locator("input[type=password]").all():
            field.fill("a password of the demo")
        page.locator("main form button").last.click()
        page.wait_for_url(re.compile("/(submissions|organize)$"))
        return page.context.storage_state()


def take_organizer_pages(browser: Any, url: str, organizer: Any) -> None:
    """Take the pictures of the organizer's pages."""
    with _page(browser, url, LIGHT, storage_state=organizer) as page:
        for name, path in ORGANIZER_PAGES.items():
            page.goto(path)
            _take(page, name)


def take_sheet(browser: Any, url: str, participant: Any, organizer: Any) -> None:
    """Write the contact sheet: twenty pages, a row each, in the six looks of `SHEET_LOOKS`."""
    with _page(browser, url, LIGHT) as page:
        first, second = (row["key"] for row in page.request.get(f"{BOARD}.json").json()["rows"][:2])
    visited = ["", "/tasks/RTE", "/progress", "/efficiency", "/diagnostics/AX", "/pairs", "/rules", "/health"]
    visited += ["/data", f"/compare?a={first}&b={second}"]
    everybody = [f"{BOARD}{path}" for path in visited] + [f"/submissions/{first}", "/account/login/"]
    rows = [(None, path) for path in everybody]
    rows += [(participant, path) for path in (f"{BOARD}/submit", "/submissions", "/account/")]
    rows += [(organizer, path) for path in ("/organize", "/organize/new")]
    rows += [(organizer, f"{BOARD}/organize{path}") for path in ("/setup", "", "/results")]
    width, height = THUMB
    sheet = Image.new("RGB", (len(SHEET_LOOKS) * width, len(rows) * height), "white")
    for column, look in enumerate(SHEET_LOOKS.values()):
        for row, (state, path) in enumerate(rows):
            with _page(browser, url, look, storage_state=state) as page:
                page.goto(path)
                picture = Image.open(io.BytesIO(page.screenshot()))
            picture.thumbnail((width - 8, height - 8))
            sheet.paste(picture, (column * width + 4, row * height + 4))
    target = IMAGES / "pages.webp"
    sheet.save(target, quality=45, method=6)
    print(target, target.stat().st_size, "bytes")


def write_transcript(browser: Any, url: str) -> None:
    """Write what a screen reader is given of the head and the first three rows of the board."""
    with _page(browser, url, LIGHT) as page:
        page.goto(BOARD)
        rows = page.locator("#board thead tr, #board tbody tr").all()[:4]
        lines = [" | ".join(CELL.findall(row.aria_snapshot())) for row in rows]
    text = TRANSCRIPT.read_text(encoding="utf-8")
    heard = "".join(f"{line}\n" for line in lines)
    TRANSCRIPT.write_text(HEARD.sub(rf"\g<1>{heard}\g<2>", text), encoding="utf-8")


@contextmanager
def _page(browser: Any, url: str, look: Look, **more: Any) -> Iterator[Any]:
    width, height = look.size
    size = {"width": width, "height": height}
    context = browser.new_context(base_url=url, viewport=size, color_scheme=look.scheme, **more)
    page = context.new_page()
    page.emulate_media(media=look.media)
    yield page
    context.close()


def _write_mistaken(sample: bytes, target: Path) -> None:
    """The sample submission, with two answers in turn, and one file as CSV under another name."""
    with zipfile.ZipFile(io.BytesIO(sample)) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            header, *rows = source.read(name).decode().splitlines()
            other = "not_entailment" if name in ("QNLI.tsv", "RTE.tsv") else "neutral"
            swapped = {"0": "1", "2.5": "3.5", "entailment": other}
            for at in range(0, len(rows), 2):
                index, answer = rows[at].split("\t")
                rows[at] = f"{index}\t{swapped[answer]}"
            text = "\n".join([header, *rows, ""])
            if name == "RTE.tsv":
                name, text = "rte.csv", text.replace("\t", ",")
            copy.writestr(name, text)


def _send_mistaken(page: Any, file: Path) -> None:
    page.goto(f"{BOARD}/submit")
    page.get_by_label("Submission", exact=True).set_input_files(file)
    page.get_by_label("Name").fill("My system")
    page.get_by_label("Model", exact=True).fill("BiLSTM")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", name="Fix these automatically").wait_for()


def _take(page: Any, name: str) -> None:
    """Write what is in sight as a small PNG."""
    page.wait_for_timeout(300)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    target = IMAGES / f"{name}.png"
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
    print(target, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
