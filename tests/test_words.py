"""Names say what they hold (docs/explanation/words.md)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "gluebench"
EVENTS = {"asked", "found", "said", "told", "wanted"}
"""They name what happened to a value, not the value."""
LEFT = 4
"""Names of this kind that are still there. Lower this number when some go; it never rises."""


def bound(path: Path) -> Counter[str]:
    """The variables and parameters that a file binds."""
    tree = ast.walk(ast.parse(path.read_text()))
    return Counter(
        node.arg if isinstance(node, ast.arg) else node.id
        for node in tree
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )


def test_no_variable_is_named_after_an_event() -> None:
    named = {
        f"{path.relative_to(SOURCE)}: {name}": count
        for path in SOURCE.rglob("*.py")
        for name, count in bound(path).items()
        if name in EVENTS
    }
    assert sum(named.values()) <= LEFT, sorted(named)


BRITISH = re.compile(
    r"organis(e|ing|ation)|licence|tokenis|optimis(e|ing|ation)|neighbour|(?<!water)colour|behaviour"
    r"|judgement|artefact|labell(ed(?!by)|ing)|modelling|recognis(?!ing Textual)"
    r"|normalis|summaris(?!e\b|e\")",
    re.IGNORECASE,
)
EXEMPT = ("migrations", "data/sample", "tests/", ".ipynb", "CHANGELOG", "sample/")


def test_spelling_is_american() -> None:
    root = SOURCE.parents[1]
    files = [path for folder in ("src", "docs") for path in (root / folder).rglob("*.*")]
    texts = (path for path in [*files, *root.glob("*.md")] if path.suffix in {".py", ".md", ".toml", ".html"})
    assert [
        f"{path.relative_to(root)}: {match[0]}"
        for path in texts
        if not any(part in str(path.relative_to(root)) for part in EXEMPT)
        for match in BRITISH.finditer(path.read_text())
    ] == []
