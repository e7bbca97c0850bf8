"""Correlations of numbers, and their influence functions for many columns of answers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.correlation import constant, pearson_of, ranks, spearman_of, standardized
from gluebench.scoring.metrics.base import MetricFunction, Point
from gluebench.scoring.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Evaluated(NamedTuple):
    """A metric of several columns of answers against one gold column."""

    values: Floats
    """(columns,)."""
    influence: Floats
    """(columns, n): the effect of one more such example, times n; the mean of each row is 0."""


@dataclass(frozen=True)
class NumberMetric(MetricFunction):
    """A metric of two columns of numbers."""

    of: Callable[[Sequence[float], Sequence[float]], float]
    """The value, from gold and predictions; 0.0 where it is not defined."""
    prepared: Callable[[Sequence[Sequence[float]]], NDArray[Any]]
    """(columns, n): on a scale that keeps the metric, and on which two systems can exchange answers."""
    evaluated: Callable[[NDArray[Any], NDArray[Any]], Evaluated]
    """From prepared gold (1, n) and prepared answers (columns, n)."""
    weighted: Callable[[Sequence[float], Sequence[Sequence[float]]], Callable[[Floats], Floats]]
    """From gold and answers the function of whole (n, resamples) weights to (columns, resamples) values."""

    form = "numbers"

    def point(self, pairs: Pairs, metric: Metric) -> Point:
        """The value; a constant column has the correlation 0 by convention."""
        value = self.of(pairs.gold.numbers, pairs.predicted.numbers)
        return Point(value) if value else Point(0.0, _constant(pairs))


def _constant(pairs: Pairs) -> str | None:
    """Why a correlation is not defined, if it is not."""
    for name, column in (("the predictions", pairs.predicted), ("the gold scores", pairs.gold)):
        if constant(column.numbers):
            return f"{name} are all the same"
    return None


def pearson_evaluated(gold: Floats, answers: Floats) -> Evaluated:
    """Pearson's r: the product of z-scores, minus r times the mean of their squares (Devlin et al. 1975)."""
    x, y = _z_scores(gold), _z_scores(answers)
    values = (x * y).mean(axis=1)
    influence = x * y
    influence -= values[:, None] * (x * x + y * y) / 2
    return Evaluated(values, influence)


def _z_scores(columns: Floats) -> Floats:
    import numpy as np

    centered = columns - columns.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centered * centered).mean(axis=1, keepdims=True))
    constant_columns = deviation <= 1e-12 * np.abs(columns).max(axis=1, keepdims=True)
    scores: Floats = np.where(constant_columns, 0.0, centered / np.where(constant_columns, 1.0, deviation))
    return scores


def spearman_evaluated(gold: NDArray[np.intp], answers: NDArray[np.intp]) -> Evaluated:
    """Spearman's rho; one more example also moves the ranks of the others (Croux and Dehon 2010).

    Ties share their mean rank. With u and v the mid-distribution values of answers and gold minus 1/2, the
    influence on mean(uv) at row i is uv + mean_j s(x_j - x_i) v_j + mean_j s(g_j - g_i) u_j - 3 mean(uv),
    where s is 1 above 0, 1/2 at 0 and 0 below; the same with u for v gives that on the variance of ranks.
    """
    import numpy as np

    x, y = _Ranked(gold), _Ranked(answers)
    u, v = y.placed(y.scores), x.placed(x.scores)
    cross = (u * v).mean(axis=1, keepdims=True)
    variance_x, variance_y = x.variance[:, None], y.variance[:, None]
    influence = u * v + y.placed(y.above(np.broadcast_to(v, u.shape))) + x.above_gold(u) - 3 * cross
    deviation = np.sqrt(variance_x * variance_y)
    defined = deviation > 0
    safe = np.where(defined, deviation, 1.0)
    values = np.where(defined, cross / safe, 0.0)
    influence /= safe
    for ranked, own, variance in ((x, v, variance_x), (y, u, variance_y)):
        spread = own * own + 2 * ranked.placed(ranked.above(own)) - 3 * variance
        influence -= values / 2 * spread / np.where(variance > 0, variance, 1.0)
    return Evaluated(values[:, 0], np.where(defined, influence, 0.0))


def _standardized(columns: Sequence[Sequence[float]]) -> Floats:
    import numpy as np

    return np.array([standardized(column) for column in columns])


def _rank_codes(columns: Sequence[Sequence[float]]) -> NDArray[np.intp]:
    """Each value's mean rank in its column, as its place among all mean ranks that occur."""
    import numpy as np

    ranked = np.array([ranks(column) for column in columns])
    return np.unique(ranked, return_inverse=True)[1].reshape(ranked.shape)


class _Ranked:
    """The ranks of several columns whose values are given as codes that keep their order."""

    def __init__(self, codes: NDArray[np.intp]) -> None:
        """`codes` are (columns, n), from 0."""
        import numpy as np

        self.codes = codes
        self.columns, self.n = codes.shape
        self.width = int(codes.max()) + 1
        self.flat = (codes + np.arange(self.columns)[:, None] * self.width).ravel()
        counts = np.bincount(self.flat, minlength=self.columns * self.width).reshape(self.columns, self.width)
        self.scores: Floats = (np.cumsum(counts, axis=1) - counts / 2) / self.n - 0.5
        """(columns, width): mid-distribution value of each code, minus 1/2."""
        self.variance: Floats = (counts * self.scores * self.scores).sum(axis=1) / self.n

    def placed(self, of_codes: Floats) -> Floats:
        """(columns, n): from values of the codes to the rows."""
        placed: Floats = of_codes.ravel()[self.flat].reshape(self.columns, self.n)
        return placed

    def above(self, of_rows: Floats) -> Floats:
        """(columns, width): the mean over all rows of s(x_j - x) times the value of row j."""
        import numpy as np

        sums = np.bincount(self.flat, of_rows.ravel(), self.columns * self.width)
        return _above(sums.reshape(self.columns, self.width), self.n)

    def above_gold(self, of_rows: Floats) -> Floats:
        """(rows, n): the same for many rows of values, of a single column."""
        import numpy as np

        offsets = np.arange(len(of_rows))[:, None] * self.width
        flat = (self.codes + offsets).ravel()
        sums = np.bincount(flat, of_rows.ravel(), len(of_rows) * self.width)
        above = _above(sums.reshape(len(of_rows), self.width), self.n)
        placed: Floats = above.ravel()[flat].reshape(of_rows.shape)
        return placed


def _above(sums: NDArray[Any], n: int) -> Floats:
    import numpy as np

    above: Floats = (sums.sum(axis=1, keepdims=True) - np.cumsum(sums, axis=1) + sums / 2) / n
    return above


def _pearson_weighted(
    gold: Sequence[float], answers: Sequence[Sequence[float]]
) -> Callable[[Floats], Floats]:
    from gluebench.scoring.metrics.weighted import JointPearson  # imports numpy

    return JointPearson(gold, answers)


def _spearman_weighted(
    gold: Sequence[float], answers: Sequence[Sequence[float]]
) -> Callable[[Floats], Floats]:
    from gluebench.scoring.metrics.weighted import JointSpearman  # imports numpy

    return JointSpearman(gold, answers)


NUMBER_METRICS = (
    NumberMetric("pearson", -1.0, pearson_of, _standardized, pearson_evaluated, _pearson_weighted),
    NumberMetric("spearman", -1.0, spearman_of, _rank_codes, spearman_evaluated, _spearman_weighted),
)
