"""A Jupyter notebook as a page: its text, its code, and the output of its last run."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

PICTURES = {"image/png": ".png", "image/svg+xml": ".svg"}
COLOR = re.compile(r"\x1b\[[0-9;]*m")
STYLE = re.compile(r"<style.*?</style>\s*| (class|border)=\"[^\"]*\"", re.DOTALL)
ALIGNED = re.compile(r'style="text-align: ?(\w+);?"')


def to_markdown(notebook: Path, page: Path) -> str:
    """The notebook as Markdown; its pictures are written beside `page`."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    parts: list[str] = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(f"```python\n{source}\n```")
            for place, output in enumerate(cell["outputs"]):
                parts += _output(output, page.with_name(f"{page.stem}-{number}-{place}"))
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any], stem: Path) -> list[str]:
    """An output as Markdown, with its picture written to `stem` and the ending of its kind."""
    data = output.get("data", {})
    for kind, ending in PICTURES.items():
        if kind in data:
            text = "".join(data[kind])
            picture = stem.with_name(stem.name + ending)
            picture.write_bytes(base64.b64decode(text) if ending == ".png" else text.encode())
            return [f"![{''.join(data.get('text/plain', 'A plot'))}]({picture.name})"]
    if "text/markdown" in data:
        return ["".join(data["text/markdown"]).strip()]
    if "text/html" in data:
        # The site's policy allows no styles in a page, its theme formats tables without a class, and a
        # blank line would end the table.
        table = ALIGNED.sub(r'align="\1"', STYLE.sub("", "".join(data["text/html"])))
        return [re.sub(r"\n\s*\n", "\n", table).strip()]
    text = "".join(output.get("text", data.get("text/plain", output.get("traceback", ""))))
    text = COLOR.sub("", text).rstrip()
    return [f"```text\n{text}\n```"] if text else []
