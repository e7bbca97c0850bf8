"""Resampling two systems together: the same examples drawn for both, or their answers exchanged.

A count metric depends on the examples only through the confusion table of gold and prediction, so what
is drawn is how often each kind of unit occurs. A unit is an example, told by its (gold, a, b), or a
group of examples that go together, told by its table of those; units of one kind are counted, not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.draws import Floats, Ints, blocks

Codes = NDArray[np.integer]


class Units(NamedTuple):
    """What is drawn: the kinds of unit, and how many there are of each."""

    tables: Floats
    """(kinds, classes, classes, classes): examples of one unit by gold, a's answer and b's."""
    counts: Ints
    """(kinds,): units of that kind."""


class Confusions(NamedTuple):
    """Confusion tables of two systems on the same examples: (gold, predicted, resamples)."""

    a: Floats
    b: Floats


def units(gold: Codes, a: Codes, *, b: Codes, classes: int, groups: Codes | None = None) -> Units:
    """The kinds of unit among examples with these label codes; `groups` numbers the group of each from 0."""
    cells = (gold.astype(np.int64) * classes + a) * classes + b
    shape = (-1, classes, classes, classes)
    if groups is None:
        sizes = np.bincount(cells, minlength=classes**3)
        present = np.flatnonzero(sizes)
        return Units(np.eye(classes**3)[present].reshape(shape), sizes[present])
    width = classes**3
    each = np.bincount(groups * width + cells, minlength=(int(groups.max()) + 1) * width).reshape(-1, width)
    kinds, counts = np.unique(each, axis=0, return_counts=True)
    return Units(kinds.astype(np.float64).reshape(shape), counts)


def bootstrap(these: Units, *, resamples: int, rng: np.random.Generator) -> Confusions:
    """Tables from units drawn with replacement, as many as there are (Efron & Tibshirani 1993)."""
    total = int(these.counts.sum())
    drawn = [
        rng.multinomial(total, these.counts / total, size=size)
        for size in blocks(resamples, len(these.counts))
    ]
    return _summed(drawn, these.tables)


def swap(these: Units, *, resamples: int, rng: np.random.Generator) -> Confusions:
    """Tables from the two systems' answers exchanged in each unit by a fair coin (Noreen 1989).

    How many units of a kind are exchanged is binomial; those on which the two agree need no coin.
    """
    change = these.tables.swapaxes(2, 3) - these.tables
    matters = np.flatnonzero(change.any(axis=(1, 2, 3)))
    observed = _summed([these.counts[np.newaxis]], these.tables)
    exchanged = [
        rng.binomial(these.counts[matters], 0.5, size=(size, len(matters)))
        for size in blocks(resamples, len(matters))
    ]
    changes = _summed(exchanged, change[matters])
    return Confusions(observed.a + changes.a, observed.b + changes.b)


def _summed(drawn: Sequence[Ints], tables: Floats) -> Confusions:
    """For each resample the sum of the tables by the numbers drawn, as the two systems' margins."""
    classes = tables.shape[1]
    sums = []
    for axis in (3, 2):
        margin = tables.sum(axis=axis).reshape(len(tables), classes * classes).T
        parts = [margin @ block.T.astype(np.float64) for block in drawn]
        sums.append(np.concatenate(parts, axis=1).reshape(classes, classes, -1))
    return Confusions(*sums)
