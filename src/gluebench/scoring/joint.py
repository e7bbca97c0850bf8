"""Two systems drawn together: how often each unit of examples comes up in each resample, for both alike.

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
        alone = np.zeros((len(present), classes**3))
        alone[np.arange(len(present)), present] = 1.0
        return Units(alone.reshape(shape), sizes[present])
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
    return summed(drawn, these.tables)


def summed(drawn: Sequence[Ints], tables: Floats) -> Confusions:
    """For each resample the sum of the tables by the numbers drawn, as the two systems' margins."""
    classes = tables.shape[1]
    sums = []
    for axis in (3, 2):
        margin = tables.sum(axis=axis).reshape(len(tables), classes * classes).T
        parts = [margin @ block.T.astype(np.float64) for block in drawn]
        sums.append(np.concatenate(parts, axis=1).reshape(classes, classes, -1))
    return Confusions(*sums)
