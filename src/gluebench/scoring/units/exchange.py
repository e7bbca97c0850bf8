"""The exchange of two systems' answers in random units (Noreen 1989)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics import CountMetric, NumberMetric
from gluebench.scoring.numeric import Floats, Ints
from gluebench.scoring.pairs import Pairs

LINEAR_FROM = 200
"""Units from which the exchange is linear (docs/explanation/differences.md)."""
MOST_CELLS = 1 << 10
"""Cells of the confusion tables of all kinds of units up to which each exchange is counted again."""
AT_ONCE = 1 << 17
"""Numbers in memory at once: 1 MiB of them fits the processor's cache."""
EXACT = 2.0**53
"""Up to here a float holds each integer."""
COINS = 64
"""Fair coins that are the bits of one random integer."""


class Exchange(NamedTuple):
    """Differences of two systems: the observed one, then those after random exchanges of answers.

    Both arrays have shape (scores, 1 + resamples). Scores are the metrics and, if several, their mean.
    """

    differences: Floats
    errors: Floats
    """The standard error of each of these differences."""


def blocks(resamples: int, width: int) -> Iterator[int]:
    """Yield sizes of blocks of resamples, with `width` numbers for each resample."""
    size = max(1, AT_ONCE // max(width, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def flips(
    contributions: Floats, shares: Floats, counts: Ints, *, resamples: int, rng: np.random.Generator
) -> Exchange:
    """Flip the signs of the units' contributions to the differences, each with probability 1/2.

    Contributions have shape (scores, kinds). The error around each sum is computed from the units'
    deviations from their shares of the examples.
    """
    size = int(counts.sum())
    weighted = np.hstack([contributions.T, (contributions * shares).T])
    squares = (contributions**2 @ counts)[:, np.newaxis]  # signs do not change it
    square_shares = float(shares**2 @ counts)

    def exchange(sums: Floats) -> Exchange:
        """`sums`, shape (2 scores, flips), has the differences, then their sums weighted by share."""
        differences, cross = np.split(sums, 2)
        around = np.maximum(squares - 2 * differences * cross + differences**2 * square_shares, 0.0)
        return Exchange(differences, np.sqrt(around * size / max(size - 1, 1)))

    observed = counts @ weighted
    exchanges = [exchange(observed[:, np.newaxis])]
    for block in blocks(resamples, len(counts)):
        heads = fair_binomials(counts, block, rng).astype(np.float64)
        exchanges.append(exchange((observed - 2 * (heads @ weighted)).T))
    return join_blocks(exchanges)


