"""A small sample of the coverage that `bench/intervals.py` measures in full, and what it takes for truth."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from gluebench.benchmark import load_benchmark

BENCH = Path(__file__).resolve().parents[2] / "bench" / "intervals.py"


@pytest.fixture(scope="module")
def bench():
    """The script as a module, under a name that is not the well-known package's."""
    spec = importlib.util.spec_from_file_location("bench_coverage", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def world(bench):
    glue = load_benchmark("glue")
    return bench.World(glue, bench.made_up_diagnostic(glue, np.random.default_rng(0)))


def test_worlds_have_glues_sizes_and_their_scores_are_about_the_truth(bench, world) -> None:
    gold, submission = world.draw(0.75, np.random.default_rng(1))
    for file in world.benchmark.files():
        expected = file.size() if file.name != "WNLI" else len(gold.metadata["WNLI"].groups)
        assert len(gold.columns[file.name]) == len(submission.predictions[file.name]) == expected
    assert len(gold.categories["AX"]) == 1 + 4 + 33
    report = bench.grade(submission, gold, resamples=0)
    truths = world.truths(0.75)
    found = dict(bench.intervals(report))
    assert found.keys() == truths.keys()
    for name, (truth, _) in truths.items():
        assert found[name].value == pytest.approx(truth, abs=0.15 if not name.startswith("fine") else 0.7), (
            name
        )


def test_intervals_hold_the_truth_about_as_often_as_they_say(bench, world) -> None:
    worlds = 40
    tallies = bench.simulate(world, 0.75, worlds=worlds, resamples=200, seed=3)
    kinds = {"tasks": [], "fine": []}
    for cell, tally in tallies.items():
        kinds["fine" if cell.name.startswith("fine") else "tasks"].append((tally.held, tally.given))
    for cells, lowest in ((kinds["tasks"], 0.90), (kinds["fine"], 0.89)):
        held, given = map(sum, zip(*cells, strict=True))
        assert lowest < held / given < 0.99
    assert all(given == worlds for _, given in kinds["tasks"])


def test_what_misses_its_goal_is_named(bench, capsys) -> None:
    cells = {
        bench.Cell("CoLA matthews_correlation", 0.9): bench.Tally(180, 200, 30.0),
        bench.Cell("overall", 0.97): bench.Tally(150, 200, 4.0),  # a cell expects too few
        bench.Cell("fine: Negation", 0.9): bench.Tally(1, 4, 1.0),  # withheld in nearly all worlds
        bench.Cell("fine: Universal", 0.9): bench.Tally(100, 150, 1.0),
    }
    bench.print_table(cells, 200)
    shown = capsys.readouterr().out
    assert "2 of 4 outside their goal" in shown
    assert "CoLA matthews_correlation at 0.9: 90.0% of 200, goal 93% to 97%" in shown
    assert "fine: Universal at 0.9: 66.7% of 150, goal 90% to 100%" in shown
