"""Intervals of scores, and one procedure for the test, interval and power of a difference.

A score's interval is a jackknife over units on Fisher's z. A difference d of two systems on the same units is
tested by T = d / SE(d): the answers of whole units are swapped at random, T is recomputed, and the mid-p
of |T| is the p-value. The interval is d +- c SE with c the 95 % point of the same |T|, so that p <= .05
exactly where the interval excludes 0. Formulas and simulations: docs/explanation/differences.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, isfinite, log2, tanh
from operator import eq
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Metric, Task
from gluebench.scoring.influence import influence_by_kind
from gluebench.scoring.intervals import (
    CONSTANT,
    TOO_FEW,
    TOO_MANY,
    UNDEFINED,
    DiscordantCounts,
    Interval,
    OptionalInterval,
    Part,
    grouped_hits,
    grouped_wilson,
    mean_withheld,
    optional_mean_interval,
    student_quantile,
    student_t_two_sided,
    wilson,
    withheld,
)
from gluebench.scoring.metrics import MetricValue, function_of, is_proportion, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.steps import steps_of_error
from gluebench.scoring.units import Units
from gluebench.scoring.units.base import Floats, Ints
from gluebench.scoring.withholding import lacking_variance, rare_class, too_few

ALPHA = 0.05
"""Significance level: p-values up to this are significant."""
POWER = 0.8
_ROUNDING = 9
"""Decimals that |T| is rounded to."""
_VARIES = 1e-12
"""Scores without one unit each that differ by less, as a share of the scale, are equal but for rounding."""


def task_intervals(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, MetricValue]
) -> tuple[dict[str, OptionalInterval], OptionalInterval]:
    """Intervals of the metrics that have a score, and of their mean; test files are independent."""
    intervals: dict[str, OptionalInterval] = {}
    parts: list[Part] = []
    for name, metrics in task.metrics_by_file().items():
        if name not in pairs:
            continue
        points_of_file = [points[metric.name] for metric in metrics]
        intervals_of_file = file_intervals(metrics, pairs[name], points_of_file)
        # The interval of their mean may come after those of the metrics.
        for metric, interval in zip(metrics, intervals_of_file, strict=False):
            intervals[metric.name] = interval
        value = task_score([point.value for point in points_of_file])
        parts.append(Part(name, value, intervals_of_file[-1], len(metrics)))
    return intervals, optional_mean_interval(parts)._replace(widening=None)


def file_intervals(
    metrics: Sequence[Metric], pairs: Pairs, points: Sequence[MetricValue]
) -> list[OptionalInterval]:
    """Intervals of the metrics of one test file; with several metrics, that of their mean comes last."""
    if len(metrics) == 1 and is_proportion(metrics[0]):
        return [_accuracy_interval(pairs)]
    values = [point.value for point in points]
    influence, kinds = influence_by_kind(metrics, pairs, values)
    left_out = np.array(values)[:, np.newaxis] - influence / max(kinds.size - 1, 1)
    bounds = [function_of(metric).bounds for metric in metrics]
    intervals = []
    for metric, point, without, (lowest, highest) in zip(metrics, points, left_out, bounds, strict=True):
        reason = _reason(metric, pairs, point, without, kinds.counts)
        if reason:
            interval = withheld(reason)
        elif is_proportion(metric):
            interval = _accuracy_interval(pairs)
        else:
            interval = jackknife_interval(point.value, without, kinds.counts, lowest, highest)
        widening = widening_of(metric, pairs, point.value, without, kinds.counts)
        intervals.append(interval._replace(widening=widening))
    if len(metrics) == 1:
        return intervals
    reason = mean_withheld(interval.withheld for interval in intervals)
    if reason:
        return intervals + [withheld(reason)]
    lowest = sum(low for low, _ in bounds) / len(bounds)
    highest = sum(high for _, high in bounds) / len(bounds)
    mean_left_out = left_out.mean(axis=0)
    of_mean = jackknife_interval(task_score(values), mean_left_out, kinds.counts, lowest, highest)
    return intervals + [of_mean]


def _reason(metric: Metric, pairs: Pairs, point: MetricValue, left_out: Floats, counts: Ints) -> str | None:
    """Why a metric has no interval; None if it may have one."""
    function = function_of(metric)
    constant = pairs.predicted.constant
    if np.isnan(left_out).any():
        return TOO_MANY
    if not point.value and constant and not is_proportion(metric):
        return CONSTANT
    if point.undefined:
        return UNDEFINED
    if too_few(metric, pairs):
        return TOO_FEW
    if function.classes and rare_class(metric, pairs, jackknife_spread(left_out, counts).error ** 2):
        return TOO_FEW
    never_varies = constant and point.value < function.bounds[1] and np.ptp(left_out) < _VARIES
    if never_varies and not is_proportion(metric):
        return CONSTANT
    return None


def _accuracy_interval(pairs: Pairs) -> OptionalInterval:
    if pairs.groups is None:
        hits = sum(row[code] for code, row in enumerate(pairs.table))
        return wilson(hits, len(pairs))
    right = map(eq, pairs.gold.codes, pairs.predicted.codes)
    return grouped_wilson(grouped_hits(right, pairs.groups))


def jackknife_interval(
    value: float, left_out: Floats, counts: Ints, lowest: float, highest: float = 1.0
) -> OptionalInterval:
    """The jackknife interval on Fisher's z; `left_out` has the score without one unit of each kind.

    A score from `lowest` to `highest` is first scaled to -1 to 1 and then transformed by atanh. With an
    infinite `lowest` the logarithm of its distance from `highest` is taken, or nothing if that is infinite
    too. The degrees of freedom are the smaller of units - 1 and Satterthwaite's, 2 units / (kurtosis - 1).
    The interval is withheld ("too few to say") if a transformed score is infinite, or all scores are equal
    but for rounding.
    """
    if isfinite(lowest):
        scale = highest - lowest
    elif isfinite(highest):
        scale = highest - value
    else:
        scale = np.abs(left_out).max()
    if not np.ptp(left_out) > _VARIES * abs(scale):
        return withheld(TOO_FEW)
    with np.errstate(divide="ignore", invalid="ignore"):
        unbounded = _without_bounds(np.append(value, left_out), lowest, highest)
    if not np.isfinite(unbounded).all():
        return withheld(TOO_FEW)
    spread = jackknife_spread(unbounded[1:], counts)
    margin = student_quantile(1 - ALPHA / 2, spread.df) * spread.error
    middle = float(unbounded[0])
    low = _within_bounds(middle - margin, lowest, highest)
    high = _within_bounds(middle + margin, lowest, highest)
    return OptionalInterval(low, high)


def _without_bounds(values: Floats, lowest: float, highest: float) -> Floats:
    """Scores on a scale without bounds; not finite for those at or beyond a bound."""
    if isfinite(lowest):
        return np.arctanh(2 * (values - lowest) / (highest - lowest) - 1)
    if isfinite(highest):
        return -np.log(highest - values)
    return values


def _within_bounds(unbounded: float, lowest: float, highest: float) -> float:
    """The score of a value on the scale of `_without_bounds`."""
    if isfinite(lowest):
        return lowest + (highest - lowest) * (tanh(unbounded) + 1) / 2
    if isfinite(highest):
        return highest - exp(-unbounded)
    return unbounded


def widening_of(metric: Metric, pairs: Pairs, value: float, left_out: Floats, counts: Ints) -> int | None:
    """How many times wider than for an accuracy on as many examples the steps of rounding are; None for 1.

    The metric's error decides. It is that of few examples if only these count, as those that a system
    predicts to be positive count in its precision. `left_out` has the value, or how much it changes, without
    one unit of each kind. An error that is not known (`metrics.MOST_KINDS`) widens nothing.
    """
    if is_proportion(metric):
        return None
    variance = jackknife_spread(left_out, counts).error ** 2 + lacking_variance(metric, pairs)
    lowest, highest = function_of(metric).bounds
    steps = steps_of_error(value, variance**0.5, len(pairs), lowest, highest)
    if not 2**0.5 <= steps < inf:
        return None
    doublings = ceil(log2(steps))
    widening: int = 2**doublings
    return widening


class StandardError(NamedTuple):
    """The standard error of an estimate."""

    error: float
    """The standard error."""
    df: float
    """Degrees of freedom of the standard error."""


def jackknife_spread(left_out: Floats, counts: Ints) -> StandardError:
    """The jackknife standard error over units, with Satterthwaite's degrees of freedom."""
    units = int(counts.sum())
    if units < 2:
        return StandardError(0.0, 1.0)
    deviations = left_out - counts @ left_out / units
    largest = float(np.abs(deviations).max())
    if not largest:
        return StandardError(0.0, units - 1)
    deviations = deviations / largest  # so that powers of small deviations do not underflow
    squares = float(counts @ deviations**2)
    kurtosis = units * float(counts @ deviations**4) / squares**2
    df: float = units - 1
    if kurtosis > 1:
        df = min(df, 2 * units / (kurtosis - 1))
    return StandardError(largest * (squares * (units - 1) / units) ** 0.5, df)


