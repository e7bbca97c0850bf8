"""What a board tells of two systems on a private diagnostic set."""

from __future__ import annotations

from pathlib import Path

from scoring.material import TASKS, gold_values, manifest_text, predicted_values, table, write_gold

from gluebench.analysis.board import compare_two
from gluebench.benchmark import load_benchmark
from gluebench.scoring import read_gold


def submission(folder: Path, values: list[object]) -> str:
    folder.mkdir()
    (folder / "Probe.tsv").write_text(table(values, "prediction"))
    return str(folder)


def test_a_category_of_a_private_set_is_told_from_the_smallest_size_on(tmp_path: Path) -> None:
    """Of the gold's categories Negation and both directions have exactly 30 examples, two others 20."""
    manifest = tmp_path / "small.toml"
    manifest.write_text(manifest_text(TASKS).replace("scored = false", "scored = false\nprivate = true"))
    gold = read_gold(write_gold(tmp_path / "gold"), load_benchmark(manifest))
    a = submission(tmp_path / "a", gold_values()["Probe"])
    b = submission(tmp_path / "b", predicted_values()["Probe"])
    found = compare_two(a, b, gold, smallest=30)["comparison"]["diagnostics"]["Probe"]["categories"]
    sizes = {each["name"]: each["n"] for each in found}
    assert sizes == {"Logic": 40, "Negation": 30, "forward": 30, "backward": 30}
