"""Text files that are whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4


def write_text(path: Path, text: str) -> None:
    """Write a text file; a reader finds the file before or the file after, never a part."""
    scratch = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")  # several processes may write it at once
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def write_json(path: Path, values: Any) -> None:
    """Write JSON in the same way."""
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
