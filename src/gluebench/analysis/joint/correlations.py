"""Correlations of many systems with one gold column under joint resampling.

What gold brings to a resample is worked out once for all systems. Doubled ranks keep every sum of Spearman's
an integer, exact in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gluebench.scoring.counts import ratio
from gluebench.scoring.draws import Floats, Ints

_ROUNDING = 1e-12
"""A spread below this share of the squares is what rounding leaves of a column that does not vary."""


class JointPearson:
    """Pearson's r of every system."""

    def __init__(self, gold: Floats, answers: Floats) -> None:
        """`answers` are (systems, n)."""
        x, y = _scaled(gold), np.array([_scaled(row) for row in answers])
        self.moments = np.vstack([np.ones(len(x)), x, x * x, y, y * y, x * y])
        self.systems = len(answers)

    def __call__(self, weights: Floats) -> Floats:
        """(systems, resamples) from (n, resamples) weights; 0.0 where a column does not vary."""
        sums = self.moments @ weights
        (n, x, xx), (y, yy, xy) = sums[:3], np.split(sums[3:], 3)
        return _correlation(xy - x * y / n, _spread(x, xx, n) * _spread(y, yy, n))


class JointSpearman:
    """Spearman's rho of every system, ties sharing their mean rank."""

    def __init__(self, gold: Floats, answers: Floats) -> None:
        """`answers` are (systems, n)."""
        self.gold, self.answers = _Order.of(gold), [_Order.of(row) for row in answers]

    def __call__(self, weights: Floats) -> Floats:
        """(systems, resamples) from (n, resamples) weights, which are whole; 0.0 without spread."""
        n = weights.sum(axis=0)
        centre, cubes = n * (n + 1) ** 2, n**3 - n
        gold = self.gold.ranked(weights)
        weighted = weights * gold.ranks[self.gold.value_of]
        spread = cubes - _ties(gold.totals)
        untied = _ties(weights)
        found = []
        for order in self.answers:
            ranks, totals = order.ranked(weights)
            cross = np.einsum("ij,ij->j", weighted, ranks[order.value_of]) - centre
            ties = untied if order.ends is None else _ties(totals)
            found.append(_correlation(cross, spread * (cubes - ties) / 9))
        return np.array(found)


class _Ranked(NamedTuple):
    """The distinct values of a column in each resample, in ascending order."""

    ranks: Floats
    """(distinct values, resamples): twice their mean ranks."""
    totals: Floats
    """(distinct values, resamples): how many examples have the value."""


class _Order(NamedTuple):
    """The order of a column and its ties, which the weights do not change."""

    rows: Ints
    """Examples in ascending order of their values."""
    value_of: Ints
    """Which distinct value each example has."""
    ends: Ints | None
    """Where each distinct value ends in that order; None if no two are equal."""

    @classmethod
    def of(cls, column: Floats) -> _Order:
        rows = np.argsort(column, kind="stable")
        distinct, value_of = np.unique(column, return_inverse=True)
        ends = np.searchsorted(column[rows], distinct, side="right") - 1
        return cls(rows, value_of, None if len(ends) == len(column) else ends)

    def ranked(self, weights: Floats) -> _Ranked:
        """From (n, resamples) weights; cumulated, since sums by value are far slower."""
        totals = weights[self.rows]
        up_to = np.cumsum(totals, axis=0)
        if self.ends is not None:
            up_to = up_to[self.ends]
            totals = np.diff(up_to, axis=0, prepend=0)
        ranks = 2 * up_to
        ranks -= totals
        ranks += 1
        return _Ranked(ranks, totals)


def _ties(totals: Floats) -> Floats:
    """What ties take from the sum of squared ranks, times twelve."""
    ties: Floats = (totals * totals * totals).sum(axis=0) - totals.sum(axis=0)
    return ties


def _scaled(column: Floats) -> Floats:
    centred: Floats = column - column.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


def _spread(total: Floats, squares: Floats, n: Floats) -> Floats:
    spread = squares - total * total / n
    return np.where(spread > _ROUNDING * squares, spread, 0.0)


def _correlation(cross: Floats, spread: Floats) -> Floats:
    found: Floats = np.clip(ratio(cross, np.sqrt(spread)), -1.0, 1.0)
    return found
