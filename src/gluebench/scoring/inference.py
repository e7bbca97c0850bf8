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
    Alone,
    Bar,
    Interval,
    Part,
    grouped_hits,
    grouped_wilson,
    mean_bar,
    mean_withheld,
    student_quantile,
    student_t_two_sided,
    wilson,
    withheld,
)
from gluebench.scoring.metrics import Point, function_of, is_proportion, task_score
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


def task_bars(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, Point]
) -> tuple[dict[str, Bar], Bar]:
    """Intervals of the metrics that have a score, and of their mean; test files are independent."""
    bars: dict[str, Bar] = {}
    parts: list[Part] = []
    for name, metrics in task.metrics_by_file().items():
        if name not in pairs:
            continue
        of_file = file_bars(metrics, pairs[name], [points[metric.name] for metric in metrics])
        bars |= {metric.name: bar for metric, bar in zip(metrics, of_file, strict=False)}
        value = task_score([points[metric.name].value for metric in metrics])
        parts.append(Part(name, value, of_file[-1], len(metrics)))
    return bars, mean_bar(parts)._replace(widening=None)


def file_bars(metrics: Sequence[Metric], pairs: Pairs, points: Sequence[Point]) -> list[Bar]:
    """Intervals of the metrics of one test file; with several metrics, that of their mean comes last."""
    if len(metrics) == 1 and is_proportion(metrics[0]):
        return [_proportion_bar(pairs)]
    values = [point.value for point in points]
    influence, kinds = influence_by_kind(metrics, pairs, values)
    left_out = np.array(values)[:, np.newaxis] - influence / max(kinds.size - 1, 1)
    bounds = [function_of(metric).bounds for metric in metrics]
    bars = []
    for metric, point, own, limits in zip(metrics, points, left_out, bounds, strict=True):
        if reason := _reason(metric, pairs, point, own, kinds.counts):
            bar = withheld(reason)
        elif is_proportion(metric):
            bar = _proportion_bar(pairs)
        else:
            bar = jackknife_bar(point.value, own, kinds.counts, *limits)
        widening = widening_of(metric, pairs, point.value, own, kinds.counts)
        bars.append(bar._replace(widening=widening))
    if len(metrics) > 1:
        if reason := mean_withheld(bar.withheld for bar in bars):
            return [*bars, withheld(reason)]
        lowest, highest = (sum(ends) / len(ends) for ends in zip(*bounds, strict=True))
        mean = left_out.mean(axis=0)
        bars.append(jackknife_bar(task_score(values), mean, kinds.counts, lowest, highest))
    return bars


def _reason(metric: Metric, pairs: Pairs, point: Point, left_out: Floats, counts: Ints) -> str | None:
    """Why a metric has no interval; None if it may have one."""
    function, constant = function_of(metric), pairs.predicted.constant
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
    return CONSTANT if never_varies and not is_proportion(metric) else None


def _proportion_bar(pairs: Pairs) -> Bar:
    if pairs.groups is None:
        return wilson(sum(row[code] for code, row in enumerate(pairs.table)), len(pairs))
    return grouped_wilson(grouped_hits(map(eq, pairs.gold.codes, pairs.predicted.codes), pairs.groups))


def jackknife_bar(value: float, left_out: Floats, counts: Ints, lowest: float, highest: float = 1.0) -> Bar:
    """The jackknife interval on Fisher's z; `left_out` has the score without one unit of each kind.

    A score from `lowest` to `highest` is first scaled to -1 to 1 and then transformed by atanh. With an
    infinite `lowest` the logarithm of its distance from `highest` is taken, or nothing if that is infinite
    too. The degrees of freedom are the smaller of units - 1 and Satterthwaite's, 2 units / (kurtosis - 1).
    The interval is withheld ("too few to say") if a transformed score is infinite, or all scores are equal
    but for rounding.
    """
    scale = highest - (lowest if isfinite(lowest) else value) if isfinite(highest) else np.abs(left_out).max()
    if not np.ptp(left_out) > _VARIES * abs(scale):
        return withheld(TOO_FEW)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = _transformed(np.append(value, left_out), lowest, highest)
    if not np.isfinite(scaled).all():
        return withheld(TOO_FEW)
    spread = jackknife_spread(scaled[1:], counts)
    margin = student_quantile(1 - ALPHA / 2, spread.df) * spread.error
    low, high = (_score(float(scaled[0] + side * margin), lowest, highest) for side in (-1, 1))
    return Bar(low, high)