@dataclass(frozen=True)
class NullDistribution:
    """The null distribution of |T|."""

    support: Floats
    """The values of |T|, ascending."""
    tail: Floats
    """The mid-p of each value: the probability of larger values plus half that of the value."""

    @classmethod
    def of_draws(cls, statistics: Floats) -> NullDistribution:
        """The distribution from draws of |T|, which include the observed one (Phipson and Smyth 2010)."""
        support, counts = np.unique(_round_statistics(statistics), return_counts=True)
        above = len(statistics) - np.cumsum(counts)
        return cls(support, (above + counts / 2) / len(statistics))

    @classmethod
    def of_coins(cls, apart: int, examples: int) -> NullDistribution:
        """The distribution for accuracy on independent examples, `apart` of which only one system has right.

        |T| increases with the net number of examples gained, so that the test is McNemar's mid-p (Fagerland,
        Lydersen and Laake 2013).
        """
        heads = np.arange(apart // 2, -1, -1, dtype=np.float64)  # examples that the worse system gains
        chances = np.cumprod(np.append(1.0, (heads[1:] + 1) / (apart - heads[1:])))
        both_sides = np.where(2 * heads == apart, 1.0, 2.0) * chances
        above = np.append(np.cumsum(both_sides[::-1])[::-1][1:], 0.0)
        net = (apart - 2 * heads) / examples
        errors = np.sqrt((apart / examples - net * net) / max(examples - 1, 1))
        tail = (above + both_sides / 2) / both_sides.sum()
        return cls(_round_statistics(statistics(net, errors)), tail)

    def p(self, statistic: float) -> float:
        """The mid-p of an observed |T|; 1.0 for 0, the smallest possible value."""
        if statistic == 0:
            return 1.0
        position = int(np.searchsorted(self.support, round(statistic, _ROUNDING)))
        return float(self.tail[min(position, len(self.tail) - 1)])

    def critical(self, alpha: float = ALPHA) -> float:
        """The |T| whose mid-p is `alpha`, by linear interpolation; infinite if every mid-p is larger.

        It is below every |T| whose p is at most `alpha`, so that the interval then excludes 0.
        """
        finite = np.isfinite(self.support)
        support = self.support[finite]
        tail = self.tail[finite]
        if not len(tail) or alpha < tail[-1]:
            return inf
        above = int(np.argmax(tail <= alpha))
        if above == 0:
            return float(support[0])
        share = min((tail[above - 1] - alpha) / (tail[above - 1] - tail[above]), 0.999)
        return float(support[above - 1] + share * (support[above] - support[above - 1]))

    def quantile(self, probability: float) -> float:
        """The normal quantile, for the noise around a true difference."""
        return NormalDist().inv_cdf(probability)


def _round_statistics(statistics: Floats) -> Floats:
    """|T| rounded, so that equal values computed in different ways compare equal."""
    return np.abs(statistics).round(_ROUNDING)


def statistics(differences: Floats, errors: Floats) -> Floats:
    """|T|; infinite where the standard error is 0, and 0 where the difference is 0."""
    differences = np.abs(differences)
    different = differences > 10.0**-_ROUNDING * 1e-3
    safe = np.where(errors > 0, errors, 1.0)
    return np.where(different, np.where(errors > 0, differences / safe, inf), 0.0)


@dataclass(frozen=True)
class Student:
    """Student's t as the distribution of T."""

    df: float

    def above(self, statistic: float) -> float:
        """The two-sided p-value of a |T|."""
        return student_t_two_sided(statistic, self.df)

    def critical(self, alpha: float) -> float:
        """The |T| whose two-sided p-value is `alpha`."""
        return student_quantile(1 - alpha / 2, self.df)

    def quantile(self, probability: float) -> float:
        """The quantile of t, for the noise around a true difference."""
        return student_quantile(probability, self.df)


class DifferenceTest(ABC):
    """Intervals, equivalence and power from a difference, its standard error and the null of T."""

    difference: float
    error: float
    null: NullDistribution | Student

    def interval(self) -> Interval | None:
        """The 95 % interval; None if the error is 0 or no p-value is that small."""
        margin = self.null.critical(ALPHA) * self.error
        if not (isfinite(margin) and margin > 0):
            return None
        return Interval(self.difference - margin, self.difference + margin)

    @abstractmethod
    def beyond_p(self, limit: float, side: int = 1) -> float:
        """The one-sided p that the true difference is `limit` or more; with `side` -1, -`limit` or less."""

    def equivalence_p(self, margin: float) -> float:
        """The larger p of two one-sided tests that the difference is beyond a margin (Schuirmann 1987)."""
        return max(self.beyond_p(margin, 1), self.beyond_p(margin, -1))

    def detectable(self, power: float = POWER) -> float | None:
        """The smallest true difference that the test detects with that power; None if not known."""
        detectable = (self.null.critical(ALPHA) + self.null.quantile(power)) * self.error
        if not isfinite(detectable) or detectable <= 0:
            return None
        return detectable


def mcnemar(only_a: int, only_b: int) -> float:
    """The mid-p of McNemar's test, from the numbers of examples that only one system has right."""
    if only_a == only_b:
        return 1.0
    apart = only_a + only_b
    null = NullDistribution.of_coins(apart, apart)
    # The difference is even if `apart` is, so that possible ones are 2 apart: 0, 2, 4 ... or 1, 3, 5 ...
    position = abs(only_a - only_b) // 2
    return float(null.tail[position])


def mcnemar_holds(metric: Metric, units: Units) -> bool:
    """Whether the exchange test is McNemar's: for accuracy on independent examples."""
    return is_proportion(metric) and units.systems[0].groups is None


def alone(a: Pairs, b: Pairs) -> DiscordantCounts:
    """Count the examples that only A has right, and those that only B has right."""
    a_right = np.equal(*a.code_arrays)
    b_right = np.equal(*b.code_arrays)
    only_a = np.count_nonzero(a_right & ~b_right)
    only_b = np.count_nonzero(b_right & ~a_right)
    return DiscordantCounts(int(only_a), int(only_b))
