"""Resampling two systems together: the same examples drawn for both, or their answers exchanged.

A count metric depends on the examples only through the confusion table of gold and prediction, so what
is drawn is how often each kind of unit occurs. A unit is an example, told by its (gold, a, b), or a
group of examples that go together, told by its table of those; units of one kind are counted, not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.integer]

CELLS_AT_ONCE = 1 << 20
"""Random numbers held at a time: 8 MiB of them."""


class Units(NamedTuple):
    """What is drawn: the kinds of unit, and how many there are of each."""

    tables: Floats
    """(kinds, classes, classes, classes): examples of one unit by gold, a's answer and b's."""
    counts: Ints
    """(kinds,): units of that kind."""


class Confusions(NamedTuple):
    """Confusion tables of two systems on the same examples: (..., gold, predicted), as floats."""

    a: Floats
    b: Floats


def units(gold: Codes, a: Codes, b: Codes, *, classes: int, groups: Codes | None = None) -> Units:
    """The kinds of unit among examples with these label codes; `groups` numbers the group of each."""
    cells = (gold.astype(np.int64) * classes + a) * classes + b
    if groups is None:
        sizes = np.bincount(cells, minlength=classes**3)
        present = np.flatnonzero(sizes)
        tables = np.zeros((len(present), classes**3))
        tables[np.arange(len(present)), present] = 1.0
        return Units(tables.reshape(-1, classes, classes, classes), sizes[present])
    _, numbers = np.unique(groups, return_inverse=True)
    width = classes**3
    each = np.bincount(numbers * width + cells, minlength=(numbers.max() + 1) * width).reshape(-1, width)
    kinds, counts = np.unique(each, axis=0, return_counts=True)
    return Units(kinds.astype(np.float64).reshape(-1, classes, classes, classes), counts)


def confusions(these: Units) -> Confusions:
    """The two systems' tables as they are, undrawn."""
    joint = np.tensordot(these.counts.astype(np.float64), these.tables, axes=1)
    return Confusions(joint.sum(axis=2), joint.sum(axis=1))


def bootstrap(these: Units, *, resamples: int, rng: np.random.Generator) -> Confusions:
    """Tables from units drawn with replacement, as many as there are (Efron & Tibshirani 1993)."""
    total = int(these.counts.sum())
    drawn = [
        rng.multinomial(total, these.counts / total, size=size).astype(np.float64)
        for size in _blocks(resamples, len(these.counts))
    ]
    return _summed(drawn, these.tables)


def swap(these: Units, *, resamples: int, rng: np.random.Generator) -> Confusions:
    """Tables from the two systems' answers exchanged in each unit by a fair coin (Noreen 1989).

    How many units of a kind are exchanged is binomial; those on which the two agree need no coin.
    """
    change = these.tables.swapaxes(2, 3) - these.tables
    matters = np.flatnonzero(change.any(axis=(1, 2, 3)))
    observed = confusions(these)
    exchanged = [
        rng.binomial(these.counts[matters], 0.5, size=(size, len(matters))).astype(np.float64)
        for size in _blocks(resamples, len(matters))
    ]
    changes = _summed(exchanged, change[matters])
    return Confusions(observed.a + changes.a, observed.b + changes.b)


def _summed(drawn: list[Floats], tables: Floats) -> Confusions:
    """For each resample the sum of the tables by the numbers drawn, as the two systems' margins."""
    classes = tables.shape[1]
    margins = [tables.sum(axis=axis).reshape(len(tables), -1) for axis in (3, 2)]
    sums = [np.concatenate([block @ margin for block in drawn]) for margin in margins]
    return Confusions(*(each.reshape(-1, classes, classes) for each in sums))


def _blocks(resamples: int, kinds: int) -> Iterator[int]:
    """Sizes of the blocks that the resamples are drawn in."""
    size = max(1, CELLS_AT_ONCE // max(kinds, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


class Correlations(NamedTuple):
    """Correlations of two systems with one gold column, one of each a resample."""

    a: Floats
    b: Floats


def swapped_correlations(
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
    for size in _blocks(resamples, len(changes)):
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
