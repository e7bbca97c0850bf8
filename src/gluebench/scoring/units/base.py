"""The interface between statistical inference and the columns of a test file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from operator import ne
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import point
from gluebench.scoring.pairs import Pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 1 << 17
"""Numbers in memory at once: 1 MiB of them fits the processor's cache."""


class Exchange(NamedTuple):
    """Differences of two systems: the observed one, then those after random exchanges of answers.

    Both arrays have shape (scores, 1 + resamples). Scores are the metrics and, if several, their mean.
    """

    differences: Floats
    errors: Floats
    """The standard error of each of these differences."""


class Units(ABC):
    """Answers of systems to one test file; units are examples or, if the gold has them, groups.

    Units with equal contributions are of one kind, so that the cost need not grow with the test file.
    """

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        self.metrics, self.systems = metrics, systems
        self.examples = len(systems[0])
        self.units = group_numbers(systems[0])
        """The unit of each example, shape (n,); None if each example is a unit."""

    @property
    @abstractmethod
    def counts(self) -> Ints:
        """Number of units of each kind, shape (kinds,)."""

    @property
    def size(self) -> int:
        """The number of units."""
        return int(self.counts.sum())

    def values(self) -> Floats:
        """Values of the metrics, shape (metrics, systems)."""
        return np.array([[point(metric, pairs).value for pairs in self.systems] for metric in self.metrics])

    @abstractmethod
    def left_out(self) -> Floats:
        """Values of the metrics without one unit of each kind, shape (metrics, systems, kinds)."""

    @abstractmethod
    def sparse(self, metric: int, system: int) -> bool:
        """Whether the units are too few for an interval of that metric (docs/explanation/intervals.md)."""

    @abstractmethod
    def few(self, metric: int) -> bool:
        """Whether the gold has too few units for an interval of a difference in that metric."""

    def apart(self) -> int:
        """Number of units that the first two systems answer differently."""
        a, b = (pairs.predicted.values for pairs in self.systems[:2])
        differs = np.fromiter(map(ne, a, b), np.bool_, self.examples)
        return int(differs.sum()) if self.units is None else len(np.unique(self.units[differs]))

    @abstractmethod
    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Exchange the answers of the first two systems in random units."""

    @abstractmethod
    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Metrics on units drawn with replacement (the same for all), shape (metrics, systems, resamples)."""

    def weighted(self, weights: Ints) -> Floats:
        """Metrics with each unit so often, shape (metrics, systems, draws); `weights` is (draws, units)."""
        values = np.empty((len(self.metrics), len(self.systems), len(weights)))
        for at, own in enumerate(weights):
            rows = np.repeat(np.arange(self.examples), own if self.units is None else own[self.units])
            for system, pairs in enumerate(self.systems):
                drawn = pairs.subset(rows.tolist())
                values[:, system, at] = [point(metric, drawn).value for metric in self.metrics]
        return values

    def halves(self, splits: int, rng: np.random.Generator) -> Floats:
        """Metrics on random halves of the units and on the rest, shape (2, metrics, systems, splits)."""
        half, values = np.arange(self.size) < self.size // 2, []
        for size in blocks(splits, self.size):
            sides = rng.permuted(np.tile(half, (size, 1)), axis=1).astype(np.int64)
            values.append([self.weighted(sides), self.weighted(1 - sides)])
        return np.concatenate(values, axis=3)

    def _exchange_of(self, differences: Sequence[Floats], squares: Sequence[Floats]) -> Exchange:
        """The exchange from the metrics' differences and each score's sum of squared influences."""
        scale = np.sqrt(self.size / max(self.size - 1, 1)) / self.examples
        return Exchange(np.array(with_mean(differences)), np.sqrt(np.maximum(squares, 0.0)) * scale)


def generator(seed: int, name: str) -> np.random.Generator:
    """A random generator for one test file, independent of the other files."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(name.encode())]))


def blocks(resamples: int, width: int, *, least: int = 1) -> Iterator[int]:
    """Yield sizes of blocks of resamples, with `width` numbers for each resample."""
    size = max(least, AT_ONCE // max(width, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def unit_weights(units: int, *, resamples: int, rng: np.random.Generator) -> Ints:
    """Counts of each unit when all are drawn with replacement, shape (resamples, units)."""
    drawn = rng.integers(0, units, size=(resamples, units))
    drawn += np.arange(resamples)[:, np.newaxis] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)


def group_numbers(pairs: Pairs) -> Ints | None:
    """The group of each example, numbered from 0 without gaps, shape (n,); None without groups."""
    return None if pairs.groups is None else np.unique(np.asarray(pairs.groups), return_inverse=True)[1]


def flips(units: Floats, sizes: Floats, *, resamples: int, rng: np.random.Generator) -> Exchange:
    """Approximate the exchange linearly: flip the signs of the units' contributions to the difference.

    `units`, shape (scores, units), has pseudo-values over the number of examples, which sum to the
    difference; `sizes` are the units' shares of the examples. From 200 units, the error is smaller than the
    noise of the exchange (docs/explanation/differences.md).
    """
    number = units.shape[1]
    weighted = np.hstack([units.T, (units * sizes).T])
    squares = (units * units).sum(axis=1, keepdims=True)  # signs do not change it

    def exchange(sums: Floats) -> Exchange:
        """`sums`, shape (2 scores, flips), has the differences, then their sums weighted by size."""
        differences, cross = np.split(sums, 2)
        around = np.maximum(squares - 2 * differences * cross + differences**2 * float(sizes @ sizes), 0.0)
        return Exchange(differences, np.sqrt(around * number / max(number - 1, 1)))

    exchanges = [exchange(weighted.sum(axis=0)[:, np.newaxis])]
    for block in blocks(resamples, number):
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(block, number), dtype=np.int8)
        exchanges.append(exchange((signs @ weighted).T))
    return joined(exchanges)


def joined(exchanges: Sequence[Exchange]) -> Exchange:
    """Join several blocks of exchanges."""
    differences, errors = zip(*exchanges, strict=True)
    return Exchange(np.concatenate(differences, axis=1), np.concatenate(errors, axis=1))


def with_mean(scores: Sequence[Floats]) -> list[Floats]:
    """The scores, followed by their mean if there are several."""
    return [*scores, sum(scores[1:], scores[0]) / len(scores)] if len(scores) > 1 else list(scores)
