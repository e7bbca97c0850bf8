"""Small files of results, written by tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def document(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def text(path: Path, content: str) -> Path:
    path.write_text(content)
    return path
