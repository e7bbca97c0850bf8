"""Every block of README, CONTRIBUTING and docs/: run, or marked with why it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.blocks import FOLLOWED, SHOWN, Block, blocks
from docs.sandbox import follow

ROOT = Path(__file__).resolve().parents[2]
GENERATED = (
    "reference/commands.md",
    "reference/commands/",
    "reference/sample-sentences.md",
    "example/README.md",
)
FOLLOWED_BY = {
    "tutorials/*": "tests/docs/test_tutorials.py",
    "contribute/adding-*": "tests/docs/test_adding.py",
}
"""Pages that a test of their own follows."""
KINDS = ("sh", "python", "toml", "json", *SHOWN)


def documented() -> Iterator[Path]:
    """Every page whose blocks are run here."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md"))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        if not name.startswith(GENERATED) and not any(page.match(pattern) for pattern in FOLLOWED_BY):
            yield page


PAGES = {page.relative_to(ROOT).as_posix(): page for page in documented()}
# By their text: to parse every page takes a second of each collection of the tests.
SLOW = [name for name, page in PAGES.items() if "\n<!-- slow:" in page.read_text("utf-8")]


def marked(page: Path) -> list[Block]:
    """The page's blocks; none is run if another test follows the page."""
    elsewhere = FOLLOWED.search(page.read_text("utf-8"))
    if elsewhere is None:
        return list(blocks(page))
    # The Python that such a page shows is imported there: transformers alone takes seconds.
    others = [block for block in blocks(page) if block.kind != "python"]
    return [block._replace(not_run=elsewhere[1], word="") for block in others]


@pytest.mark.parametrize("name", PAGES)
def test_the_blocks_of_a_page_do_what_it_says(name: str, template: Path, tmp_path: Path) -> None:
    if by := FOLLOWED.search(PAGES[name].read_text("utf-8")):
        assert Path(name).name in (ROOT / by[1]).read_text("utf-8"), f"{by[1]} does not name {name}"
    page_blocks = marked(PAGES[name])
    if page_blocks:
        assert not follow(page_blocks, template, tmp_path / "home", slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_the_slow_blocks_of_a_page_too(name: str, template: Path, tmp_path: Path) -> None:
    assert not follow(marked(PAGES[name]), template, tmp_path / "home", slow=True)


def test_every_block_has_a_kind_and_every_mark_a_reason() -> None:
    wrong: list[Block] = []
    for page in PAGES.values():
        for block in blocks(page):
            if block.kind == "json":
                assert [json.loads(line) for line in json_documents(block.text)]
            if block.kind not in KINDS or ("<!-- not run" in block.text and not block.not_run):
                wrong.append(block)
    assert not [(block.place, block.kind) for block in wrong]


def json_documents(text: str) -> list[str]:
    """A JSON text, or one on each line."""
    try:
        json.loads(text)
    except ValueError:
        return text.splitlines()
    return [text]


def test_the_tests_that_follow_other_pages_are_there() -> None:
    assert all((ROOT / test).is_file() for test in FOLLOWED_BY.values())


WRONG = {
    "`gluebench grade mine.zip --gold gold/ --no-such-option`": "No such option",
    "`gluebench grade nothing.zip --gold gold/`": "nothing.zip",
    "`gluebench grad mine.zip`": "Did you mean grade",
    "`pip install '.[nothing]'`": "no extra nothing",
    "`make nothing`": "no target nothing",
    "`python -c 'raise SystemExit(3)'`": "exit status 3",
    "not run `gluebench train --no-such-option`": "No such option",
    "not run `gluebench check`": "Missing argument",
    "not run `gluebench data build QNLI --from squad --no-such-option x`": "does not take",
}
"""Blocks with a fault, and a part of what the test says of each."""


def test_a_block_with_a_fault_is_found(template: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    texts = [text.partition("`")[::2] for text in WRONG]
    marks = {"not run ": "<!-- not run: too long -->\n\n", "": ""}
    page.write_text(
        "\n".join(f"{marks[mark]}```sh\n{text.rstrip('`')}\n```\n" for mark, text in texts)
        + "\n```python\nimport gluebench\n\ngluebench.nothing\n```\n"
        + "\n<!-- not run: too long -->\n\n```python\nfrom gluebench import nothing\n```\n"
    )
    problems = follow(blocks(page), template, tmp_path / "home", slow=False)
    parts = [*WRONG.values(), "no attribute 'nothing'", "cannot import name 'nothing'"]
    assert len(problems) == len(parts), "\n".join(problems)
    assert not [(part, found) for part, found in zip(parts, problems, strict=True) if part not in found]
