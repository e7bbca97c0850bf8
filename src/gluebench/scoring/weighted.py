"""Correlations of many resamples at once, from how often each example comes up in each.

Ranks in a resample follow from the weights cumulated in sorted order, so nothing is sorted again. They are
kept doubled: then all sums are of integers, exact in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
        spreads = [
            _beyond_rounding(squares - total * total / n, squares) for total, squares in ((x, xx), (y, yy))
        ]
        return _correlation(xy - x * y / n, spreads[0] * spreads[1])


class WeightedSpearman:
    """Spearman's rho under weights, ties sharing their mean rank."""

    def __init__(self, gold: Sequence[float], predicted: Sequence[float]) -> None:
        self.gold, self.predicted = _Ranking(gold), _Ranking(predicted)

    def __call__(self, weights: Weights) -> Floats:
        """(resamples,): rho in each; 0.0 where a column does not vary."""
        n = weights.sum(axis=1).astype(np.float64)
        centre = n * (n + 1) ** 2  # sum of w * (n + 1)**2: doubled ranks have the mean n + 1
        x, y = self.gold.ranks(weights), self.predicted.ranks(weights)
        spreads = [np.einsum("ij,ij->i", each.ranks * each.totals, each.ranks) - centre for each in (x, y)]
        cross = (
            np.einsum("ij,ij->i", self.gold.spread(x.ranks) * weights, self.predicted.spread(y.ranks))
            - centre
        )
        return _correlation(cross, spreads[0] * spreads[1])


class _Ranked(NamedTuple):
    """The distinct values of a column in each resample."""

    ranks: Floats
    """(resamples, distinct values): twice their mean ranks."""
    totals: Floats
    """(resamples, distinct values): how many examples have the value."""


class _Ranking:
    """A column's order and ties, which the weights do not change."""

    def __init__(self, column: Sequence[float]) -> None:
        values = np.asarray(column, np.float64)
        order = np.argsort(values, kind="stable")
        self.order = None if (order[:-1] < order[1:]).all() else order
        """None for a column that is in order already."""
        distinct, self.value_of = np.unique(values, return_inverse=True)
        """Which distinct value each example has."""
        ends = np.searchsorted(values[order], distinct, side="right") - 1
        self.ends = None if len(ends) == len(values) else ends
        """Where each distinct value ends in sorted order; None if there are no ties."""

    def ranks(self, weights: Weights) -> _Ranked:
        """From (resamples, n) weights."""
        totals = weights if self.order is None else weights[:, self.order]
        up_to = np.cumsum(totals, axis=1)  # of integers: several times faster than of floats
        if self.ends is not None:
            up_to = up_to[:, self.ends]
            totals = np.diff(up_to, axis=1, prepend=0)
        before = up_to - totals
        return _Ranked((up_to + before + 1).astype(np.float64), totals.astype(np.float64))

    def spread(self, of_values: Floats) -> Floats:
        """From the distinct values to the examples."""
        if self.order is None and self.ends is None:
            return of_values
        return of_values[:, self.value_of]


def _scaled(column: Floats) -> Floats:
    centred: Floats = column - column.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


def _beyond_rounding(spread: Floats, squares: Floats) -> Floats:
    """The spread of a column; 0.0 where that is what rounding leaves of a column that does not vary."""
    return np.where(spread > 1e-12 * squares, spread, 0.0)


def _correlation(cross: Floats, spread: Floats) -> Floats:
    found: Floats = np.clip(ratio(cross, spread**0.5), -1.0, 1.0)
    return found


WEIGHTED: Mapping[str, type[WeightedPearson] | type[WeightedSpearman]] = {
    "pearson": WeightedPearson,
    "spearman": WeightedSpearman,
}
