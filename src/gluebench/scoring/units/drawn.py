"""Bootstrap metrics of many systems on the same resamples; unit weights are exactly multinomial.

The values depend neither on the order of the systems nor on duplicates among them.
docs/explanation/differences.md explains how the draws are made and why they are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, factorial, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics import CountMetric, NumberMetric
from gluebench.scoring.metrics.weighted import JOINT
from gluebench.scoring.pairs import Pairs, sort_key
from gluebench.scoring.units.base import Floats, Ints, blocks, group_numbers, unit_weights

Codes = NDArray[np.uint8]
Weights = NDArray[np.float32]

FREQUENT = 64
"""Number of examples of a kind from which a single binomial draw is cheaper than one for each."""
PART = 3072
"""Number of examples whose weights are drawn together."""
ROWS = 128
"""Resamples of a part that are drawn at once, so that the data fit the cache."""
TABLES = 1 << 22
"""Maximum number of cells of confusion tables in memory at once."""
PACKED = 1 << 12
"""Two counts below this fit into the 24 bits of precision of a float32."""
SLACK = 3.0
"""Difference between the size of a part and its expected Poisson total, over the root of the size."""


def label_draws(
    functions: Sequence[tuple[CountMetric, int]],
    systems: Sequence[Pairs],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Label metrics, shape (metrics, systems, resamples); each function comes with its positive code."""

    def draws(distinct: Sequence[Pairs]) -> Floats:
        gold, classes = np.frombuffer(distinct[0].gold.codes, np.uint8), len(distinct[0].gold.labels)
        columns = np.array([gold, *(np.frombuffer(pairs.predicted.codes, np.uint8) for pairs in distinct)])
        if all(function.proportion for function, _ in functions):
            # Accuracy needs only whether each answer is right, which has two classes.
            columns, classes = (columns == gold).astype(np.uint8), 2
        columns, groups = np.ascontiguousarray(columns.T), group_numbers(distinct[0])
        kinds = _kinds(columns) if groups is None else None
        values = []
        width = classes**2 * len(distinct)
        for size in blocks(resamples, width, least=max(ROWS, TABLES // width)):
            if kinds is not None:
                parts = _parts(kinds, columns[:, 0], resamples=size, rng=rng)
            else:
                assert groups is not None
                parts = _grouped_parts(groups, columns[:, 0], resamples=size, rng=rng)
            tables = _tables(columns, parts, classes=classes, resamples=size)
            values.append([function.of(tables, code).T for function, code in functions])
        return np.concatenate(values, axis=2)

    return _deduplicated(draws, systems)


def number_draws(
    functions: Sequence[NumberMetric], systems: Sequence[Pairs], *, resamples: int, rng: np.random.Generator
) -> Floats:
    """Correlations, shape (metrics, systems, resamples)."""

    def draws(distinct: Sequence[Pairs]) -> Floats:
        gold, answers = distinct[0].gold.numbers, [pairs.predicted.numbers for pairs in distinct]
        measures = [JOINT[function.name](gold, answers) for function in functions]
        groups = group_numbers(distinct[0])
        units = len(gold) if groups is None else int(groups.max()) + 1
        values = []
        for size in blocks(resamples, len(gold), least=128):
            weights = unit_weights(units, resamples=size, rng=rng).T.astype(np.float64)
            weights = weights if groups is None else weights[groups]
            values.append([measure(weights) for measure in measures])
        return np.concatenate(values, axis=2)

    return _deduplicated(draws, systems)


def _deduplicated(draws: Callable[[Sequence[Pairs]], Floats], systems: Sequence[Pairs]) -> Floats:
    """Draw for the distinct systems in a fixed order, and return the results in the order of `systems`."""
    keys = [sort_key(pairs.predicted) for pairs in systems]
    by_key = dict(zip(keys, systems, strict=True))
    place = {key: at for at, key in enumerate(sorted(by_key))}
    return draws([by_key[key] for key in place])[:, [place[key] for key in keys]]


class _Part(NamedTuple):
    """Examples with the same gold label, and their counts in the resamples."""

    rows: Ints
    """A representative example of each kind, shape (k,)."""
    totals: Floats
    """Total count of all the examples in each resample, shape (resamples,)."""
    weights: Iterator[Weights]
    """Counts of the kinds in consecutive blocks of resamples, shape (block, k)."""


class _Kinds(NamedTuple):
    """Examples by kind; a kind is a combination of a gold label and the answers of all systems."""

    frequent: Ints
    """An example of each frequent kind, shape (f,)."""
    counts: Ints
    """Number of examples of each frequent kind, shape (f,)."""
    rest: Ints
    """All other examples, shape (r,)."""


def _tables(columns: Codes, parts: Iterator[_Part], *, classes: int, resamples: int) -> Floats:
    """Confusion tables, shape (gold, predicted, resamples, systems); `columns` has shape (n, 1 + systems)."""
    systems = columns.shape[1] - 1
    tables = np.zeros((classes, classes, resamples, systems))
    width = (classes - 1) * systems
    half = (width + 1) // 2
    for part in parts:
        of_gold = tables[columns[part.rows[0], 0]]
        of_gold[0] += part.totals[:, np.newaxis]
        answers = columns[part.rows, 1:]
        answered = np.concatenate([answers == code for code in range(1, classes)], axis=1)
        packs = part.totals.max() < PACKED
        operand = answered[:, : half if packs else width].astype(np.float32)
        if packs:  # two binary columns in one float; all sums are exact
            operand[:, : width - half] += answered[:, half:] * np.float32(PACKED)
        start = 0
        for weights in part.weights:
            sums = weights @ operand
            if packs:
                both = sums.astype(np.int32)
                sums = np.concatenate([both & (PACKED - 1), both >> 12], axis=1)[:, :width]
            here = slice(start, start := start + len(weights))
            of_gold[1:, here] += sums.reshape(-1, classes - 1, systems).swapaxes(0, 1)
    tables[:, 0] -= tables[:, 1:].sum(axis=1)
    return tables


def _kinds(columns: Codes) -> _Kinds:
    """Group the rows of (n, 1 + systems) codes by kind.

    Rows are grouped by a 64-bit hash and then compared; a row that differs from the others of its hash is
    drawn separately.
    """
    words = np.zeros((len(columns), -(-columns.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : columns.shape[1]] = columns
    factors = np.random.default_rng(0).integers(1, 1 << 63, size=words.shape[1], dtype=np.uint64)
    keys = words @ (factors | np.uint64(1))
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    counts = np.diff(starts, append=len(order))
    first = np.repeat(order[starts], counts)
    many = np.repeat(counts >= FREQUENT, counts)
    many[many] = (columns[order[many]] == columns[first[many]]).all(axis=1)
    kind, sizes = np.unique(np.repeat(np.arange(len(starts)), counts)[many], return_counts=True)
    return _Kinds(order[starts[kind]], sizes, np.sort(order[~many]))


def _parts(kinds: _Kinds, gold: Codes, *, resamples: int, rng: np.random.Generator) -> Iterator[_Part]:
    """Draw n examples with replacement; for a frequent kind, draw only its count."""
    counts = np.append(kinds.counts, len(kinds.rest))
    drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=resamples)
    for at in _cut(np.arange(len(kinds.frequent)), gold[kinds.frequent], size=len(gold)):
        weights = drawn[:, at].astype(np.float32)
        yield _Part(kinds.frequent[at], drawn[:, at].sum(axis=1).astype(np.float64), iter([weights]))
    parts = list(_cut(kinds.rest, gold[kinds.rest], size=PART))
    if not parts:
        return
    sizes = np.array([len(rows) for rows in parts])
    totals = rng.multinomial(drawn[:, -1], sizes / sizes.sum()).astype(np.float64)
    for rows, total in zip(parts, totals.T, strict=True):
        yield _Part(rows, total, uniform_weights(len(rows), total, rng))


def _grouped_parts(groups: Ints, gold: Codes, *, resamples: int, rng: np.random.Generator) -> Iterator[_Part]:
    """Draw all groups with replacement; the count of an example is that of its group."""
    by_group = unit_weights(int(groups.max()) + 1, resamples=resamples, rng=rng).astype(np.float32)
    for rows in _cut(np.arange(len(gold)), gold, size=PART // 8):
        weights = by_group[:, groups[rows]]
        yield _Part(rows, weights.sum(axis=1, dtype=np.float64), iter([weights]))


def _cut(rows: Ints, gold: Codes, *, size: int) -> Iterator[Ints]:
    """Yield the rows by gold label, at most `size` at a time."""
    for label in np.unique(gold):
        of_label = rows[gold == label]
        for start in range(0, len(of_label), size):
            yield of_label[start : start + size]


def uniform_weights(size: int, totals: Floats, rng: np.random.Generator) -> Iterator[Weights]:
    """Yield counts of each of `size` examples in `totals` uniform draws, in blocks of shape (block, size).

    Independent Poisson counts with a given total are multinomial, and so is the sum of two multinomials. If
    the counts of a row fall short of its total, the rest is drawn one by one; if they exceed it, a random
    part of them is kept. The array of a block is overwritten by the next block.
    """
    poisson = PoissonTable(max(0.0, 1.0 - SLACK / sqrt(size)))
    ones, buffer = np.ones(size, np.float32), np.empty((ROWS, size), np.float32)
    for start in range(0, len(totals), ROWS):
        due = totals[start : start + ROWS]
        weights = buffer[: len(due)]
        weights[:] = poisson.draw(weights.size, rng).reshape(weights.shape)
        lacking = (due - weights @ ones).astype(np.int64)
        for row in np.flatnonzero(lacking < 0):
            counts = weights[row].astype(np.int64)
            weights[row] = rng.multivariate_hypergeometric(counts, int(due[row]), method="count")
        lacking = np.maximum(lacking, 0)
        added = rng.integers(0, size, size=int(lacking.sum()))
        added += np.repeat(np.arange(len(due)) * size, lacking)
        np.add.at(weights.reshape(-1), added, np.float32(1))
        yield weights


class PoissonTable:
    """Poisson counts from one random byte each.

    A byte gives a count with probabilities in 256ths, close to Poisson's. With small probability, the count
    is replaced by one from the distribution of the difference, so that the mixture is exactly Poisson.
    """

    def __init__(self, rate: float) -> None:
        chances = np.array([exp(-rate) * rate**count / factorial(count) for count in range(40)])
        shares = np.floor(256 * chances)
        while shares.sum() < 256:  # where the relative increase is smallest
            shares[np.argmax(chances / (shares + 1))] += 1
        self.edges = np.cumsum(shares)[: int(np.flatnonzero(shares)[-1])].astype(np.uint8)
        """Bytes from edge k - 1 up to edge k give count k."""
        keep = min(1.0, float((chances[shares > 0] * 256 / shares[shares > 0]).min()))
        rest = np.cumsum(np.maximum(chances - keep * shares / 256, 0.0))
        self.replaced = -log(keep)
        """Expected number of replacements of a count (Poisson); the last one counts."""
        self.rest = rest[:-1] / rest[-1] if rest[-1] > 0 else rest[:0]
        """Cumulative probabilities of the replacement counts."""

    def draw(self, size: int, rng: np.random.Generator) -> Codes:
        """Draw counts, shape (size,)."""
        drawn = rng.integers(0, 1 << 64, size=-(-size // 8), dtype=np.uint64).view(np.uint8)[:size]
        counts, above = np.zeros(size, np.uint8), np.empty(size, np.bool_)
        for edge in self.edges:
            counts += np.greater_equal(drawn, edge, out=above).view(np.uint8)
        replaced = rng.integers(0, size, size=rng.poisson(size * self.replaced))
        counts[replaced] = np.searchsorted(self.rest, rng.random(len(replaced)), side="right")
        return counts
