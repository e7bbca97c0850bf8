"""Correlations of many systems with one gold column on the same resamples.

The gold column's part of a resample is computed once for all systems. Doubled ranks make every sum of
Spearman's rho an integer, which is exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.numbers import Columns, standardized

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SYSTEMS = 64
"""Number of systems whose ranks are cumulated together."""
WRAPS = 1860
"""Number of examples up to which sums of products of ranks are below 2**31."""
_ROUNDING = 1e-12
"""A spread below this share of the squares is the rounding error of a constant column."""


class JointPearson:
    """Pearson's r of every system."""

    def __init__(self, gold: Sequence[float], answers: Columns) -> None:
        x, y = np.array(standardized(gold)), np.array([standardized(column) for column in answers])
        self.moments = np.vstack([np.ones(len(x)), x, x * x, y, y * y, x * y])

    def __call__(self, weights: Floats) -> Floats:
        """(systems, resamples) from (n, resamples) weights."""
        sums = self.moments @ weights
        (n, x, xx), (y, yy, xy) = sums[:3], np.split(sums[3:], 3)
        return _correlation(xy - x * y / n, _spread(x, xx, n) * _spread(y, yy, n))


class JointMean:
    """The mean of every system's numbers."""

    def __init__(self, _gold: Sequence[float], answers: Columns) -> None:
        self.answers = np.array(answers)

    def __call__(self, weights: Floats) -> Floats:
        """(systems, resamples) from (n, resamples) weights."""
        means: Floats = self.answers @ weights / weights.sum(axis=0)
        return means


class JointSpearman:
    """Spearman's rho of every system, ties sharing their mean rank."""

    def __init__(self, gold: Sequence[float], answers: Columns) -> None:
        self.gold = _Gold.of(np.array(gold))
        columns = np.array(answers)
        self.answers = [_Ranked.of(columns[at : at + SYSTEMS]) for at in range(0, len(columns), SYSTEMS)]

    def __call__(self, weights: Floats) -> Floats:
        """Rho, shape (systems, resamples), from weights of shape (n, resamples).

        The covariance of centered doubled ranks is below a third of n cubed; if that is below 2**31, sums
        modulo 2**32 are exact.
        """
        n = weights.sum(axis=0)
        dtype = np.int32 if n.max() <= WRAPS else np.int64
        ranks, gold_cubes = self.gold.ranks(weights, n)
        drawn, gold = weights.astype(dtype), (weights * ranks).astype(dtype)
        values, cubes = [], n * n * n
        for ranked in self.answers:
            totals = ranked.with_ties(drawn)
            cross = ranked.cross(totals, ranked.with_ties(gold)).astype(np.float64)
            spread = (cubes - gold_cubes) * (cubes - ranked.cubes(totals))
            values.append(_correlation(cross, spread / 9))
        return np.concatenate(values)


class _Gold(NamedTuple):
    """The order of the gold column, which does not depend on the weights."""

    rows: NDArray[np.intp]
    """Examples in ascending order."""
    value_of: NDArray[np.intp]
    """Number of the distinct value of each example."""
    ends: NDArray[np.intp]
    """Last position of each distinct value in `rows`."""

    @classmethod
    def of(cls, column: Floats) -> _Gold:
        _, value_of, counts = np.unique(column, return_inverse=True, return_counts=True)
        return cls(np.argsort(column, kind="stable"), value_of, np.cumsum(counts) - 1)

    def ranks(self, weights: Floats, n: Floats) -> tuple[Floats, Floats]:
        """Centered doubled ranks, shape (n, resamples), and the sum of the ties' cubes."""
        up_to = np.cumsum(weights[self.rows], axis=0)[self.ends]
        totals = np.diff(up_to, axis=0, prepend=0)
        return (2 * up_to - totals - n)[self.value_of], (totals * totals * totals).sum(axis=0)


