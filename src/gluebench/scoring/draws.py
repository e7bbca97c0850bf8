"""Random draws: how often each unit of a test file comes up in each resample.

A unit is an example or, where the gold has groups, a group: examples that go together are drawn together.
A count metric needs no more than how often each kind of unit comes up, which is multinomial and exactly
what drawing the units one by one gives; its cost does not grow with the test file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.pairs import Pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 1 << 17
"""Numbers held at a time: a mebibyte of them stays in the processor's cache."""


def generator(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one test file: no other file's presence changes them."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(name.encode())]))


def blocks(resamples: int, width: int, *, least: int = 1) -> Iterator[int]:
    """Sizes of the blocks that the resamples are drawn in, `width` numbers for each."""
    size = max(least, AT_ONCE // max(width, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


class Kinds(NamedTuple):
    """The kinds of unit in some examples with labels."""

    counts: Ints
    """(kinds,): units of that kind."""
    tables: NDArray[Any]
    """(classes, classes, kinds): the confusion table of one such unit."""


def kinds(pairs: Pairs) -> Kinds:
    """The kinds of unit of a file: the cells of its table that occur, or the distinct groups."""
    classes = len(pairs.gold.labels)
    if pairs.groups is None:
        table = np.asarray(pairs.table)
        gold, predicted = np.nonzero(table)
        alone = np.zeros((classes, classes, len(gold)), np.float32)
        alone[gold, predicted, np.arange(len(gold))] = 1.0
        return Kinds(table[gold, predicted], alone)
    groups, width = np.asarray(pairs.groups), classes * classes
    each = np.bincount(groups * width + cells_of(pairs), minlength=(groups.max() + 1) * width)
    rows, counts = np.unique(each.reshape(-1, width), axis=0, return_counts=True)
    return Kinds(counts, rows.T.reshape(classes, classes, -1).astype(np.float32))


def cells_of(pairs: Pairs) -> Ints:
    """(n,): the cell of each example, gold * classes + predicted."""
    gold, predicted = (np.frombuffer(column.codes, np.uint8) for column in (pairs.gold, pairs.predicted))
    return gold.astype(np.int64) * len(pairs.gold.labels) + predicted


def drawn_tables(these: Kinds, *, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Confusion tables of the resamples, in blocks of shape (classes, classes, block)."""
    units = int(these.counts.sum())
    shares = these.counts / units
    classes, _, number = these.tables.shape
    flat = these.tables.reshape(classes * classes, number).astype(np.float64)
    for size in blocks(resamples, max(number, classes * classes), least=64):
        drawn = rng.multinomial(units, shares, size=size)
        yield (flat @ drawn.T).reshape(classes, classes, size)


def row_weights(pairs: Pairs, *, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each example comes up, in blocks of shape (n, block)."""
    groups = None if pairs.groups is None else np.asarray(pairs.groups)
    units = len(pairs) if groups is None else int(groups.max()) + 1
    for size in blocks(resamples, len(pairs) // 4):
        drawn = unit_weights(units, resamples=size, rng=rng)
        yield np.ascontiguousarray((drawn if groups is None else drawn[:, groups]).T, np.float64)


def unit_weights(units: int, *, resamples: int, rng: np.random.Generator) -> Ints:
    """(resamples, units): how often each of `units` comes up when as many are drawn, one by one."""
    drawn = rng.integers(0, units, size=(resamples, units))
    drawn += np.arange(resamples)[:, np.newaxis] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)


def positions_of(weights: Floats) -> Ints:
    """The positions that a resample holds, each as often as its weight."""
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
