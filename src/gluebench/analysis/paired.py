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
    a, b = (
        np.concatenate([block @ margin for block in drawn]).reshape(-1, classes, classes) for margin in margins
    )
    return Confusions(a, b)


def _blocks(resamples: int, kinds: int) -> Iterator[int]:
    """Sizes of the blocks that the resamples are drawn in."""
    size = max(1, CELLS_AT_ONCE // max(kinds, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def swapped_correlations(
    gold: Floats, a: Floats, *, b: Floats, resamples: int, rng: np.random.Generator, groups: Codes | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """The two systems' Pearson correlations with gold after exchanges by a fair coin, block by block.

    A correlation ignores scale and an exchange does not, so the caller puts the columns on one scale:
    `standardised` numbers, or mid-ranks for Spearman (the test is then of the ranks as they are).
    """
    centred = gold - gold.mean()
    numbers = np.arange(len(gold)) if groups is None else np.unique(groups, return_inverse=True)[1]
    terms = np.stack([b - a, b * b - a * a, centred * (b - a)], axis=1)
    changes = np.zeros((numbers.max() + 1, 3))
    np.add.at(changes, numbers, terms)
    norm = float(np.sqrt(centred @ centred))
    for size in _blocks(resamples, len(changes)):
        moved = rng.integers(0, 2, size=(size, len(changes)), dtype=np.int8).astype(np.float64) @ changes
        yield tuple(  # type: ignore[misc]
            _pearson(column.sum() + sign * moved[:, 0], (column @ column) + sign * moved[:, 1],
                     cross=(centred @ column) + sign * moved[:, 2], norm=norm, n=len(gold))
            for column, sign in ((a, 1.0), (b, -1.0))
        )


def _pearson(total: Floats, squares: Floats, *, cross: Floats, norm: float, n: int) -> Floats:
    """Pearson's r from sums; 0 where a column does not vary."""
    spread = squares - total * total / n
    varies = spread > 1e-12 * np.maximum(squares, 1e-300)
    scale = np.sqrt(np.where(varies, spread, 1.0)) * norm
    return np.where(varies, cross / np.where(scale > 0, scale, 1.0), 0.0)


def standardised(column: Floats) -> Floats:
    """The column with mean 0 and standard deviation 1; all 0 where it does not vary."""
    centred = column - column.mean()
    deviation = float(np.sqrt(np.mean(centred * centred)))
    return centred / deviation if deviation > 0 else np.zeros_like(centred)
