"""The manual's page on the sample benchmark: its code runs, its figures are what the systems score."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data.sample import build
from gluebench.data.sample.diagnostic import pairs
from gluebench.data.sample.world import KINDS
from gluebench.scoring import grade, read_gold
from gluebench.systems import SYSTEMS, run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sample.md").read_text("utf-8")


def test_the_code_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 2
    assert "Score(value=0.4" in capsys.readouterr().out


def test_the_page_counts_the_world_and_the_pairs_rightly() -> None:
    assert f"{sum(map(len, KINDS.values()))} kinds of things in {len(KINDS)} categories" in PAGE
    assert f"{len(pairs())} pairs written by hand" in PAGE


@pytest.mark.parametrize(
    "name",
    ["majority", "overlap", pytest.param("bag-of-words", marks=pytest.mark.slow), "hypothesis-only"],
)
def test_the_page_gives_the_scores_that_the_systems_get(tmp_path: Path, name: str) -> None:
    build(tmp_path / "data")
    sample = load_benchmark("sample")
    columns = run(SYSTEMS[name].make(), sample, tmp_path / "data")
    report = grade(columns, read_gold(tmp_path / "data/gold", sample), resamples=0)
    diagnostic = report.diagnostics["AX"]
    assert diagnostic is not None
    scores = [report.score, *(task.score for task in report.tasks.values()), diagnostic.overall]
    found = re.search(rf"^\| {SYSTEMS[name].title} \|(.*)\|$", PAGE, re.MULTILINE)
    assert found
    written = [float(cell) for cell in found[1].split("|")]
    # a last digit may differ where another build of numpy adds up in another order
    assert [100 * float(score.value or 0) for score in scores if score] == pytest.approx(written, abs=0.7)
