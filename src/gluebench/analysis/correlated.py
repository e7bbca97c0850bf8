"""Two systems' correlations with one gold column after their predictions are exchanged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gluebench.scoring.correlation import ranks
from gluebench.scoring.draws import Floats, blocks
from gluebench.scoring.joint import Codes


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
    `standardised` numbers, or `standardised` mid-ranks for Spearman (the test is then of those ranks).
    `groups` numbers the group of each example from 0.
    """
    centred = gold - gold.mean()
    norm = float(np.sqrt(centred @ centred))
    changes = _changes(centred, a, b=b, groups=groups)
    ours: list[Floats] = []
    theirs: list[Floats] = []
    for size in blocks(resamples, len(changes)):
        coins = rng.integers(0, 2, size=(size, len(changes)), dtype=np.int8)
        moved = coins.astype(np.float64) @ changes
        ours.append(_pearson(_sums(centred, a) + moved, norm=norm, n=len(gold)))
        theirs.append(_pearson(_sums(centred, b) - moved, norm=norm, n=len(gold)))
    return Correlations(np.concatenate(ours), np.concatenate(theirs))


def _changes(centred: Floats, a: Floats, *, b: Floats, groups: Codes | None) -> Floats:
    """(units, 3): what the exchange of a unit adds to a's sums and takes from b's."""
    each = np.stack([b - a, b * b - a * a, centred * (b - a)], axis=1)
    if groups is None:
        return each
    return np.stack([np.bincount(groups, weights=column) for column in each.T], axis=1)


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
    return np.array(ranks(column.tolist()))
