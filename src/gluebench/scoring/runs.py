"""Several runs of a system: how much of what is seen depends on the runs, and how much on the examples.

Runs are crossed with examples, as all runs answer the same ones. The variance of a mean over runs is that of
the examples, from the jackknife of the mean over runs, plus that of the runs, from their own scores. Each of
the two holds the interaction of runs and examples once, so that it is taken off once (Searle et al. 1992,
chapter 4). With three runs that differ much, Student's t has few degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np

from gluebench.scoring.inference import DifferenceTest, Student, jackknife_spread
from gluebench.scoring.units import Units
from gluebench.scoring.units.base import Floats
from gluebench.scoring.units.exchange import with_mean


@dataclass(frozen=True)
class RunsTest(DifferenceTest):
    """The mean of the runs of one system, or the difference of two such means."""

    runs: tuple[Floats, ...]
    """The scores of the runs of A and, for a difference, of B."""
    examples: float
    """Variance of the mean over the choice of examples."""
    examples_df: float
    shared: tuple[float, ...]
    """For A and B the part of the runs' variance that is the examples', and so counted already."""

    @property
    def difference(self) -> float:  # type: ignore[override]
        """A minus B, or the mean of A."""
        means = [float(run.mean()) for run in self.runs]
        return means[0] - sum(means[1:])

    @property
    def of_examples_alone(self) -> bool:
        """Whether a single run is compared with several, which allows no test of the systems."""
        sizes = [len(run) for run in self.runs]
        return len(sizes) > 1 and min(sizes) == 1 < max(sizes)

    @property
    def variances(self) -> list[float]:
        """The variance of each mean over the choice of runs, the examples' part included; 0 if not known."""
        variances = []
        for scores in self.runs:
            if self.of_examples_alone or len(scores) == 1:
                variances.append(0.0)
            else:
                variances.append(float(scores.var(ddof=1)) / len(scores))
        return variances

    @property
    def seeds(self) -> float:
        """Variance of the mean, or of the difference, over the choice of runs."""
        return sum(max(0.0, of - part) for of, part in zip(self.variances, self.shared, strict=True))

    @property
    def error(self) -> float:  # type: ignore[override]
        """The standard error."""
        return float((self.examples + self.seeds) ** 0.5)

    @property
    def seeds_share(self) -> float:
        """The share of the variance that is the runs', 0 to 1."""
        whole = self.examples + self.seeds
        if whole <= 0:
            return 0.0
        return self.seeds / whole

    @property
    def null(self) -> Student:  # type: ignore[override]
        """Student's t, with the degrees of freedom of examples and runs by their shares of the variance.

        Satterthwaite's squared shares give too many where the runs happened to differ little: with three runs
        that make 65 % of the variance, intervals of a mean cover 92 to 93 %
        (docs/explanation/differences.md).
        """
        whole = self.examples + self.seeds
        if whole <= 0:
            return Student(1.0)
        inverse = self.examples / self.examples_df
        variances = []
        squares_over_df = []
        for variance, shared, runs in zip(self.variances, self.shared, self.runs, strict=True):
            if variance > shared:
                variances.append(variance)
                squares_over_df.append(variance**2 / (len(runs) - 1))
        if variances:  # pooled by Satterthwaite
            runs_df = sum(variances) ** 2 / sum(squares_over_df)
            inverse += self.seeds / runs_df
        return Student(max(1.0, whole / inverse))

    @property
    def p(self) -> float | None:
        """Two-sided p-value of Student's t; None for a single run against several."""
        if self.of_examples_alone:
            return None
        if self.error <= 0:
            return 1.0 if self.difference == 0 else 0.0
        return self.null.above(self.difference / self.error)

    def beyond_p(self, limit: float, side: int = 1) -> float:
        """The one-sided p that the true difference is `limit` or more; with `side` -1, -`limit` or less."""
        distance = limit - side * self.difference
        if self.error <= 0 or distance <= 0:
            return 1.0
        return self.null.above(distance / self.error) / 2


def runs_tests(units: Units, runs: Sequence[int]) -> list[RunsTest]:
    """The test of each metric of a test file and, where there are several, of their mean.

    The systems of `units` are the runs of A, then those of B; `runs` says how many of each.
    """
    values = with_mean(units.values())
    left_out = with_mean(units.left_out())
    cuts = np.cumsum(runs)[:-1]
    tests = []
    for values_of_runs, left_out_of_runs in zip(values, left_out, strict=True):
        test = _test(units, np.split(values_of_runs, cuts), np.split(left_out_of_runs, cuts))
        tests.append(test)
    return tests


def _test(units: Units, values: Sequence[Floats], left_out: Sequence[Floats]) -> RunsTest:
    means = [of_runs.mean(axis=0) for of_runs in left_out]
    spread = jackknife_spread(means[0] - sum(means[1:]), units.counts)
    shared = []
    for of_runs, mean in zip(left_out, means, strict=True):
        number = len(of_runs)
        if number == 1:
            shared.append(0.0)
            continue
        rest = sum(jackknife_spread(of_run - mean, units.counts).error ** 2 for of_run in of_runs)
        shared.append(rest / (number * (number - 1)))
    return RunsTest(tuple(values), spread.error**2, spread.df, tuple(shared))


def mean_runs(tests: Sequence[RunsTest], weights: Sequence[float]) -> RunsTest:
    """The test of a weighted mean over test files or tasks; a run is the same run in all of them."""
    shares = [weight / sum(weights) for weight in weights]
    squared_shares = [share**2 for share in shares]  # the weights of variances
    variances = [share * test.examples for share, test in zip(squared_shares, tests, strict=True)]
    variance_of_mean = sum(variances)
    # Satterthwaite's degrees of freedom of a sum of variances.
    terms = sum(variance**2 / test.examples_df for variance, test in zip(variances, tests, strict=True))
    df = 1.0
    if terms > 0:
        df = variance_of_mean**2 / terms
    runs = _weighted_sums(shares, [test.runs for test in tests])
    shared = _weighted_sums(squared_shares, [test.shared for test in tests])
    return RunsTest(runs, variance_of_mean, df, shared)


def _weighted_sums(weights: Sequence[float], of_tests: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """For A and B the weighted sum over the tests."""
    return tuple(sum(map(mul, weights, of_side)) for of_side in zip(*of_tests, strict=True))
