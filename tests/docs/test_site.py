"""The documentation site: built as `make docs` builds it, then read page by page."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the site's generator is not installed; pip install 'gluebench[docs]'")

from docs.built import COUNTED, Page, local, target
from markdown_it import MarkdownIt

from docs.tools import site as builder
from docs.tools.api import MARK
from docs.tools.notebook import to_markdown


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_file_and_an_anchor(pages: dict[Path, Page], site: Path) -> None:
    broken = []
    for page in pages.values():
        for link in filter(local, page.links):
            path, anchor = target(page, link)
            if not path.is_file() or (anchor and path in pages and anchor not in pages[path].ids):
                broken.append(f"{page.path.relative_to(site)}: {link}")
    assert not broken


def test_every_page_is_in_the_navigation(pages: dict[Path, Page], site: Path) -> None:
    reached = {site / "index.html"}
    waiting = [site / "index.html"]
    while waiting:
        page = pages[waiting.pop()]
        found = {target(page, link)[0] for link in page.navigation if local(link)} - reached
        reached |= found
        waiting += found
    assert reached == pages.keys() - {site / "404.html"}


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    assert not [link for page in pages.values() for link in page.fetched if not local(link)]
    missing = [
        (page.path.name, link)
        for page in pages.values()
        for link in page.fetched
        if not target(page, link)[0].is_file()
    ]
    assert not missing
    styles = "\n".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", styles)


def test_a_policy_may_forbid_inline_scripts_and_styles(pages: dict[Path, Page]) -> None:
    assert not {(page.path.name, found) for page in pages.values() for found in page.inline}


def test_the_pages_hold_what_a_code_host_shows(pages: dict[Path, Page], site: Path) -> None:
    """Headings, lists, tables, code and pictures, counted by another Markdown parser."""
    markdown = MarkdownIt("commonmark").enable("table")
    differ = []
    for path, page in pages.items():
        twin = path.with_suffix(".md")
        if twin.exists():
            html = f"<article>{markdown.render(twin.read_text('utf-8'))}</article>"
            expected = Page(path, html).counts
            differ += [
                f"{twin.relative_to(site)}: {page.counts[tag]} {tag} instead of {expected[tag]}"
                for tag in COUNTED
                if page.counts[tag] != expected[tag]
            ]
    assert not differ


def test_every_page_is_there_as_markdown_and_listed_for_language_models(site: Path) -> None:
    twins = {path.relative_to(site).as_posix() for path in site.rglob("*.md")}
    pages = {path.relative_to(site).with_suffix(".md").as_posix() for path in site.rglob("*.html")}
    assert twins == pages - {"404.md"}
    text = (site / "llms.txt").read_text("utf-8")
    assert re.match(r"# gluebench\n\n> \*\*Know what your scores show.\*\* .+\n\n## Tutorials\n", text)
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert {*listed} == twins - {"index.md"}
    full = (site / "llms-full.txt").read_text("utf-8")
    assert not [name for name in twins if (site / name).read_text("utf-8").strip() not in full]


def test_search_knows_every_page(site: Path) -> None:
    found = {
        item["location"].partition("#")[0] for item in json.loads((site / "search.json").read_text())["items"]
    }
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"} <= found


def public_names() -> Iterator[tuple[str, str, object]]:
    """Page, name and object of everything that the reference must explain."""
    for page in sorted((builder.DOCS / "reference/python").glob("*.md")):
        for module in MARK.findall(page.read_text("utf-8")):
            room = import_module(module)
            for name in room.__all__:
                yield f"reference/python/{page.stem}.md", name, getattr(room, name)


def test_the_reference_explains_every_public_name(site: Path) -> None:
    modules = {
        module for page in builder.DOCS.rglob("*.md") for module in MARK.findall(page.read_text("utf-8"))
    }
    rooms = ("benchmark", "submission", "scoring", "data", "systems")
    assert {"gluebench", *(f"gluebench.{room}" for room in rooms), "gluebench.analysis.compare"} <= modules
    unexplained = []
    for page, name, member in public_names():
        if inspect.ismodule(member) or name.startswith("__"):
            continue
        section = (site / page).read_text("utf-8").split(f"\n### `{name}`\n")
        explained = inspect.isroutine(member) or inspect.isclass(member)
        words = (inspect.getdoc(member) or "").split("\n")[0] if explained else f"{name} = "
        if len(section) != 2 or not words or words not in section[1]:
            unexplained.append(f"{page}: {name}")
    assert not unexplained


def test_a_page_that_no_reader_can_find_and_a_link_to_nothing_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(builder.SiteError, match=r"docs/a\.md links to b\.md, which is not on the site"):
        builder.relink("See [b](b.md).", "docs/a.md", {"docs/a.md": "a.md"})
    kept = "`[b](b.md)` and\n\n```text\n[b](b.md)\n```\n"
    assert builder.relink(kept, "docs/a.md", {"docs/a.md": "a.md"}) == kept
    home = tmp_path / "docs"
    home.mkdir()
    (home / "README.md").write_text("# Home\n\nA summary.\n\n## Pages\n\n- [One](one.md)\n")
    (home / "one.md").write_text("# One\n")
    (home / "two.md").write_text("# Two\n")
    monkeypatch.setattr(builder, "ROOT", tmp_path)
    monkeypatch.setattr(builder, "DOCS", home)
    monkeypatch.setattr(builder, "PROJECT", {})
    with pytest.raises(builder.SiteError, match=r"docs/README\.md does not link to: two\.md"):
        builder.build(tmp_path / "site")
    assert not (tmp_path / "site").exists()
    (home / "two.md").unlink()
    (home / "one.md").write_text("# One\n\n[There](#nowhere)\n")
    with pytest.raises(builder.SiteError, match="the generator complains"):
        builder.build(tmp_path / "site")


def test_a_notebook_becomes_a_page_with_its_outputs(tmp_path: Path) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Text."]},
        {
            "cell_type": "code",
            "source": ["print(1)"],
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": pixel, "text/plain": ["<Figure>"]}},
            ],
        },
        {"cell_type": "code", "source": [], "outputs": []},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    assert to_markdown(tmp_path / "a.ipynb", tmp_path / "a.md") == (
        "# Title\n\nText.\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n![<Figure>](a-1-1.png)\n"
    )
    assert (tmp_path / "a-1-1.png").read_bytes().startswith(b"\x89PNG")
