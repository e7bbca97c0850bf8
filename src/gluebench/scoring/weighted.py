"""Correlations of many resamples at once, from how often each example comes up in each.

Ranks in a resample follow from the weights cumulated in sorted order, so nothing is sorted again. They are
kept doubled: then all sums are of integers, exact in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.counts import ratio

Floats = NDArray[np.float64]
Weights = NDArray[Any]
"""(resamples, n): how often each example comes up."""


class WeightedPearson:
    """Pearson's r under weights."""

    def __init__(self, gold: Sequence[float], predicted: Sequence[float]) -> None:
        x, y = (_scaled(np.asarray(column, np.float64)) for column in (gold, predicted))
        self.moments = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)

    def __call__(self, weights: Weights) -> Floats:
        """(resamples,): r in each; 0.0 where a column does not vary."""
        n, x, y, xx, yy, xy = (weights.astype(np.float64) @ self.moments).T
        spread = (xx - x * x / n) * (yy - y * y / n)
        return _correlation(xy - x * y / n, spread, smallest=1e-20 * xx * yy)


class WeightedSpearman:
    """Spearman's rho under weights, ties sharing their mean rank."""

    def __init__(self, gold: Sequence[float], predicted: Sequence[float]) -> None:
        self.gold, self.predicted = _Ranking(gold), _Ranking(predicted)
        self.gold_values = self.gold.value_of[self.predicted.order]

    def __call__(self, weights: Weights) -> Floats:
        """(resamples,): rho in each; 0.0 where a column does not vary."""
        ordered = weights[:, self.predicted.order]
        x = self.gold.ranks(weights[:, self.gold.order])
        y = self.predicted.ranks(ordered)
        n = weights.sum(axis=1).astype(np.float64)
        centre = n * (n + 1) ** 2  # sum of w * (n + 1)**2: doubled ranks have the mean n + 1
        rows = y[:, self.predicted.value_at] * ordered
        xy = np.einsum("ij,ij->i", rows, x[:, self.gold_values])
        spreads = [
            np.einsum(
                "ij,ij,ij->i", ranks, ranks, np.add.reduceat(w, ranking.starts, axis=1).astype(np.float64)
            )
            - centre
            for ranks, ranking, w in (
                (x, self.gold, weights[:, self.gold.order]),
                (y, self.predicted, ordered),
            )
        ]
        return _correlation(xy - centre, spreads[0] * spreads[1], smallest=0.5)


class _Ranking:
    """A column's order and ties, which the weights do not change."""

    def __init__(self, column: Sequence[float]) -> None:
        values = np.asarray(column, np.float64)
        self.order = np.argsort(values, kind="stable")
        _, self.starts, self.value_at = np.unique(values[self.order], return_index=True, return_inverse=True)
        self.value_of = np.empty(len(values), np.int64)
        """Which distinct value each example has; `value_at` is the same in sorted order."""
        self.value_of[self.order] = self.value_at

    def ranks(self, ordered: Weights) -> Floats:
        """(resamples, distinct values): twice the mean rank of each value, from weights in sorted order."""
        ends = np.append(self.starts[1:], ordered.shape[1]) - 1
        up_to = np.cumsum(ordered, axis=1)[:, ends].astype(np.float64)
        ranks: Floats = up_to + 1.0
        ranks[:, 1:] += up_to[:, :-1]
        return ranks


def _scaled(column: Floats) -> Floats:
    centred: Floats = column - column.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


def _correlation(cross: Floats, spread: Floats, *, smallest: Any) -> Floats:
    found: Floats = np.clip(ratio(cross, np.where(spread > smallest, spread, 0.0) ** 0.5), -1.0, 1.0)
    return found


WEIGHTED: Mapping[str, type[WeightedPearson] | type[WeightedSpearman]] = {
    "pearson": WeightedPearson,
    "spearman": WeightedSpearman,
}