def _transformed(values: Floats, lowest: float, highest: float) -> Floats:
    """Scores on a scale without bounds; not finite for those at or beyond a bound."""
    if isfinite(lowest):
        return np.arctanh(2 * (values - lowest) / (highest - lowest) - 1)
    return -np.log(highest - values) if isfinite(highest) else values


def _score(transformed: float, lowest: float, highest: float) -> float:
    if isfinite(lowest):
        return lowest + (highest - lowest) * (tanh(transformed) + 1) / 2
    return highest - exp(-transformed) if isfinite(highest) else transformed


def widening_of(metric: Metric, pairs: Pairs, value: float, left_out: Floats, counts: Ints) -> int | None:
    """How many times wider than for an accuracy on as many examples the steps of rounding are; None for 1.

    The metric's error decides. It is that of few examples if only these count, as those that a system
    predicts to be positive count in its precision. `left_out` has the value, or how much it changes, without
    one unit of each kind. An error that is not known (`metrics.MOST_KINDS`) widens nothing.
    """
    if is_proportion(metric):
        return None
    variance = jackknife_spread(left_out, counts).error ** 2 + lacking_variance(metric, pairs)
    steps = steps_of_error(value, variance**0.5, len(pairs), *function_of(metric).bounds)
    return 2 ** ceil(log2(steps)) if 2**0.5 <= steps < inf else None


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
    df = min(units - 1, 2 * units / (kurtosis - 1)) if kurtosis > 1 else units - 1
    return StandardError(largest * (squares * (units - 1) / units) ** 0.5, df)


@dataclass(frozen=True)
class Null:
    """The null distribution of |T|."""

    support: Floats
    """The values of |T|, ascending."""
    tail: Floats
    """The mid-p of each value: the probability of larger values plus half that of the value."""

    @classmethod
    def of_draws(cls, statistics: Floats) -> Null:
        """The distribution from draws of |T|, which include the observed one (Phipson and Smyth 2010)."""
        support, counts = np.unique(_rounded(statistics), return_counts=True)
        above = len(statistics) - np.cumsum(counts)
        return cls(support, (above + counts / 2) / len(statistics))

    @classmethod
    def of_coins(cls, apart: int, examples: int) -> Null:
        """The distribution for accuracy on independent examples, `apart` of which only one system has right.

        |T| increases with the net number of examples gained, so that the test is McNemar's mid-p (Fagerland,
        Lydersen and Laake 2013).
        """
        heads = np.arange(apart // 2, -1, -1, dtype=np.float64)  # examples that the worse system gains
        chances = np.cumprod(np.append(1.0, (heads[1:] + 1) / (apart - heads[1:])))
        both = np.where(2 * heads == apart, 1.0, 2.0) * chances
        above = np.append(np.cumsum(both[::-1])[::-1][1:], 0.0)
        net = (apart - 2 * heads) / examples
        errors = np.sqrt((apart / examples - net * net) / max(examples - 1, 1))
        return cls(_rounded(statistics(net, errors)), (above + both / 2) / both.sum())

    def p(self, statistic: float) -> float:
        """The mid-p of an observed |T|; 1.0 for 0, the smallest possible value."""
        if statistic == 0:
            return 1.0
        at = np.searchsorted(self.support, round(statistic, _ROUNDING))
        return float(self.tail[min(int(at), len(self.tail) - 1)])

    def critical(self, alpha: float = ALPHA) -> float:
        """The |T| whose mid-p is `alpha`, by linear interpolation; infinite if every mid-p is larger.

        It is below every |T| whose p is at most `alpha`, so that the interval then excludes 0.
        """
        finite = np.isfinite(self.support)
        support, tail = self.support[finite], self.tail[finite]
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


def _rounded(statistics: Floats) -> Floats:
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
    null: Null | Student

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
        return detectable if isfinite(detectable) and detectable > 0 else None


def mcnemar(only_a: int, only_b: int) -> float:
    """The mid-p of McNemar's test, from the numbers of examples that only one system has right."""
    if only_a == only_b:
        return 1.0
    return float(Null.of_coins(only_a + only_b, only_a + only_b).tail[abs(only_a - only_b) // 2])


def mcnemar_holds(metric: Metric, units: Units) -> bool:
    """Whether the exchange test is McNemar's: for accuracy on independent examples."""
    return is_proportion(metric) and units.systems[0].groups is None


def alone(a: Pairs, b: Pairs) -> Alone:
    """Count the examples that only A has right, and those that only B has right."""
    a_right, b_right = (np.equal(*pairs.code_arrays) for pairs in (a, b))
    return Alone(int(np.count_nonzero(a_right & ~b_right)), int(np.count_nonzero(b_right & ~a_right)))
