"""The test of two systems on the same units, with its interval, equivalence and power.

Where few answers differ, interval and equivalence rest on counts (`gluebench.scoring.changes`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from math import inf, isfinite
from statistics import NormalDist
from typing import Any

import numpy as np

from gluebench.benchmark import Metric
from gluebench.scoring.changes import Changes
from gluebench.scoring.inference import (
    ALPHA,
    POWER,
    DifferenceTest,
    NullDistribution,
    alone,
    mcnemar_holds,
    statistics,
)
from gluebench.scoring.intervals import (
    CONSTANT,
    Interval,
    OptionalInterval,
    Part,
    Z,
    mean_interval,
    student_t_two_sided,
    withheld,
)
from gluebench.scoring.metrics import CountMetric, function_of, is_proportion
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units import Exchange, Units
from gluebench.scoring.units.base import Floats
from gluebench.scoring.units.exchange import with_mean

FEWEST_APART = 6
"""Minimum number of units answered differently for an interval from the exchange of answers."""
_NEAR_0 = 1e-9
"""Share of the difference at which an interval ends that is moved to exclude 0."""
_EXTREME = 0.01
"""Share of the units, on either side, whose contributions to a score of numbers are extreme."""
_BISECTIONS = 50
_RAREST = 16
"""Number of gold labels, from the rarest on, that are looked at for the largest effect of an answer."""
_NO_EFFECT = 1e-12
"""Effects on a score up to this are rounding errors."""


@dataclass(frozen=True)
class PairedTest(DifferenceTest):
    """The difference of two systems on the same units, with its null distribution."""

    difference: float
    error: float
    """Its standard error."""
    null: NullDistribution
    drawn: Exchange
    """Observed, then resampled, differences and errors, each (1 + resamples,); `mean_test` combines them."""
    count: Callable[[], Changes | None] = field(default=lambda: None, compare=False)
    """Counts the units that favor each system; None if no changed unit changes the score, and for a mean."""
    few: bool = False
    """Whether too few units differ for an interval from the exchange of answers."""
    mcnemar: bool = False
    """Whether the score is the accuracy of independent examples."""

    @cached_property
    def changes(self) -> Changes | None:
        """The units that favor each system, counted when they are needed."""
        return self.count()

    @property
    def statistic(self) -> float:
        """|T|."""
        return float(statistics(np.array(self.difference), np.array(self.error)))

    @cached_property
    def p(self) -> float:
        """Two-sided mid-p."""
        return self.null.p(self.statistic)

    def interval(self) -> Interval | None:
        """The 95 % interval, which excludes 0 exactly where p is at most .05; None if there is none."""
        if not (self.few or self.mcnemar):
            return super().interval()
        if self.changes is None:
            return None
        return self._agree_with_p(self.changes.interval())

    def _agree_with_p(self, interval: Interval) -> Interval:
        """The interval with an end moved across 0 where it disagrees with the p-value."""
        low, high = interval
        if self.p > ALPHA:
            return Interval(min(low, 0.0), max(high, 0.0))
        nearest = _NEAR_0 * self.difference
        if nearest > 0:
            return Interval(max(low, nearest), high)
        return Interval(low, min(high, nearest))

    def beyond_p(self, limit: float, side: int = 1) -> float:
        """The one-sided p that the true difference is `limit` or more; with `side` -1, -`limit` or less.

        Where many units differ, the larger of the p-values from the standard error and from the counts, so
        that undoing a difference does not weaken a claim of equivalence. The null of T is not used, as that
        of few differences has no small p-values.
        """
        if self.changes is None:
            return 1.0
        changes = self.changes if side > 0 else self.changes.swapped()
        p_from_counts = changes.beyond_p(limit)
        distance = limit - side * self.difference
        if self.few or self.mcnemar or self.error == 0 or distance <= 0:
            return p_from_counts
        p_from_error = student_t_two_sided(distance / self.error, changes.units - 1) / 2
        return max(p_from_counts, p_from_error)

    def detectable(self, power: float = POWER) -> float | None:
        """The smallest true difference detected with that power; None if too few units differ."""
        if self.few:
            return None
        return super().detectable(power)

    def reach(self, side: int) -> float:
        """How far above the difference (below, with `side` -1) the one-sided 95 % limit is; 0 if none is."""
        if self.changes is None and self.error == 0:
            return 0.0
        inside = 0.0
        outside = self.error
        if self.changes is not None:
            outside = max(outside, self.changes.effect)
        observed = side * self.difference
        while self.beyond_p(observed + outside, side) > ALPHA:
            inside = outside
            outside = 2 * outside
            if not isfinite(outside):
                return inf
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            if self.beyond_p(observed + middle, side) > ALPHA:
                inside = middle
            else:
                outside = middle
        return outside


@dataclass(frozen=True)
class MeanTest(PairedTest):
    """The weighted mean of independent differences. What its parts know is combined by MOVER.

    The distance of each limit from the mean is the root of the sum of the parts' squared weighted distances
    (Zou and Donner 2008).
    """

    parts: tuple[PairedTest, ...] = ()
    shares: tuple[float, ...] = ()
    """The weight of each part; they sum to 1."""

    def interval(self) -> Interval | None:
        """The 95 % interval; by MOVER if a part has few differences. A part without one adds no width."""
        if not self.few:
            return super().interval()
        parts = []
        for part, share in zip(self.parts, self.shares, strict=True):
            interval = part.interval()
            bar = withheld(CONSTANT) if interval is None else OptionalInterval(*interval)
            parts.append(Part("", part.difference, bar, share))
        interval = mean_interval(parts)
        if interval.low >= interval.high:
            return None
        return self._agree_with_p(interval)

    def detectable(self, power: float = POWER) -> float | None:
        """The smallest true difference that the test detects with that power; None if not known."""
        interval = self.interval()
        if not self.few or interval is None:
            return super().detectable(power)
        return (interval.high - interval.low) / 2 * (1 + NormalDist().inv_cdf(power) / Z)

    def beyond_p(self, limit: float, side: int = 1) -> float:
        """The one-sided p-value; at most .05 exactly where the one-sided 95 % limit by MOVER is inside."""
        distance = limit - side * self.difference
        reach = self.reach(side)
        if distance <= 0 or reach == 0:
            return 1.0
        return NormalDist().cdf(distance / reach * NormalDist().inv_cdf(ALPHA))

    def reach(self, side: int) -> float:
        """How far above the mean (below, with `side` -1) the one-sided 95 % limit is."""
        reaches = [part.reach(side) for part in self.parts]
        return float(np.linalg.norm(np.multiply(self.shares, reaches)))


def paired_tests(units: Units, *, resamples: int, rng: np.random.Generator) -> list[PairedTest]:
    """The test of each metric of one test file; with several metrics, that of their mean comes last."""
    exchange = units.exchange(resamples, rng)
    few = units.apart() < FEWEST_APART

    @cache
    def effects() -> Floats:
        # Slow and the same for all tests, so computed once, and only if some interval rests on counts.
        return largest_effects(units)

    def fit_counts(position: int, difference: float, error: float) -> Changes | None:
        """Counts that have this difference and standard error."""
        effect = float(effects()[position])
        if not _NO_EFFECT < effect < inf:  # no changed unit changes the score
            return None
        return Changes.of(difference, error, units=units.size, effect=effect)

    tests = []
    for position, (differences, errors) in enumerate(zip(*exchange, strict=True)):
        drawn = Exchange(differences, errors)
        is_mean = position == len(units.metrics)
        if not is_mean and mcnemar_holds(units.metrics[position], units):
            tests.append(_mcnemar_test(drawn, units, few=few))
        else:
            count = partial(fit_counts, position, float(differences[0]), float(errors[0]))
            tests.append(_exchange_test(drawn, few=few, count=count))
    return tests


def _mcnemar_test(drawn: Exchange, units: Units, *, few: bool) -> PairedTest:
    """The test with the exact null distribution and the counts of McNemar's test."""
    right_alone = alone(*units.systems)
    examples = units.examples
    null = NullDistribution.of_coins(right_alone.a + right_alone.b, examples)
    count = partial(Changes, right_alone.a, right_alone.b, examples, effect=1 / examples)
    difference = float(drawn.differences[0])
    error = float(drawn.errors[0])
    return PairedTest(difference, error, null, drawn, count, few, mcnemar=True)


