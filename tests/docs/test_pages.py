"""The manual is part of the product: its links lead somewhere, and it knows every problem code."""

from __future__ import annotations

import re
from pathlib import Path

from gluebench.submission.archive_problems import NOTICES, REFUSALS

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


def test_every_problem_code_is_explained() -> None:
    manual = (ROOT / "docs" / "reference" / "submission.md").read_text()
    codes = problem_codes()
    assert len(codes) > 20
    assert not {code for code in codes if f"`{code}`" not in manual}
