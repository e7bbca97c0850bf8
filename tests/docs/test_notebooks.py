"""The notebooks run, show what is saved in them, and hold nothing of the machine that ran them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from docs.walking import ROOT

FOLDER = ROOT / "docs/notebooks"
RUN = ("first_scores", *(pytest.param(name, marks=pytest.mark.slow) for name in ("my_model", "phenomena")))
MOST_BYTES = 200_000
MACHINE = re.compile(r"/(?:home|root|tmp|work|Users)/|site-packages|\x1b\[")


@pytest.mark.parametrize("name", RUN)
def test_a_notebook_runs_and_gives_what_is_saved_in_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    from docs.tools.run_notebooks import executed

    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    path = FOLDER / f"{name}.ipynb"
    saved, fresh = json.loads(path.read_text())["cells"], executed(path).cells
    assert [kinds(cell) for cell in fresh] == [kinds(cell) for cell in saved]
    for one, other in zip(texts(fresh), texts(saved), strict=True):
        assert re.sub(r"[\d.]+", "#", one) == re.sub(r"[\d.]+", "#", other)
        assert numbers(one) == pytest.approx(numbers(other), abs=0.7)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_saved_notebook_is_small_and_has_every_output(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text) < MOST_BYTES
    assert not MACHINE.search(text)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]
    assert "image/png" in text


def kinds(cell: dict[str, object]) -> list[list[str]]:
    """The kinds of data of each output."""
    return [sorted(output.get("data", ["stream"])) for output in cell.get("outputs", [])]  # type: ignore[attr-defined]


def texts(cells: list[dict[str, object]]) -> list[str]:
    """Each output as text."""
    return [
        "".join(output.get("data", {}).get("text/plain", output.get("text", "")))
        for cell in cells
        for output in cell.get("outputs", [])  # type: ignore[attr-defined]
    ]


def numbers(text: str) -> list[float]:
    """The numbers of a text, in order."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