def largest_effects(units: Units) -> Floats:
    """The most that one changed unit changes each metric, and their mean.

    For labels, the range over the answers to an example of each gold label, times the size of the largest
    group; 0 where both predictions are constant and score 0. For other answers, the range of what single
    units contribute to the score of either system; numbers have no largest effect, so that theirs is the
    range without the most extreme contributions.
    """
    functions = [function_of(metric) for metric in units.metrics]
    if all(isinstance(function, CountMetric) for function in functions):
        return _label_effects(units)
    left_out = with_mean(units.left_out()[:, :2])
    tail = _EXTREME if isinstance(units.systems[0].predicted.values, array) else 0.0
    lowest, highest = np.quantile(left_out, [tail, 1 - tail], axis=2)
    effects: Floats = (highest - lowest).max(axis=1)
    return effects


def _label_effects(units: Units) -> Floats:
    largest_unit = 1
    if units.units is not None:
        largest_unit = int(np.bincount(units.units).max())
    ranges = []
    for pairs in units.systems[:2]:
        table = np.array(pairs.table, np.float64)
        sizes = table.sum(axis=1)
        # By size and word, so that the order of the labels does not matter.
        by_size = sorted(zip(sizes.tolist(), pairs.gold.labels, range(len(table)), strict=True))
        rarest = [gold for size, _, gold in by_size if size][:_RAREST]
        for gold in rarest:
            # One more example of this gold label, with each answer in turn.
            tables = np.repeat(table[:, :, np.newaxis], len(table), axis=2)
            tables[gold] += np.eye(len(table))
            values = []
            for metric in units.metrics:
                function = function_of(metric)
                assert isinstance(function, CountMetric)  # as the caller has checked
                values.append(function.of(tables, pairs.code(metric.positive)))
            values.append(np.mean(values, axis=0))
            ranges.append(np.ptp(values, axis=1))
    effects: Floats = np.max(ranges, axis=0) * largest_unit
    for position, metric in enumerate(units.metrics):
        if all(_stays_0(metric, pairs) for pairs in units.systems[:2]):
            effects[position] = 0.0
    return effects


