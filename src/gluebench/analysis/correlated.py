"""Two systems' correlations with one gold column under joint resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis.paired import Codes, Floats, Ints, blocks


class Correlations(NamedTuple):
    """Correlations of two systems with one gold column, one of each a resample."""

    a: Floats
    b: Floats


def swap(
    gold: Floats,
    a: Floats,
    *,
    b: Floats,
    resamples: int,
    rng: np.random.Generator,
    groups: Codes | None = None,
) -> Correlations:
    """The two systems' Pearson correlations with gold after exchanges by a fair coin.

    A correlation ignores scale and an exchange does not, so the caller puts the columns on one scale:
    `standardised` numbers, or mid-ranks for Spearman (the test is then of the ranks as they are).
    """
    centred = gold - gold.mean()
    norm = float(np.sqrt(centred @ centred))
    changes = _changes(centred, a, b=b, groups=groups)
    blocks: list[tuple[Floats, Floats]] = []
    for size in blocks(resamples, len(changes)):
        coins = rng.integers(0, 2, size=(size, len(changes)), dtype=np.int8)
        moved = coins.astype(np.float64) @ changes
        blocks.append(
            (
                _pearson(_sums(centred, a) + moved, norm=norm, n=len(gold)),
                _pearson(_sums(centred, b) - moved, norm=norm, n=len(gold)),
            )
        )
    return Correlations(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _changes(centred: Floats, a: Floats, *, b: Floats, groups: Codes | None) -> Floats:
    """(units, 3): what the exchange of a unit adds to a's sums and takes from b's."""
    each = np.stack([b - a, b * b - a * a, centred * (b - a)], axis=1)
    if groups is None:
        return each
    _, numbers = np.unique(groups, return_inverse=True)
    return np.stack([np.bincount(numbers, weights=column) for column in each.T], axis=1)


def _sums(centred: Floats, column: Floats) -> Floats:
    """(3,): sum, sum of squares, and sum of products with gold."""
    return np.array([column.sum(), column @ column, centred @ column])


def _pearson(sums: Floats, *, norm: float, n: int) -> Floats:
    """Pearson's r from (..., 3) sums; 0 where a column does not vary."""
    total, squares, cross = sums[..., 0], sums[..., 1], sums[..., 2]
    spread = squares - total * total / n
    varies = (spread > 1e-12 * squares) & (norm > 0)
    scale = norm * np.sqrt(np.where(varies, spread, 1.0))
    return np.where(varies, cross / np.where(varies, scale, 1.0), 0.0)


def standardised(column: Floats) -> Floats:
    """The column with mean 0 and standard deviation 1; all 0 where it does not vary."""
    centred = column - column.mean()
    deviation = float(np.sqrt(np.mean(centred * centred)))
    return centred / deviation if deviation > 0 else np.zeros_like(centred)


def mid_ranks(column: Floats) -> Floats:
    """The rank of each value from 1, ties sharing their mean rank."""
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


class Both(NamedTuple):
    """Pearson and Spearman from the same draws."""

    pearson: Correlations
    spearman: Correlations


def bootstrap(
    gold: Floats,
    a: Floats,
    *,
    b: Floats,
    resamples: int,
    rng: np.random.Generator,
    groups: Codes | None = None,
) -> Both:
    """Both correlations of both systems on examples, or groups of them, drawn with replacement."""
    columns = [standardised(column) for column in (gold, a, b)]
    ranked = [_Ranked.of(column) for column in (gold, a, b)]
    values: list[list[Floats]] = [[], [], [], []]
    for size in blocks(resamples, 4 * len(gold)):
        weights = _drawn(len(gold), size, rng=rng, groups=groups)
        ranks = [each.ranks(weights) for each in ranked]
        for target, (first, second) in enumerate(((0, 1), (0, 2))):
            values[target].append(_weighted(columns[first], columns[second], weights=weights))
            values[2 + target].append(_weighted(ranks[first], ranks[second], weights=weights))
    drawn = [np.concatenate(each) for each in values]
    return Both(Correlations(drawn[0], drawn[1]), Correlations(drawn[2], drawn[3]))


def _drawn(n: int, size: int, *, rng: np.random.Generator, groups: Codes | None) -> Floats:
    """(size, n): how often each example was drawn."""
    numbers = None if groups is None else np.unique(groups, return_inverse=True)[1]
    units = n if numbers is None else int(numbers.max()) + 1
    picks = rng.integers(0, units, size=(size, units)) + np.arange(size)[:, None] * units
    counts = np.bincount(picks.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)
    return counts if numbers is None else counts[:, numbers]


class _Ranked(NamedTuple):
    """A column in order, ready to be ranked again under other weights."""

    order: Ints
    starts: Ints
    """Where each distinct value begins in that order."""
    places: Ints
    """Which distinct value each example has."""

    @classmethod
    def of(cls, column: Floats) -> _Ranked:
        _, starts, places = np.unique(np.sort(column), return_index=True, return_inverse=True)
        order = np.argsort(column, kind="stable")
        back = np.empty_like(order)
        back[order] = places
        return cls(order, starts, back)

    def ranks(self, weights: Floats) -> Floats:
        """(resamples, n): the mid-rank of each example where it occurs `weights` times."""
        sizes = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        ranks: Floats = (np.cumsum(sizes, axis=1) - (sizes - 1) / 2)[:, self.places]
        return ranks


def _weighted(x: Floats, y: Floats, *, weights: Floats) -> Floats:
    """(resamples,): Pearson's r of two columns under weights; 0 where one does not vary."""
    total = weights.sum(axis=1)
    x = x - ((weights * x).sum(axis=1) / total)[:, None]
    y = y - ((weights * y).sum(axis=1) / total)[:, None]
    weighted_x, weighted_y = weights * x, weights * y
    cross = np.einsum("rn,rn->r", weighted_x, y)
    norms = np.einsum("rn,rn->r", weighted_x, x) * np.einsum("rn,rn->r", weighted_y, y)
    varies = norms > 1e-24 * total * total
    return np.where(varies, cross / np.sqrt(np.where(varies, norms, 1.0)), 0.0)
