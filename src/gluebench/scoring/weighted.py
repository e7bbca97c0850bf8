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


class WeightedPearson:
    """Pearson's r under weights."""

    def __init__(self, gold: Sequence[float], predicted: Sequence[float]) -> None:
        x, y = (_scaled(np.asarray(column, np.float64)) for column in (gold, predicted))
        self.moments = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def __call__(self, weights: Floats) -> Floats:
        """(resamples,): r in each; 0.0 where a column does not vary."""
        n, x, y, xx, yy, xy = self.moments @ weights
        spread = (xx - x * x / n) * (yy - y * y / n)
        return _correlation(xy - x * y / n, spread, smallest=1e-20 * xx * yy)


class WeightedSpearman:
    """Spearman's rho under weights, ties sharing their mean rank."""

    def __init__(self, gold: Sequence[float], predicted: Sequence[float]) -> None:
        self.gold, self.predicted = _Ranking(gold), _Ranking(predicted)

    def __call__(self, weights: Floats) -> Floats:
        """(resamples,): rho in each; 0.0 where a column does not vary."""
        gold, predicted = self.gold(weights), self.predicted(weights)
        total = weights.sum(axis=0)
        centre = total * (total + 1) ** 2  # doubled ranks have the mean total + 1
        products = gold.ranks[self.gold.value]
        products *= weights
        cross = np.einsum("ij,ij->j", products, self.predicted.of_examples(predicted.ranks))
        spreads = [_sum_of_squares(each) - centre for each in (gold, predicted)]
        return _correlation(cross - centre, spreads[0] * spreads[1], smallest=0.5)


class _Ranked(NamedTuple):
    ranks: Floats
    """(distinct values, resamples): twice the mean rank of each value."""
    weights: Floats
    """(distinct values, resamples): how often each value comes up."""


class _Ranking:
    """A column's order and ties, which the weights do not change."""

    def __init__(self, column: Sequence[float]) -> None:
        values = np.asarray(column, np.float64)
        self.order = np.argsort(values, kind="stable")
        _, starts, at = np.unique(values[self.order], return_index=True, return_inverse=True)
        self.last = np.append(starts[1:], len(values)) - 1
        """Where each distinct value ends in sorted order."""
        self.value = np.empty(len(values), np.int64)
        """Which distinct value each example has."""
        self.value[self.order] = at
        self.sorted = np.array_equal(self.order, np.arange(len(values)))
        """Whether the examples are in order already."""
        self.distinct = len(starts) == len(values)

    def __call__(self, weights: Floats) -> _Ranked:
        each = weights if self.sorted else weights[self.order]
        up_to = np.empty_like(each)
        sums = np.zeros(each.shape[1])
        for row, weight in zip(up_to, each, strict=True):  # `cumsum` down the columns is several times slower
            sums = np.add(sums, weight, out=row)
        if not self.distinct:
            up_to = up_to[self.last]
            each = np.diff(up_to, axis=0, prepend=0.0)
        up_to *= 2.0
        up_to -= each
        up_to += 1.0
        return _Ranked(up_to, each)

    def of_examples(self, ranks: Floats) -> Floats:
        """(n, resamples): the rank of each example."""
        return ranks if self.sorted and self.distinct else ranks[self.value]


def _sum_of_squares(ranked: _Ranked) -> Floats:
    products = ranked.weights * ranked.ranks
    total: Floats = np.einsum("ij,ij->j", products, ranked.ranks)
    return total


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
