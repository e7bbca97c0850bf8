"""The simulation of differences: its worlds are what they say, and `compare` keeps its promises in some."""

from __future__ import annotations

import numpy as np
import pytest
from differences import GAP, LIMIT, Cell, Tally, faults, simulate
from intervals import made_up_diagnostic
from together import Several

from gluebench.benchmark import load_benchmark


@pytest.fixture(scope="module")
def pair():
    glue = load_benchmark("glue")
    some = tuple(
        task for task in glue.tasks if task.name in {"CoLA", "MRPC", "STS-B", "WNLI"} or not task.scored
    )
    return Several(glue._replace(tasks=some), made_up_diagnostic(glue, np.random.default_rng(0)))


def test_the_worlds_have_the_differences_they_say(pair):
    """Over 60 worlds the mean difference found is the true one, within its noise."""
    truths = pair.truths(0.75, GAP)
    assert truths["MRPC accuracy"] == pytest.approx(GAP)
    assert truths["overall"] > 0
    rng = np.random.default_rng(1)
    found, correlations = [], []
    for _ in range(60):
        gold, (a, b) = pair.draw(0.75, [GAP], rng)
        codes = [np.frombuffer(column.codes, np.uint8) for column in
                 (gold.columns["MRPC"], a.predictions["MRPC"], b.predictions["MRPC"])]  # fmt: skip
        numbers = [np.array(column.values) for column in
                   (gold.columns["STS-B"], a.predictions["STS-B"], b.predictions["STS-B"])]  # fmt: skip
        correlations.append(np.corrcoef(numbers)[0, 1:])
        found.append(np.mean(codes[1] == codes[0]) - np.mean(codes[2] == codes[0]))
    assert np.mean(found) == pytest.approx(GAP, abs=4 * np.std(found) / 60**0.5)
    assert np.mean(correlations, axis=0) == pytest.approx([0.75, 0.75 - GAP], abs=0.005)


def test_what_misses_its_goal_is_told():
    alike, apart = Cell("MRPC f1", 0.9, 0.0), Cell("fine: Negation", 0.9, GAP)
    assert list(faults(alike, Tally(held=95, given=100, told=5, worlds=100))) == []
    assert len(list(faults(alike, Tally(held=92, given=100, told=6, worlds=100)))) == 2
    assert list(faults(apart, Tally(held=91, given=100, told=60, worlds=100))) == []
    assert list(faults(apart, Tally(held=1, given=4, told=0, worlds=100))) == [], "counts as withheld"


@pytest.mark.slow
def test_false_alarms_and_coverage(pair):
    """400 worlds: three standard errors about what `make coverage` shows with 2,000."""
    cells = simulate(pair, 0.75, 0.0, worlds=400, resamples=400, seed=3)
    for cell, tally in cells.items():
        if cell.name.startswith("fine"):
            continue
        assert tally.told / tally.worlds < LIMIT + 3 * (0.05 * 0.95 / 400) ** 0.5, cell
        if tally.given > 300:
            assert 0.9 <= tally.held / tally.given <= 0.99, cell