def _stays_0(metric: Metric, pairs: Pairs) -> bool:
    """Whether the score is 0 for any choice of examples, as the correlation of constant predictions."""
    constant = pairs.predicted.constant and not is_proportion(metric)
    return constant and function_of(metric).point(pairs, metric).value == 0


def _exchange_test(exchange: Exchange, kind: type[PairedTest] = PairedTest, **more: Any) -> PairedTest:
    """The test of the observed difference, which comes first, among those of exchanged answers."""
    null = NullDistribution.of_draws(statistics(exchange.differences, exchange.errors))
    return kind(float(exchange.differences[0]), float(exchange.errors[0]), null, exchange, **more)


def mean_test(tests: Sequence[PairedTest], weights: Sequence[float]) -> PairedTest:
    """The test of a weighted mean of independent differences, from their draws."""
    if len(tests) == 1:
        return tests[0]
    shares = np.array(weights) / sum(weights)
    differences = shares @ np.array([test.drawn.differences for test in tests])
    errors = np.sqrt(shares**2 @ np.array([test.drawn.errors for test in tests]) ** 2)
    return _exchange_test(
        Exchange(differences, errors),
        MeanTest,
        few=any(part.few for part in tests),
        parts=tuple(tests),
        shares=tuple(shares.tolist()),
    )
