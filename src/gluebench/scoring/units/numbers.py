"""Columns of numbers, for correlations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import NumberMetric, metric_function
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.base import (
    Exchange,
    Floats,
    Ints,
    Units,
    blocks,
    flips,
    group_numbers,
    joined,
    with_mean,
)

FEWEST_NUMBERS = 25
"""Units below which no interval of a correlation, or of a metric from elsewhere, is given."""
LINEAR_FROM = 200
"""Units from which on the exchange is replaced by its linear approximation (docs/design/differences.md)."""


class NumberUnits(Units):
    """Answers that are numbers; the rows are in the order of their groups."""

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        super().__init__(metrics, systems)
        groups = group_numbers(systems[0])
        self._order = slice(None) if groups is None else np.argsort(groups, kind="stable")
        self.sizes = np.ones(self.examples) if groups is None else np.bincount(groups).astype(np.float64)
        self.starts = np.append(0, np.cumsum(self.sizes)[:-1]).astype(np.intp)

    @property
    def counts(self) -> Ints:
        """(units,): every unit is of its own kind."""
        return np.ones(len(self.sizes), np.int64)

    def functions(self) -> list[NumberMetric]:
        """The metrics."""
        functions = [metric_function(metric.function) for metric in self.metrics]
        return [function for function in functions if isinstance(function, NumberMetric)]

    @cached_property
    def columns(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """For each metric gold and the systems' answers, prepared for it."""
        gold, answers = self.systems[0].gold.numbers, [pairs.predicted.numbers for pairs in self.systems]
        return [
            (function.prepared([gold])[:, self._order], function.prepared(answers)[:, self._order])
            for function in self.functions()
        ]

    def _by_unit(self, rows: Floats) -> Floats:
        """(columns, units): sums over the rows of each unit."""
        if len(self.sizes) == self.examples:
            return rows
        sums: Floats = np.add.reduceat(rows, self.starts, axis=1)
        return sums

    def left_out(self) -> Floats:
        """(metrics, systems, units): by the influence function, which is the first term of the difference."""
        left_out = []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            values, influence = function.evaluated(gold, answers)
            left_out.append(values[:, np.newaxis] - self._by_unit(influence) / (self.examples - self.sizes))
        return np.array(left_out)

    def sparse(self, metric: int, system: int) -> bool:
        """Whether there are fewer than 25 units."""
        return self.few(metric)

    def few(self, metric: int) -> bool:
        """The same: no system's answers make a difference to that."""
        return self.size < FEWEST_NUMBERS

    def apart(self) -> int:
        """Units that the first two systems answer differently."""
        a, b = (np.asarray(pairs.predicted.numbers) for pairs in self.systems[:2])
        differ: NDArray[np.bool_] = a != b
        groups = group_numbers(self.systems[0])
        return int(differ.sum()) if groups is None else len(np.unique(groups[differ]))

    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Exchange the first two systems' answers in random units, as z-scores or ranks."""
        if self.size >= LINEAR_FROM:
            return self._flips(resamples, rng)
        exchanges = [self._exchanged(np.zeros((1, self.size), np.bool_))]
        for block in blocks(resamples, self.examples):
            coins = rng.integers(0, 2, size=(block, self.size), dtype=np.int8).astype(np.bool_)
            exchanges.append(self._exchanged(coins))
        return joined(exchanges)

    def _exchanged(self, coins: NDArray[np.bool_]) -> Exchange:
        """From (exchanges, units) coins."""
        rows = np.repeat(coins, self.sizes.astype(np.intp), axis=1)
        differences, influences = [], []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            a = function.evaluated(gold, np.where(rows, answers[1], answers[0]))
            b = function.evaluated(gold, np.where(rows, answers[0], answers[1]))
            differences.append(a.values - b.values)
            influences.append(self._by_unit(a.influence - b.influence))
        scale = np.sqrt(self.size / max(self.size - 1, 1)) / self.examples
        errors = [np.sqrt((each * each).sum(axis=1)) * scale for each in with_mean(influences)]
        return Exchange(np.array(with_mean(differences)), np.array(errors))

    def _flips(self, resamples: int, rng: np.random.Generator) -> Exchange:
        shares, units = self.sizes / self.examples, []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            values, influence = function.evaluated(gold, answers[:2])
            change = self._by_unit(influence)
            units.append((change[0] - change[1]) / self.examples + (values[0] - values[1]) * shares)
        return flips(np.array(with_mean(units)), shares, resamples=resamples, rng=rng)

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """(metrics, systems, resamples): every metric on units drawn with replacement."""
        from gluebench.scoring.units.drawn import number_draws

        return number_draws(self.functions(), self.systems, resamples=resamples, rng=rng)
