"""A p-value of at most .05 and an interval that excludes 0 are one event, ties included."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gluebench.analysis.compare.scores import file_tests
from gluebench.benchmark import Metric
from gluebench.scoring.inference import NullDistribution
from gluebench.scoring.paired import PairedTest
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.runs import RunsTest
from gluebench.scoring.units import Exchange
from gluebench.submission import Column

NONE = Exchange(np.zeros(1), np.ones(1))


@pytest.mark.parametrize("draws", [19, 99, 399, 999, 1000])
def test_they_agree_at_every_value_that_the_statistic_can_take(draws: int) -> None:
    """With few distinct values a mid-p is exactly .05 now and then."""
    rng = np.random.default_rng(draws)
    for values in (3, 7, 20, draws):
        null = NullDistribution.of_draws(rng.integers(0, values, draws + 1) / 7)
        for statistic in null.support[null.support > 0]:
            test = PairedTest(float(statistic) * 0.013, 0.013, null, NONE)
            interval = test.interval()
            assert (test.p <= 0.05) == (interval is not None and interval.low > 0)


def test_they_agree_for_mcnemars_test() -> None:
    for apart, examples in product((5, 6, 12, 40, 101), (150, 1000)):
        null = NullDistribution.of_coins(apart, examples)
        for statistic in null.support[1:]:
            interval = PairedTest(float(statistic), 1.0, null, NONE).interval()
            assert (null.p(float(statistic)) <= 0.05) == (interval is not None and interval.low > 0)


def test_a_p_of_exactly_alpha_excludes_zero() -> None:
    null = NullDistribution(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.9, 0.5, 0.05, 0.01]))
    assert 1.99 < null.critical() < 2.0
    assert null.critical(0.005) == np.inf


def test_degrees_of_freedom_over_runs_are_weighted_by_their_shares_of_the_variance() -> None:
    runs = np.array([0.80, 0.82, 0.84])
    alone = RunsTest((runs,), 0.0, 500.0, (0.0,))
    assert alone.null.df == pytest.approx(2)
    half = RunsTest((runs,), alone.seeds, 500.0, (0.0,))
    assert half.seeds_share == pytest.approx(0.5)
    assert half.null.df == pytest.approx(1 / (0.5 / 2 + 0.5 / 500))
    two = RunsTest((runs, runs - 0.1), 0.0, 500.0, (0.0, 0.0))
    assert two.null.df == pytest.approx(4), "the runs of both are pooled"
    assert RunsTest((runs,), 1e-4, 500.0, (1.0,)).null.df == pytest.approx(500), (
        "examples alone explain the spread"
    )


@pytest.mark.parametrize("apart", [1, 4, 5, 6, 7])
def test_the_interval_agrees_with_the_p_value_however_few_units_differ(apart: int) -> None:
    """Answers that only one of two has right: the mid-p is that of as many tosses of a coin."""
    gold = Column(("0", "1"), bytes(40))
    other = Column(("0", "1"), bytes([1] * apart + [0] * (40 - apart)))
    sides = [[Pairs(gold, gold)], [Pairs(gold, other)]]
    metric = Metric("accuracy", "accuracy", "Accuracy", "F")
    (tested,) = file_tests([metric], sides, resamples=99, seed=0, name="F")
    difference = tested.difference()
    assert difference.p == pytest.approx(0.5**apart)
    assert difference.withheld is None
    assert (difference.low > 0) == (difference.p <= 0.05) == (apart >= 5)
    assert difference.low <= difference.difference <= difference.high
