"""Correlations: in plain Python, and by numpy with influence functions for many columns at once.

In plain Python, Pearson's r is within 2e-15 of the exact correlation of the given floats, whatever their
offset and scale: each column is centered and divided by its largest deviation before anything is multiplied,
and each sum is rounded once (`math.fsum`). Spearman's rho sums integers and is rounded only at the end. A
column is constant if its smallest and largest value are equal; a correlation with it is 0.0.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import frexp, fsum, ldexp, sqrt
from operator import mul
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.counts import MetricFunction, MetricValue
from gluebench.scoring.numeric import Floats, NDArray, np
from gluebench.scoring.pairs import Pairs

Columns = Sequence[Sequence[float]]

_LARGEST_EXPONENT = 900
"""Sums and differences of values between 2**-900 and 2**900 neither overflow nor lose digits near zero."""


def pearson_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's r of two columns of n finite numbers, -1 to 1; 0.0 if either is constant.

    Permuting the rows, or multiplying a column exactly by a power of two, does not change a bit of it.
    """
    x = _center(array("d", gold).tobytes())
    y = _center(array("d", predicted).tobytes())
    return _ratio(_dot(x.values, y.values), x.spread, y.spread)


def spearman_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rho of two columns of n finite numbers, -1 to 1; 0.0 where either is constant.

    Ties share their mean rank.
    """
    x = _doubled_ranks(array("d", gold).tobytes())
    y = _doubled_ranks(array("d", predicted).tobytes())
    cross = _exact_cross(x.values, y.values)
    return _ratio(cross, x.spread, y.spread)


def standardized(values: Sequence[float]) -> list[float]:
    """Return the column with mean 0 and mean square 1; all 0.0 where it is constant.

    `values` are n finite numbers. The results, at most the square root of n in size, have a root mean
    square error below 1e-15 whatever the offset and scale of the values, so that their sums, squares and
    products are well conditioned and resampled values agree with the exact correlation.
    """
    deviations, spread = _center(array("d", values).tobytes())
    if not spread:
        return [*deviations]  # a constant column
    n = len(deviations)
    root_mean_square = sqrt(spread / n)
    mean = fsum(deviations) / n  # rounding error of the mean, which matters if there is an outlier
    return [(deviation - mean) / root_mean_square for deviation in deviations]


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1, ties sharing their mean rank."""
    return [rank / 2 for rank in _doubled_ranks(array("d", values).tobytes()).values]


class _Centered(NamedTuple):
    """A column of which a correlation needs the products with another and with itself."""

    values: Sequence[float]
    spread: float
    """The sum of the squared deviations from the mean."""


@lru_cache(maxsize=8)
def _center(data: bytes) -> _Centered:
    """The deviations from the mean; cached, since all submissions share the gold column."""
    deviations = _deviations(array("d", data).tolist())
    return _Centered(deviations, _dot(deviations, deviations))


def _exact_cross(x: Sequence[float], y: Sequence[float]) -> float:
    """The sum of the products of two columns of doubled ranks, less that of their means, which are n + 1."""
    return float(sum(map(mul, x, y)) - len(x) * (len(x) + 1) ** 2)


@lru_cache(maxsize=8)
def _doubled_ranks(data: bytes) -> _Centered:
    """Twice the rank of each value; cached as `_center` is."""
    values = array("d", data).tolist()
    ordered = sorted(values)
    last = dict(zip(ordered, range(1, len(ordered) + 1), strict=True))
    first = dict(zip(reversed(ordered), range(len(ordered), 0, -1), strict=True))
    doubled = [first[value] + last[value] for value in values]
    return _Centered(doubled, _exact_cross(doubled, doubled))


def _deviations(values: Sequence[float]) -> list[float]:
    """Deviations from the mean, divided by the largest of them in size; all 0.0 if constant."""
    low = min(values, default=0.0)
    high = max(values, default=0.0)
    if low == high:
        return [0.0] * len(values)
    exponent = frexp(max(high, -low))[1]
    if abs(exponent) > _LARGEST_EXPONENT:
        return _deviations([ldexp(value, -exponent) for value in values])
    mean = fsum(values) / len(values)
    largest = max(high - mean, mean - low)
    if abs(mean) > 4 * largest:  # rounding the mean would shift every deviation: center the differences again
        return _deviations([value - mean for value in values])
    return [(value - mean) / largest for value in values]


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return fsum(map(mul, first, second))


def _ratio(cross: float, x_spread: float, y_spread: float) -> float:
    """`cross` over the geometric mean of the two spreads, at most 1 in size; 0.0 where a spread is 0."""
    if not x_spread or not y_spread:
        return 0.0
    return max(-1.0, min(1.0, cross / sqrt(x_spread * y_spread)))


class ValuesAndInfluence(NamedTuple):
    """A metric of several columns of answers against one gold column."""

    values: Floats
    """Values, shape (columns,)."""
    influence: Floats
    """n times the effect of one more such example, shape (columns, n); each row has mean 0."""