def fair_binomials(counts: Ints, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Heads among `counts` fair coins, shape (size, kinds); few coins are bits of one random integer."""
    few = counts <= COINS
    if (counts == 1).all():
        return rng.integers(0, 2, size=(size, len(counts)), dtype=np.int8)
    masks = np.uint64(2**64 - 1) >> (64 - counts[few]).astype(np.uint64)
    bits = rng.integers(0, 2**64, size=(size, int(few.sum())), dtype=np.uint64)
    heads_of_few = np.bitwise_count(bits & masks)
    if few.all():
        return heads_of_few
    heads = np.empty((size, len(counts)))
    heads[:, few] = heads_of_few
    heads[:, ~few] = rng.binomial(counts[~few], 0.5, size=(size, int((~few).sum())))
    return heads


def join_blocks(exchanges: Sequence[Exchange]) -> Exchange:
    """Join several blocks of exchanges."""
    differences = np.concatenate([block.differences for block in exchanges], axis=1)
    errors = np.concatenate([block.errors for block in exchanges], axis=1)
    return Exchange(differences, errors)


def with_mean(scores: Floats) -> Floats:
    """The scores, shape (scores, ...), followed by their mean if there are several."""
    if len(scores) == 1:
        return scores
    return np.concatenate([scores, scores.mean(axis=0, keepdims=True)])


@dataclass(frozen=True)
class CountTables:
    """Confusion tables of one unit of each kind, of two systems, and the formulas over them."""

    formulas: Sequence[tuple[CountMetric, int]]
    """The metrics, with the codes of their positive labels."""
    a: Floats
    """Of the first system, shape (gold, predicted, kinds)."""
    b: Floats
    counts: Ints
    """Number of units of each kind."""
    shares: Floats
    """The share of the examples that one unit of each kind has."""

    @property
    def is_small(self) -> bool:
        """Whether the values can be computed again for each exchange and unit."""
        return self.a.size <= MOST_CELLS

    @cached_property
    def singles(self) -> tuple[Floats, Ints, Ints]:
        """The tables of no unit and of single ones, each once; and which each kind has in either system."""
        nothing = np.zeros_like(self.a[:, :, :1])
        tables = np.concatenate([nothing, self.a, self.b], axis=2)
        numbers_by_table: dict[bytes, int] = {}
        first: list[int] = []  # where each different table stands first
        numbers: list[int] = []
        for position, table in enumerate(tables.reshape(-1, tables.shape[2]).T):
            number = numbers_by_table.setdefault(table.tobytes(), len(numbers_by_table))
            if number == len(first):
                first.append(position)
            numbers.append(number)
        of_a, of_b = np.split(np.array(numbers[1:]), 2)
        return tables[:, :, first], of_a, of_b

    def different_exchanges(self, heads: Floats) -> tuple[Ints, Ints, Floats]:
        """The first of each different exchange, which of these each of `heads` is, and in which direction.

        Exchanges differ by the units that the two systems answer differently. Exchanging all the others
        instead is the opposite, direction -1: the same error, and the difference with the other sign. Up to
        2 ** 53 exchanges are numbered exactly.
        """
        differs = (self.a != self.b).any(axis=(0, 1))
        weights = np.cumprod(np.append(1.0, np.where(differs, self.counts + 1.0, 1.0)))
        if weights[-1] > EXACT:
            every = np.arange(len(heads))
            return every, every, np.ones(len(heads))
        weights = weights[:-1] * differs
        numbers = heads @ weights
        opposite = self.counts @ weights - numbers
        directions = np.where(numbers > opposite, -1.0, 1.0)
        # Integers of two bytes are sorted faster.
        lower = np.minimum(numbers, opposite)
        lower = lower.astype(np.min_scalar_type(int(lower.max())))
        _, first, places = np.unique(lower, return_index=True, return_inverse=True)
        return first, places, directions * directions[first][places]

    def count_again(self, heads: Floats) -> Exchange:
        """Count again after exchanges of so many units of each kind, shape (exchanges, kinds)."""
        # The exchanges are the last axis of the tables, so that numpy's inner loops are long. Sums of counts
        # are exact in any order, so that one product of flat tables may stand for those of all cells.
        classes = len(self.a)
        change = (self.b - self.a).reshape(classes**2, -1) @ heads.T
        change = change.reshape(classes, classes, -1)
        one = (self.a @ self.counts)[:, :, np.newaxis] + change
        other = (self.b @ self.counts)[:, :, np.newaxis] - change
        both = np.stack([one, other], axis=2)
        units, of_a, of_b = self.singles
        # Of all units, and of all without one of each: shape (gold, predicted, 2, 1 + units, exchanges).
        tables = np.repeat(both[:, :, :, np.newaxis], units.shape[2], axis=3)
        gold, predicted, unit = np.nonzero(units)
        without = both[gold, predicted] - units[gold, predicted, unit][:, np.newaxis, np.newaxis]
        # Cells stay at least 0 where no such unit is left; these count 0 times.
        tables[gold, predicted, :, unit] = np.maximum(without, 0.0)
        differences: list[Floats] = []
        added: list[Floats] = []
        for function, code in self.formulas:
            first, second = function.of(tables, code)
            difference = first[0] - second[0]
            # What a unit that kept its answers, and one that exchanged them, adds to the difference.
            without_same = first[of_a] - second[of_b]
            without_exchanged = first[of_b] - second[of_a]
            differences.append(difference)
            added.append(difference - np.stack([without_same, without_exchanged]))
        # Shape (scores, 2, exchanges, kinds).
        changes = with_mean(np.ascontiguousarray(np.array(added).swapaxes(2, 3)) * (1 - self.shares))
        numbers = np.stack([self.counts - heads, heads])
        total = (changes * numbers).sum(axis=(1, 3), keepdims=True)
        squares = ((changes - total * self.shares) ** 2 * numbers).sum(axis=(1, 3))
        size = int(self.counts.sum())
        return Exchange(with_mean(np.array(differences)), np.sqrt(squares * size / max(size - 1, 1)))


def exchange_tables(tables: CountTables, *, resamples: int, rng: np.random.Generator) -> Exchange:
    """Exchange answers and count again: values and influences are those of the exchanged answers."""
    heads = np.zeros((1 + resamples, len(tables.counts)))  # first of no exchange
    heads[1:] = fair_binomials(tables.counts, resamples, rng)
    # Few units differ, so that the same exchange is often drawn again. It is counted once.
    first, number_among_different, directions = tables.different_exchanges(heads)
    different = heads[first]
    blocks_of_heads = np.array_split(different, max(1, tables.a.size * len(different) // AT_ONCE))
    exchange = join_blocks([tables.count_again(block) for block in blocks_of_heads])
    differences = exchange.differences[:, number_among_different] * directions
    return Exchange(differences, exchange.errors[:, number_among_different])


class NumberColumns(NamedTuple):
    """Gold, shape (1, n), and the systems' answers, shape (systems, n), prepared for a correlation."""

    function: NumberMetric
    gold: NDArray[Any]
    answers: NDArray[Any]


def exchange_numbers(columns: Sequence[NumberColumns], pairs: Pairs, coins: NDArray[np.bool_]) -> Exchange:
    """The exchange of the first two systems, computed again where coins, shape (exchanges, n), are heads."""
    scale = np.sqrt(pairs.size / max(pairs.size - 1, 1)) / len(pairs)
    exchanges = []
    for block in np.array_split(coins, max(1, coins.size // AT_ONCE)):
        differences = []
        influences = []
        for column in columns:
            a, b = column.answers[:2]
            one = column.function.evaluated(column.gold, np.where(block, b, a))
            other = column.function.evaluated(column.gold, np.where(block, a, b))
            differences.append(one.values - other.values)
            influences.append(pairs.by_unit((one.influence - other.influence).T))
        squares = (with_mean(np.array(influences)) ** 2).sum(axis=1)
        exchanges.append(Exchange(with_mean(np.array(differences)), np.sqrt(squares) * scale))
    return join_blocks(exchanges)
