"""Execute the notebooks of the manual and save their outputs.

python -m docs.tools.run_notebooks [NOTEBOOK ...]    all of docs/notebooks, if none is named
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

HOME = Path(__file__).resolve().parents[1] / "notebooks"
KEPT = ("text/html", "image/png", "text/plain")
"""Kinds of output to save: enough for notebook viewers and for the manual's pages."""


def executed(path: Path) -> NotebookNode:
    """The notebook with the outputs of a run in an empty folder. Raises CellExecutionError."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute()
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            if "data" in output:
                output.data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
                if picture := output.data.get("image/png"):
                    output.data["image/png"] = smaller(picture)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def smaller(picture: str) -> str:
    """A PNG in base64, with 64 colors: a plot needs no more, and takes a third of the space."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        image.convert("RGB").quantize(64).save(file, "png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def main(paths: list[Path]) -> None:
    """Execute and save these notebooks, or all."""
    for path in paths or sorted(HOME.glob("*.ipynb")):
        nbformat.write(executed(path), path)  # type: ignore[no-untyped-call]
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
