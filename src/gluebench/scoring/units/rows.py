"""Any columns, for metrics of which nothing is known but that they can be called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.base import (
    Exchange,
    Floats,
    Ints,
    Units,
    flips,
    group_numbers,
    unit_weights,
    with_mean,
)
from gluebench.scoring.units.numbers import FEWEST_NUMBERS

MOST_UNITS = 200
"""Units above which several are taken together, so that a metric is called no more often than this."""


class RowUnits(Units):
    """Answers of any form; each value comes from calling the metric on some of the rows."""

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        super().__init__(metrics, systems)
        groups = group_numbers(systems[0])
        units = np.arange(self.examples) if groups is None else groups
        number = int(units.max()) + 1
        if number > MOST_UNITS:  # dealt at random, so that no block has neighbors only
            units = np.random.default_rng(0).permutation(number)[units] % MOST_UNITS
        self.units = units
        self.sizes = np.bincount(units)

    @property
    def counts(self) -> Ints:
        """(units,): every unit is of its own kind."""
        return np.ones(len(self.sizes), np.int64)

    @cached_property
    def _left_out(self) -> Floats:
        left_out = np.empty((len(self.metrics), len(self.systems), len(self.sizes)))
        for unit in range(len(self.sizes)):
            rows = np.flatnonzero(self.units != unit).tolist()
            for at, pairs in enumerate(self.systems):
                remaining = pairs.subset(rows)
                left_out[:, at, unit] = [point(metric, remaining).value for metric in self.metrics]
        return left_out

    def left_out(self) -> Floats:
        """(metrics, systems, units): the value of each metric without that unit."""
        return self._left_out

    def sparse(self, metric: int, system: int) -> bool:
        """Whether there are fewer than 25 units."""
        return self.few(metric)

    def few(self, metric: int) -> bool:
        """The same: no system's answers make a difference to that."""
        return self.size < FEWEST_NUMBERS

    def apart(self) -> int:
        """Units that the first two systems answer differently."""
        a, b = (np.frombuffer(pairs.predicted.values, np.uint8 if pairs.gold.labels else np.float64)
                for pairs in self.systems[:2])  # fmt: skip
        return len(np.unique(self.units[a != b]))

    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """The exchange by its linear approximation, from the jackknife's pseudo-values."""
        values, shares = self.values(), self.sizes / self.examples
        lost = values[:, :, np.newaxis] - self.left_out()
        change = (lost - lost.mean(axis=2, keepdims=True)) * (1 - shares)
        units = [
            a - b + (of_a - of_b) * shares
            for (a, b), (of_a, of_b) in zip(change[:, :2], values[:, :2], strict=True)
        ]
        return flips(np.array(with_mean(units)), shares, resamples=resamples, rng=rng)

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """(metrics, systems, resamples): every metric on units drawn with replacement."""
        order = np.argsort(self.units, kind="stable")
        starts = np.split(order, np.cumsum(self.sizes)[:-1])
        values = np.empty((len(self.metrics), len(self.systems), resamples))
        for at, weights in enumerate(unit_weights(self.size, resamples=resamples, rng=rng)):
            rows = np.concatenate([np.tile(starts[unit], weights[unit]) for unit in np.flatnonzero(weights)])
            for system, pairs in enumerate(self.systems):
                drawn = pairs.subset(rows.tolist())
                values[:, system, at] = [point(metric, drawn).value for metric in self.metrics]
        return values
