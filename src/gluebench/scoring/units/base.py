"""What the inference of scoring and analysis asks of a test file, whatever its columns hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
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
"""Numbers held at a time: a mebibyte of them stays in the processor's cache."""


class Exchange(NamedTuple):
    """The difference of two systems, first observed, then after random exchanges of their answers.

    Both arrays are (scores, 1 + resamples). The scores are the metrics and, for several, their mean.
    """

    differences: Floats
    errors: Floats
    """The standard error of each of these differences."""


class Units(ABC):
    """Answers of k systems to one test file; the units are examples or, where gold has them, groups.

    Units that contribute alike are of one kind, so that the cost need not grow with the test file.
    """

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        self.metrics, self.systems = metrics, systems
        self.examples = len(systems[0])
        self.units = group_numbers(systems[0])
        """(n,): the unit of each example; None where each example is a unit."""

    @property
    @abstractmethod
    def counts(self) -> Ints:
        """(kinds,): units of each kind."""

    @property
    def size(self) -> int:
        """The number of units."""
        return int(self.counts.sum())

    def values(self) -> Floats:
        """(metrics, systems): the value of each metric."""
        return np.array([[point(metric, pairs).value for pairs in self.systems] for metric in self.metrics])

    @abstractmethod
    def left_out(self) -> Floats:
        """(metrics, systems, kinds): the value of each metric without one unit of that kind."""

    @abstractmethod
    def sparse(self, metric: int, system: int) -> bool:
        """Whether the units are too few for an interval of that metric (docs/explanation/intervals.md)."""

    @abstractmethod
    def few(self, metric: int) -> bool:
        """Whether the gold has too few units for an interval of a difference in that metric."""

    def apart(self) -> int:
        """Units that the first two systems answer differently."""
        kind = np.uint8 if self.systems[0].gold.labels else np.float64
        a, b = (np.frombuffer(pairs.predicted.values, kind) for pairs in self.systems[:2])
        return int((a != b).sum()) if self.units is None else len(np.unique(self.units[a != b]))

    @abstractmethod
    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Exchange the answers of the first two systems in random units."""

    @abstractmethod
    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """(metrics, systems, resamples): metrics of units drawn with replacement, alike for all systems."""

    def _exchange_of(self, differences: Sequence[Floats], squares: Sequence[Floats]) -> Exchange:
        """From the metrics' differences, and of each score the sum over units of squared influences."""
        scale = np.sqrt(self.size / max(self.size - 1, 1)) / self.examples
        return Exchange(np.array(with_mean(differences)), np.sqrt(np.maximum(squares, 0.0)) * scale)


def generator(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one test file: no other file's presence changes them."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(name.encode())]))


def blocks(resamples: int, width: int, *, least: int = 1) -> Iterator[int]:
    """Sizes of the blocks that the resamples are drawn in, `width` numbers for each."""
    size = max(least, AT_ONCE // max(width, 1))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def unit_weights(units: int, *, resamples: int, rng: np.random.Generator) -> Ints:
    """(resamples, units): how often each of `units` comes up when as many are drawn, one by one."""
    drawn = rng.integers(0, units, size=(resamples, units))
    drawn += np.arange(resamples)[:, np.newaxis] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)


def group_numbers(pairs: Pairs) -> Ints | None:
    """(n,): the group of each example, numbered from 0 without gaps; None where examples stand alone."""
    return None if pairs.groups is None else np.unique(np.asarray(pairs.groups), return_inverse=True)[1]


def flips(units: Floats, sizes: Floats, *, resamples: int, rng: np.random.Generator) -> Exchange:
    """The exchange by its linear approximation: a unit's contribution to the difference changes its sign.

    `units` are (scores, units): pseudo-values over the number of examples, which add up to the difference;
    `sizes` are the units' shares of the examples. From 200 units on this is the exchange itself
    to within its own noise (docs/explanation/differences.md).
    """
    number = units.shape[1]
    weighted = np.hstack([units.T, (units * sizes).T])
    squares = (units * units).sum(axis=1, keepdims=True)  # signs do not change it

    def exchange(sums: Floats) -> Exchange:
        """From (2 scores, flips): the differences, then their sums weighted by size."""
        differences, cross = np.split(sums, 2)
        around = np.maximum(squares - 2 * differences * cross + differences**2 * float(sizes @ sizes), 0.0)
        return Exchange(differences, np.sqrt(around * number / max(number - 1, 1)))

    exchanges = [exchange(weighted.sum(axis=0)[:, np.newaxis])]
    for block in blocks(resamples, number):
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(block, number), dtype=np.int8)
        exchanges.append(exchange((signs @ weighted).T))
    return joined(exchanges)


def joined(exchanges: Sequence[Exchange]) -> Exchange:
    """Several blocks of exchanges as one."""
    differences, errors = zip(*exchanges, strict=True)
    return Exchange(np.concatenate(differences, axis=1), np.concatenate(errors, axis=1))


def with_mean(scores: Sequence[Floats]) -> list[Floats]:
    """The scores and, where there are several, their mean."""
    return [*scores, sum(scores[1:], scores[0]) / len(scores)] if len(scores) > 1 else list(scores)