@dataclass(frozen=True)
class NumberMetric(MetricFunction):
    """A metric of two columns of numbers."""

    of: Callable[[Sequence[float], Sequence[float]], float]
    """The value, from gold and predictions; 0.0 if it is not defined."""
    prepared: Callable[[Columns], NDArray[Any]]
    """Rescale columns to a common scale, shape (columns, n), without changing the metric."""
    evaluated: Callable[[NDArray[Any], NDArray[Any]], ValuesAndInfluence]
    """Values and influence, from prepared gold (1, n) and prepared answers (columns, n)."""

    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value; a constant column has the correlation 0 by convention."""
        return correlation_point(self.of(pairs.gold.numbers, pairs.predicted.numbers), pairs)

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence function of each unit; that of a group is the sum over its examples."""
        gold = self.prepared([pairs.gold.numbers])
        answers = self.prepared([pairs.predicted.numbers])
        influence = self.evaluated(gold, answers).influence[0]
        of_units: Floats = pairs.by_unit(influence) * (pairs.size / len(pairs))
        return of_units


def correlation_point(value: float, pairs: Pairs) -> MetricValue:
    """The value of a correlation; if it is 0 by convention, with the reason."""
    if not value and pairs.predicted.constant:
        return MetricValue(0.0, "the predictions are all the same")
    if not value and pairs.gold.constant:
        return MetricValue(0.0, "the gold scores are all the same")
    return MetricValue(value)


def pearson_evaluated(gold: Floats, answers: Floats) -> ValuesAndInfluence:
    """Pearson's r: the product of z-scores, minus r times the mean of their squares (Devlin et al. 1975)."""
    x = _z_scores(gold)
    y = _z_scores(answers)
    values = (x * y).mean(axis=1)
    influence = x * y
    influence -= values[:, None] * (x * x + y * y) / 2
    return ValuesAndInfluence(values, influence)


def _z_scores(columns: Floats) -> Floats:
    centered = columns - columns.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centered * centered).mean(axis=1, keepdims=True))
    constant_columns = deviation <= 1e-12 * np.abs(columns).max(axis=1, keepdims=True)
    scores: Floats = np.where(constant_columns, 0.0, centered / np.where(constant_columns, 1.0, deviation))
    return scores


def spearman_evaluated(gold: NDArray[np.intp], answers: NDArray[np.intp]) -> ValuesAndInfluence:
    """Spearman's rho; one more example also moves the ranks of the others (Croux and Dehon 2010).

    Ties share their mean rank. With u and v the mid-distribution values of answers and gold minus 1/2, the
    influence on mean(uv) at row i is uv + mean_j s(x_j - x_i) v_j + mean_j s(g_j - g_i) u_j - 3 mean(uv),
    where s is 1 above 0, 1/2 at 0 and 0 below; the same with u for v gives that on the variance of ranks.
    """
    x = _Ranks(np.repeat(gold, len(answers), axis=0))
    y = _Ranks(answers)
    u = y.by_row(y.scores)
    v = x.by_row(x.scores)
    cross = (u * v).mean(axis=1, keepdims=True)
    variance_x = x.variance[:, None]
    variance_y = y.variance[:, None]
    influence = u * v + y.by_row(y.above(v)) + x.by_row(x.above(u)) - 3 * cross
    deviation = np.sqrt(variance_x * variance_y)
    defined = deviation > 0
    safe = np.where(defined, deviation, 1.0)
    values = np.where(defined, cross / safe, 0.0)
    influence /= safe
    for ranks_of_column, scores, variance in ((x, v, variance_x), (y, u, variance_y)):
        above = ranks_of_column.by_row(ranks_of_column.above(scores))
        spread = scores * scores + 2 * above - 3 * variance
        influence -= values / 2 * spread / np.where(variance > 0, variance, 1.0)
    return ValuesAndInfluence(values[:, 0], np.where(defined, influence, 0.0))


def standardized_columns(columns: Columns) -> Floats:
    """Return (columns, n): each column standardized."""
    return np.array([standardized(column) for column in columns])


def rank_codes(columns: Columns) -> NDArray[np.intp]:
    """Return the mean rank of each value in its column, coded by its order among all mean ranks."""
    ranked = np.array([ranks(column) for column in columns])
    return np.unique(ranked, return_inverse=True)[1].reshape(ranked.shape)


class _Ranks:
    """The ranks of several columns whose values are given as order-preserving codes."""

    def __init__(self, codes: NDArray[np.intp]) -> None:
        """`codes` has shape (columns, n) and starts from 0."""
        self.columns, self.n = codes.shape
        self.width = int(codes.max()) + 1
        self.flat = (codes + np.arange(self.columns)[:, None] * self.width).ravel()
        counts = np.bincount(self.flat, minlength=self.columns * self.width).reshape(self.columns, self.width)
        self.scores: Floats = (np.cumsum(counts, axis=1) - counts / 2) / self.n - 0.5
        """Mid-distribution value of each code minus 1/2, shape (columns, width)."""
        self.variance: Floats = (counts * self.scores * self.scores).sum(axis=1) / self.n

    def by_row(self, of_codes: Floats) -> Floats:
        """The values of the codes by row, shape (columns, n)."""
        of_rows: Floats = of_codes.ravel()[self.flat].reshape(self.columns, self.n)
        return of_rows

    def above(self, of_rows: Floats) -> Floats:
        """Mean over all rows j of s(x_j - x) times the value of row j, shape (columns, width)."""
        sums = np.bincount(self.flat, of_rows.ravel(), self.columns * self.width)
        sums = sums.reshape(self.columns, self.width)
        above: Floats = (sums.sum(axis=1, keepdims=True) - np.cumsum(sums, axis=1) + sums / 2) / self.n
        return above
