"""How often examples come up when as many are drawn with replacement, in parts that fit the cache.

Examples that all systems answer alike, under one gold label, are of one kind. Of a frequent kind only the
number drawn is drawn; the rest are drawn one by one. Both follow from one multinomial, so the resamples are
exactly those of drawing every example (docs/ranking.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.draws import Ints, unit_weights
from gluebench.scoring.joint import Codes

FREQUENT = 24
"""Examples of one kind from which on one binomial draw is cheaper than drawing them one by one."""
AT_ONCE = 2048
"""Examples in one part."""
ROWS = 32
"""Resamples of a part that are drawn at once."""


class Part(NamedTuple):
    """Some of the units, all with one gold label, and how often each came up."""

    rows: Ints
    """(k,): an example that stands for each unit."""
    weights: NDArray[np.float32]
    """(resamples, k)."""


class Kinds(NamedTuple):
    """The examples of a file, sorted for drawing."""

    frequent: Ints
    """(f,): an example of each frequent kind."""
    counts: Ints
    """(f,): how many there are of it."""
    rest: Ints
    """(r,): all other examples."""

    @property
    def size(self) -> int:
        """The number of examples."""
        return int(self.counts.sum()) + len(self.rest)


def kinds_of(answers: Codes) -> Kinds:
    """The kinds among the columns of (systems, n) codes, gold being one of the rows.

    Columns are told apart by a 64-bit sum of products, then held against each other: one that differs
    from its kind is drawn by itself.
    """
    factors = np.random.default_rng(0).integers(1, 1 << 63, size=len(answers), dtype=np.uint64) | np.uint64(1)
    keys = np.zeros(answers.shape[1], np.uint64)
    for row, factor in zip(answers, factors, strict=True):
        keys += row.astype(np.uint64) * factor
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    counts = np.diff(starts, append=len(order))
    first = np.repeat(order[starts], counts)
    many = np.repeat(counts >= FREQUENT, counts)
    many[many] = (answers[:, order[many]] == answers[:, first[many]]).all(axis=0)
    kind = np.repeat(np.arange(len(starts)), counts)[many]
    found, sizes = np.unique(kind, return_counts=True)
    return Kinds(order[starts[found]], sizes, np.sort(order[~many]))


def drawn_parts(these: Kinds, gold: Codes, *, resamples: int, rng: np.random.Generator) -> Iterator[Part]:
    """The parts of that many resamples; each has one gold label."""
    share = np.append(these.counts, len(these.rest)) / these.size
    drawn = rng.multinomial(these.size, share / share.sum(), size=resamples)
    for rows, weights in _by_label(these.frequent, gold, drawn[:, :-1]):
        yield Part(rows, weights.astype(np.float32))
    parts = list(_cut(these.rest, gold))
    if not parts:
        return
    sizes = np.array([len(rows) for rows in parts])
    totals = rng.multinomial(drawn[:, -1], sizes / sizes.sum()).astype(np.int64)
    for rows, total in zip(parts, totals.T, strict=True):
        yield Part(rows, _one_by_one(len(rows), total, rng))


def _by_label(rows: Ints, gold: Codes, weights: Ints) -> Iterator[tuple[Ints, Ints]]:
    for label in np.unique(gold[rows]):
        of_label = np.flatnonzero(gold[rows] == label)
        yield rows[of_label], weights[:, of_label]


def _cut(rows: Ints, gold: Codes) -> Iterator[Ints]:
    for label in np.unique(gold[rows]):
        of_label = rows[gold[rows] == label]
        for start in range(0, len(of_label), AT_ONCE):
            yield of_label[start : start + AT_ONCE]


def _one_by_one(size: int, totals: Ints, rng: np.random.Generator) -> NDArray[np.float32]:
    """(resamples, size): `totals` draws among `size` examples in each resample."""
    weights = np.empty((len(totals), size), np.float32)
    for start in range(0, len(totals), ROWS):  # few at a time: all that is touched stays in the cache
        some = totals[start : start + ROWS]
        at = rng.integers(0, size, size=int(some.sum()))
        at += np.repeat(np.arange(len(some)) * size, some)
        weights[start : start + ROWS] = np.bincount(at, minlength=len(some) * size).reshape(-1, size)
    return weights


def grouped_parts(groups: Ints, gold: Codes, *, resamples: int, rng: np.random.Generator) -> Iterator[Part]:
    """The same where whole groups are drawn: every example comes up as often as its group."""
    weights = unit_weights(int(groups.max()) + 1, resamples=resamples, rng=rng)
    for rows in _cut(np.arange(len(gold)), gold):
        yield Part(rows, weights[:, groups[rows]].astype(np.float32))
