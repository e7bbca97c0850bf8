"""The package's files as syntax trees, each parsed once for all tests that read the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "gluebench"
GROUP = "source"
"""The xdist group of these tests: in one process they parse a file once."""


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Parse a file of the package."""
    return ast.parse(path.read_text("utf-8"))