class _Ranked(NamedTuple):
    """The orders of several systems' answers; each tie of a system is an additional row."""

    order: NDArray[np.intp]
    """Rows of each system's distinct values in ascending order, shape (steps, systems)."""
    first: Ints
    """The first example of each tie, shape (ties,)."""
    second: Ints
    """The second example of each tie, shape (ties,)."""
    others: Sequence[tuple[Ints, Ints]]
    """(ties, examples) for the third examples of ties, the fourth, and so on."""
    ends: Ints
    """Start of each system's ties, shape (systems + 1,)."""
    tied: Floats
    """1 for examples in a tie, shape (systems, n)."""

    @classmethod
    def of(cls, columns: Floats) -> _Ranked:
        """Order answers of shape (systems, n)."""
        systems, n = columns.shape
        orders, members, places, ends = [], [], [], [0]
        tied = np.zeros(columns.shape)
        for system, column in enumerate(columns):
            rows = np.argsort(column, kind="stable")
            starts = np.flatnonzero(np.diff(column[rows], prepend=np.nan))
            counts = np.diff(starts, append=n)
            number = np.cumsum(counts > 1) - 1 + ends[-1]
            orders.append(np.where(counts > 1, n + number, rows[starts]))
            in_tie = np.repeat(counts > 1, counts)
            tied[system, rows[in_tie]] = 1.0
            members.append(np.array([np.repeat(number, counts)[in_tie], rows[in_tie]]))
            places.append((np.arange(n) - np.repeat(starts, counts))[in_tie])
            ends.append(int(number[-1]) + 1)
        steps = max(map(len, orders))
        order = np.full((steps, systems), n + ends[-1])
        for system, row in enumerate(orders):
            order[: len(row), system] = row
        of_tie, place = np.concatenate(members, axis=1), np.concatenate(places)
        first, second, *others = (of_tie[:, place == at] for at in range(max(2, place.max(initial=0) + 1)))
        return cls(order, first[1], second[1], [(ties, rows) for ties, rows in others], np.array(ends), tied)

    def with_ties(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values, their sums over each tie, and zeros, shape (n + ties + 1, resamples)."""
        n = len(values)
        rows = np.empty((n + self.ends[-1] + 1, values.shape[1]), values.dtype)
        rows[:n], rows[-1] = values, 0
        values.take(self.first, axis=0, out=rows[n:-1], mode="clip")
        rows[n:-1] += values[self.second]
        for ties, examples in self.others:
            rows[n + ties] += values[examples]
        return rows

    def cross(self, totals: NDArray[Any], gold: NDArray[Any]) -> NDArray[Any]:
        """Sums of each value's centered gold ranks times its doubled rank, shape (systems, resamples).

        The examples before and up to the value add to the doubled rank minus 1; centering cancels the 1.
        """
        shape = (self.order.shape[1], totals.shape[1])
        before, up_to, cross, taken = (np.zeros(shape, totals.dtype) for _ in range(4))
        for rows in self.order:
            before[:] = up_to
            up_to += totals.take(rows, axis=0, out=taken, mode="clip")
            before += up_to
            gold.take(rows, axis=0, out=taken, mode="clip")
            taken *= before
            cross += taken
        return cross

    def cubes(self, totals: NDArray[Any]) -> Floats:
        """Sums of cubes over each system's values, shape (systems, resamples)."""
        n = self.tied.shape[1]
        of_rows = totals.astype(np.float64)
        of_rows *= of_rows * of_rows
        of_ties = [of_rows[n + a : n + b].sum(axis=0) for a, b in zip(self.ends, self.ends[1:], strict=False)]
        cubes: Floats = of_rows[:n].sum(axis=0) - self.tied @ of_rows[:n] + np.array(of_ties)
        return cubes


JOINT: Mapping[str, Callable[[Sequence[float], Columns], Callable[[Floats], Floats]]] = {
    "mean of scores": JointMean,
    "pearson": JointPearson,
    "spearman": JointSpearman,
}
"""Metric to the class that gold and answers turn into a function of weights, shape (n, resamples)."""


def _spread(total: Floats, squares: Floats, n: Floats) -> Floats:
    spread = squares - total * total / n
    return np.where(spread > _ROUNDING * squares, spread, 0.0)


def _correlation(cross: Floats, spread: Floats) -> Floats:
    values: Floats = np.clip(ratio(cross, np.sqrt(spread)), -1.0, 1.0)
    return values
