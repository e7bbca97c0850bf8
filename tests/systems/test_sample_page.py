"""The manual's page on the sample benchmark: its code runs, its figures are what the systems score."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark
from gluebench.data.sample import pairs
from gluebench.scoring import grade, read_gold
from gluebench.systems import SYSTEMS, run
from sample.world import CATEGORIES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "sample.md").read_text("utf-8")


SLOW = ("bag-of-words", "hypothesis-only", "natural-logic", "mlp")


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2
    assert "Score(value=0.51" in capsys.readouterr().out


def test_the_page_gives_the_sizes_of_the_manifest(sample: Benchmark) -> None:
    for task in sample.scored:
        held: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
        for name, split in task.splits.items():
            held[name.split("_")[0]].append(str(split.size))
        row = " | ".join(" + ".join(sizes) for sizes in held.values())
        assert f"| {task.name} | {row} |" in PAGE


def test_on_the_page_a_stronger_system_beats_a_weaker_one_and_none_solves_a_task() -> None:
    scores = {}
    for entry in SYSTEMS.values():
        found = re.search(rf"^\| {entry.title} \|(.*)\|$", PAGE, re.MULTILINE)
        assert found
        scores[entry.name] = [float(cell) for cell in found[1].split("|")]
    means = [scores[name][0] for name in ("majority", "overlap", "bag-of-words", "mlp")]
    assert all(two > one + 2 for one, two in pairwise(means))
    assert all(max(each) <= 95 for each in scores.values())


def test_the_page_counts_the_world_and_the_pairs_rightly() -> None:
    kinds = sum(len(category.kinds) for category in CATEGORIES.values())
    assert f"{kinds:,} kinds of things in {len(CATEGORIES)} categories" in PAGE
    assert f"{len(pairs())} pairs written by hand" in PAGE


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in SYSTEMS]
)
def test_the_page_gives_the_scores_that_the_systems_get(
    sample: Benchmark, sample_folder: Path, name: str
) -> None:
    columns = run(SYSTEMS[name].make(), sample, sample_folder)
    report = grade(columns, read_gold(sample_folder / "gold", sample), intervals=False)
    diagnostic = report.diagnostics["AX"]
    assert diagnostic is not None
    scores = [report.score, *(task.score for task in report.tasks.values()), diagnostic.overall]
    found = re.search(rf"^\| {SYSTEMS[name].title} \|(.*)\|$", PAGE, re.MULTILINE)
    assert found
    written = [float(cell) for cell in found[1].split("|")]
    # a last digit may differ where another build of numpy adds up in another order
    assert [100 * float(score.value or 0) for score in scores if score] == pytest.approx(written, abs=0.7)
