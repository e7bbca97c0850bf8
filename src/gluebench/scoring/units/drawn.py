"""Every metric of many systems on the same resamples: units drawn with replacement, exactly multinomial.

The numbers depend neither on the order of the systems nor on one that is there twice.
docs/explanation/differences.md says how the draws are made and why they are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, factorial, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics import CountMetric, NumberMetric
from gluebench.scoring.metrics.weighted import JOINT
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.base import Floats, Ints, blocks, group_numbers, unit_weights

Codes = NDArray[np.uint8]
Weights = NDArray[np.float32]

FREQUENT = 64
"""Examples of one kind from which on one binomial draw is cheaper than a draw for each."""
PART = 3072
"""Examples whose weights are drawn together."""
ROWS = 128
"""Resamples of a part that are drawn at once: all that is touched stays in the cache."""
TABLES = 1 << 22
"""Cells of the confusion tables that are held at once."""
PACKED = 1 << 12
"""Counts below this fit twice into the 24 bits that a float32 has exact."""
SLACK = 3.0
"""How far the expected Poisson total of a part stays below its size, in square roots of the size."""


def label_draws(
    functions: Sequence[tuple[CountMetric, int]],
    systems: Sequence[Pairs],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """(metrics, systems, resamples): metrics of confusion tables; each function has its positive code."""

    def draws(distinct: Sequence[Pairs]) -> Floats:
        gold, classes = np.frombuffer(distinct[0].gold.codes, np.uint8), len(distinct[0].gold.labels)
        columns = np.array([gold, *(np.frombuffer(pairs.predicted.codes, np.uint8) for pairs in distinct)])
        if all(function.proportion for function, _ in functions):
            # The share of right answers is the accuracy of "right" against gold that says so throughout.
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

    return _each_once(draws, systems)


def number_draws(
    functions: Sequence[NumberMetric], systems: Sequence[Pairs], *, resamples: int, rng: np.random.Generator
) -> Floats:
    """(metrics, systems, resamples): correlations."""

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

    return _each_once(draws, systems)


def _each_once(draws: Callable[[Sequence[Pairs]], Floats], systems: Sequence[Pairs]) -> Floats:
    """The draws of the distinct systems in a fixed order, then put in the order of `systems`."""
    keys = [bytes(pairs.predicted.values) for pairs in systems]
    by_key = dict(zip(keys, systems, strict=True))
    place = {key: at for at, key in enumerate(sorted(by_key))}
    return draws([by_key[key] for key in place])[:, [place[key] for key in keys]]


class _Part(NamedTuple):
    """Some of the examples, all with one gold label, and how often each comes up in the resamples."""

    rows: Ints
    """(k,): an example that stands for each kind."""
    totals: Floats
    """(resamples,): how often all of them together come up."""
    weights: Iterator[Weights]
    """Blocks of (block, k), one after the other."""


class _Kinds(NamedTuple):
    """The examples of a file; those that all systems answer alike, under one gold label, are of one kind."""

    frequent: Ints
    """(f,): an example of each frequent kind."""
    counts: Ints
    """(f,): how many there are of it."""
    rest: Ints
    """(r,): all other examples."""


def _tables(columns: Codes, parts: Iterator[_Part], *, classes: int, resamples: int) -> Floats:
    """(gold, predicted, resamples, systems): the confusion tables; `columns` are (n, 1 + systems) codes."""
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
        if packs:  # two columns of 0 and 1 in one; all sums are exact
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
    """The kinds among the rows of (n, 1 + systems) codes.

    Their keys are 64-bit sums of products. Rows of one key are then compared: one that differs from its kind
    is drawn by itself.
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
    """As many examples as there are, drawn one by one; of a frequent kind only their number is drawn."""
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
    """As many groups as there are; every example comes up as often as its group."""
    by_group = unit_weights(int(groups.max()) + 1, resamples=resamples, rng=rng).astype(np.float32)
    for rows in _cut(np.arange(len(gold)), gold, size=PART // 8):
        weights = by_group[:, groups[rows]]
        yield _Part(rows, weights.sum(axis=1, dtype=np.float64), iter([weights]))


def _cut(rows: Ints, gold: Codes, *, size: int) -> Iterator[Ints]:
    """The rows by their gold label, at most `size` at a time."""
    for label in np.unique(gold):
        of_label = rows[gold == label]
        for start in range(0, len(of_label), size):
            yield of_label[start : start + size]


def uniform_weights(size: int, totals: Floats, rng: np.random.Generator) -> Iterator[Weights]:
    """Blocks of (block, size): how often each of `size` examples comes up in `totals` uniform draws.

    Independent Poisson counts with a given total are multinomial, and so is the sum of two multinomials: what
    a row of counts lacks of its total is drawn one by one. Where it has too much, a random part of its draws
    is kept. A block is overwritten by the next.
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

    A byte gives a count with chances that are 256ths and close to Poisson's. A count is then replaced with a
    small chance, by one from the distribution that makes up the difference: the mixture is Poisson's own.
    """

    def __init__(self, rate: float) -> None:
        chances = np.array([exp(-rate) * rate**count / factorial(count) for count in range(40)])
        shares = np.floor(256 * chances)
        while shares.sum() < 256:  # where it raises a chance least
            shares[np.argmax(chances / (shares + 1))] += 1
        self.edges = np.cumsum(shares)[: int(np.flatnonzero(shares)[-1])].astype(np.uint8)
        """Count k stands for bytes from edge k - 1 on."""
        keep = min(1.0, float((chances[shares > 0] * 256 / shares[shares > 0]).min()))
        rest = np.cumsum(np.maximum(chances - keep * shares / 256, 0.0))
        self.replaced = -log(keep)
        """Expected replacements of one count: a Poisson number of them, of which the last one holds."""
        self.rest = rest[:-1] / rest[-1] if rest[-1] > 0 else rest[:0]
        """Cumulative chances of the counts that replace others."""

    def draw(self, size: int, rng: np.random.Generator) -> Codes:
        """(size,) counts."""
        drawn = rng.integers(0, 1 << 64, size=-(-size // 8), dtype=np.uint64).view(np.uint8)[:size]
        counts, above = np.zeros(size, np.uint8), np.empty(size, np.bool_)
        for edge in self.edges:
            counts += np.greater_equal(drawn, edge, out=above).view(np.uint8)
        replaced = rng.integers(0, size, size=rng.poisson(size * self.replaced))
        counts[replaced] = np.searchsorted(self.rest, rng.random(len(replaced)), side="right")
        return counts
