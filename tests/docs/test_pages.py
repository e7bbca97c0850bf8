"""The manual is part of the product: its links lead somewhere, and it knows every problem code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.tools.api import MARK, expand
from gluebench.submission.archive_problems import NOTICES, REFUSALS
from gluebench.version import __version__

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)")


def test_links_lead_to_a_file_and_a_heading_on_a_code_host_too() -> None:
    broken = []
    for page in PAGES:
        for target, heading in LINK.findall(page.read_text()):
            path = (page.parent / target).resolve() if target else page
            if not path.exists() or (heading and path.suffix == ".md" and heading not in anchors(path)):
                broken.append(f"{page.relative_to(ROOT)}: {target}#{heading}")
    assert not broken


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get where Markdown is shown."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def problem_codes() -> set[str]:
    """Every code that the source gives to a problem or a fault."""
    text = "\n".join(path.read_text() for path in (ROOT / "src/gluebench/submission").glob("*.py"))
    return set(re.findall(r'(?:Problem|Fault|_warning|_notice|_error)\(\s*"([a-z][a-z-]+)"', text)) | {
        *REFUSALS,
        *NOTICES,
    }


def test_the_reference_has_no_address_in_memory() -> None:
    pages = [text for page in PAGES if MARK.search(text := page.read_text())]
    assert len(pages) > 5
    assert not [
        line for text in pages for line in expand(text).splitlines() if re.search("0x[0-9a-f]{6}", line)
    ]


def test_every_problem_code_is_explained() -> None:
    manual = (ROOT / "docs" / "reference" / "submission.md").read_text()
    codes = problem_codes()
    assert len(codes) > 20
    assert not {code for code in codes if f"`{code}`" not in manual}


def test_the_changelog_keeps_its_form() -> None:
    """As https://keepachangelog.com: what is unreleased first, then dated versions; known kinds."""
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for section in text.split("\n## ")[1:]:
        assert set(re.findall(r"^### (.*)$", section, re.MULTILINE)) <= set(kinds)


def test_the_citation_is_of_this_version() -> None:
    """With the keys that version 1.2.0 of the Citation File Format demands."""
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    for reference in (citation, citation["preferred-citation"]):
        assert {"title", "authors", "type"} <= reference.keys()
        assert all("name" in author or "family-names" in author for author in reference["authors"])
    assert {"cff-version", "message"} <= citation.keys()
