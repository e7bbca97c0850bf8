"""Units of number columns, of any columns for metrics of sums, and for metrics that are only a function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import NumberMetric, SumMetric, function_of
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.base import (
    Exchange,
    Floats,
    Ints,
    Units,
    blocks,
    flips,
    joined,
    unit_weights,
    with_mean,
)

LINEAR_FROM = 200
"""Number of units from which the exchange is approximated linearly (docs/explanation/differences.md)."""
MOST_UNITS = 200
"""Maximum number of units; more are merged, to limit the number of calls of a metric."""
FLOAT32 = 1 << 24
"""Integers below this are exact as float32."""
KEPT = 1 << 25
"""Pairs of gold rows whose order is kept from one system to the next, a byte each."""


def _single(rows: Floats) -> NDArray[Any]:
    """The rows as float32, which is faster, where all their sums over as many rows are exact."""
    exact = np.array_equal(rows, np.rint(rows)) and np.abs(rows).max(initial=0.0) * len(rows) < FLOAT32
    return rows.astype(np.float32) if exact else rows


def _product(weights: Ints, rows: NDArray[Any]) -> Floats:
    sums: Floats = (weights.astype(rows.dtype) @ rows).astype(np.float64, copy=False)
    return sums


class _SingleUnits(Units):
    """Units that are each a separate kind, since no two contribute equally."""

    @cached_property
    def sizes(self) -> Floats:
        """Number of examples of each unit, shape (units,)."""
        return np.ones(self.examples) if self.units is None else np.bincount(self.units).astype(np.float64)

    @cached_property
    def counts(self) -> Ints:
        """Ones, shape (units,)."""
        return np.ones(len(self.sizes), np.int64)

    def sparse(self, metric: int, system: int) -> bool:
        """Whether there are fewer than 25 units."""
        return self.few(metric)

    def few(self, metric: int) -> bool:
        """Whether there are fewer than 25 units, whatever the answers are."""
        return self.size < FEWEST_NUMBERS


class NumberUnits(_SingleUnits):
    """Answers that are numbers, for correlations."""

    def functions(self) -> list[NumberMetric]:
        """The metrics."""
        functions = [function_of(metric) for metric in self.metrics]
        return [function for function in functions if isinstance(function, NumberMetric)]

    @cached_property
    def columns(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """For each metric gold and the systems' answers, prepared for it, in the order of the units."""
        gold, answers = self.systems[0].gold.numbers, [pairs.predicted.numbers for pairs in self.systems]
        order = slice(None) if self.units is None else np.argsort(self.units, kind="stable")
        return [
            (function.prepared([gold])[:, order], function.prepared(answers)[:, order])
            for function in self.functions()
        ]

    def _by_unit(self, rows: Floats) -> Floats:
        """Sums over the rows of each unit, shape (columns, units)."""
        if len(self.sizes) == self.examples:
            return rows
        starts = np.cumsum(self.sizes) - self.sizes
        sums: Floats = np.add.reduceat(rows, starts.astype(np.intp), axis=1)
        return sums

    def left_out(self) -> Floats:
        """Values without each unit, by the influence function, shape (metrics, systems, units)."""
        left_out = []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            values, influence = function.evaluated(gold, answers)
            with np.errstate(invalid="ignore"):  # without its only unit a score is not a number
                change = self._by_unit(influence) / (self.examples - self.sizes)
            left_out.append(values[:, np.newaxis] - change)
        return np.array(left_out)

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
        """The exchange from coins of shape (exchanges, units)."""
        rows = np.repeat(coins, self.sizes.astype(np.intp), axis=1)
        differences, influences = [], []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            a = function.evaluated(gold, np.where(rows, answers[1], answers[0]))
            b = function.evaluated(gold, np.where(rows, answers[0], answers[1]))
            differences.append(a.values - b.values)
            influences.append(self._by_unit(a.influence - b.influence))
        return self._exchange_of(differences, [(part * part).sum(axis=1) for part in with_mean(influences)])

    def _flips(self, resamples: int, rng: np.random.Generator) -> Exchange:
        shares, units = self.sizes / self.examples, []
        for function, (gold, answers) in zip(self.functions(), self.columns, strict=True):
            values, influence = function.evaluated(gold, answers[:2])
            change = self._by_unit(influence)
            units.append((change[0] - change[1]) / self.examples + (values[0] - values[1]) * shares)
        return flips(np.array(with_mean(units)), shares, resamples=resamples, rng=rng)

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Metrics on units drawn with replacement, shape (metrics, systems, resamples)."""
        from gluebench.scoring.units.drawn import number_draws

        return number_draws(self.functions(), self.systems, resamples=resamples, rng=rng)


class _LinearUnits(_SingleUnits):
    """Units whose exchange is approximated linearly from the jackknife's pseudo-values.

    For a mean over examples this is exact.
    """

    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Flip the signs of the units' pseudo-values of the difference."""
        values, shares = self.values(), self.sizes / self.examples
        lost = values[:, :, np.newaxis] - self.left_out()
        change = lost * (1 - shares)
        change -= change.sum(axis=2, keepdims=True) * shares
        units = [
            a - b + (of_a - of_b) * shares
            for (a, b), (of_a, of_b) in zip(change[:, :2], values[:, :2], strict=True)
        ]
        return flips(np.array(with_mean(units)), shares, resamples=resamples, rng=rng)


class SumUnits(_LinearUnits):
    """Answers of any form, for metrics that are a function of sums over the examples."""

    def __init__(
        self, metrics: Sequence[Metric], systems: Sequence[Pairs], functions: Sequence[SumMetric]
    ) -> None:
        super().__init__(metrics, systems)
        self.functions = functions

    def sparse(self, metric: int, system: int) -> bool:
        """Whether there are fewer units than the metric needs, as a rule 25."""
        return self.size < self.functions[metric].fewest

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Metrics on units drawn with replacement, shape (metrics, systems, resamples)."""
        sizes = blocks(resamples, self.size, least=128)
        drawn = (unit_weights(self.size, resamples=size, rng=rng) for size in sizes)
        return np.concatenate([self.weighted(weights) for weights in drawn], axis=2)

    @cached_property
    def _rows(self) -> list[list[Floats]]:
        """For each metric and system the sums of each unit, shape (units, k)."""
        return [
            [self._by_unit(function.rows_of(pairs, metric)) for pairs in self.systems]
            for function, metric in zip(self.functions, self.metrics, strict=True)
        ]

    def _by_unit(self, rows: Floats) -> Floats:
        if self.units is None:
            return rows
        sums = [np.bincount(self.units, column, len(self.sizes)) for column in rows.T]
        return np.stack(sums, axis=1)

    def left_out(self) -> Floats:
        """Values of the metrics without each unit, shape (metrics, systems, units)."""
        return np.array(
            [
                [function.of((rows.sum(axis=0) - rows).T) for rows in of_systems]
                for function, of_systems in zip(self.functions, self._rows, strict=True)
            ]
        )

    def weighted(self, weights: Ints) -> Floats:
        """Metrics with each unit that many times, shape (metrics, systems, draws)."""
        return np.array(
            [
                self._values(function, _product(weights, columns)[:, places], of_systems)
                for function, (columns, places), of_systems in zip(
                    self.functions, self._columns, self._rows, strict=True
                )
            ]
        )

    @cached_property
    def _columns(self) -> list[tuple[NDArray[Any], NDArray[np.intp]]]:
        """For each metric, the different columns of the systems' rows, and the place of every column there.

        What depends on gold alone is the same for all systems.
        """
        columns = []
        for of_systems in self._rows:
            whole = np.concatenate([*map(_single, of_systems)], axis=1)
            numbers = defaultdict[bytes, int](count().__next__)
            places = np.array([numbers[column.tobytes()] for column in whole.T])
            columns.append((whole[:, np.unique(places, return_index=True)[1]], places))
        return columns

    @staticmethod
    def _values(function: SumMetric, sums: Floats, of_systems: Sequence[Floats]) -> Floats:
        """The metric of each system, shape (systems, resamples), from sums (resamples, k of all systems)."""
        widths = [rows.shape[1] for rows in of_systems]
        if len({*widths}) == 1:
            return np.asarray(function.of(sums.reshape(len(sums), len(widths), -1).T))
        ends = np.cumsum(widths)[:-1]
        return np.array([function.of(own.T) for own in np.split(sums, ends, axis=1)])


class MergedUnits(_LinearUnits):
    """At most MOST_UNITS units, since each costs calls of a metric or pairs of rows."""

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        super().__init__(metrics, systems)
        units = np.arange(self.examples) if self.units is None else self.units
        number = int(units.max()) + 1
        if number > MOST_UNITS:  # merged at random, so that no unit has only neighboring rows
            units = np.random.default_rng(0).permutation(number)[units] % MOST_UNITS
        self.units: Ints = units

    def left_out(self) -> Floats:
        """Values without each unit, shape (metrics, systems, units)."""
        return self.weighted(1 - np.eye(len(self.sizes), dtype=np.int64))

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Metrics on units drawn with replacement, shape (metrics, systems, resamples)."""
        return self.weighted(unit_weights(self.size, resamples=resamples, rng=rng))


class KendallUnits(MergedUnits):
    """Answers that are numbers, for Kendall's tau-b, from the pairs of rows between each two units."""

    @cached_property
    def _layers(self) -> list[Ints]:
        """One row of each unit, the largest first, then a second one of each that has it, and so on."""
        ends = np.cumsum(self.sizes)[:-1].astype(np.intp)
        units = sorted(np.split(np.argsort(self.units, kind="stable"), ends), key=len, reverse=True)
        return [np.array([rows[nth] for rows in units if len(rows) > nth]) for nth in range(len(units[0]))]

    def _summed(self, signs: Callable[[int], NDArray[Any]]) -> Floats:
        """Sums over the pairs of rows of each two units, in the order of `_layers`, of numbers from -1 to 1.

        `signs` gives those of the rows of one layer with all rows, shape (rows, n).
        """
        units, largest = len(self.sizes), len(self._layers)
        sums = np.zeros((units, self.examples), np.min_scalar_type(-1 - largest))
        for at, rows in enumerate(self._layers):
            sums[: len(rows)] += signs(at)
        of_units = np.zeros((units, units), np.float32 if (units * largest) ** 2 < FLOAT32 else np.float64)
        for rows in self._layers:
            of_units[:, : len(rows)] += sums[:, rows]
        return of_units

    @cached_property
    def _between(self) -> tuple[Floats, list[tuple[Floats, Floats]]]:
        """Pairs untied in gold; for each system, half of concordant minus discordant ones, and untied ones.

        Each of shape (units, units), the largest unit first, and with exact quadratic forms.
        """
        columns = [self.systems[0].gold.numbers, *(pairs.predicted.numbers for pairs in self.systems)]
        ranks = (np.unique(column, return_inverse=True)[1] for column in columns)
        gold, *answers = (column.astype(np.min_scalar_type(self.examples)) for column in ranks)

        def untied(column: Ints) -> Floats:
            return self._summed(lambda at: column[self._layers[at], np.newaxis] != column)

        @lru_cache(maxsize=KEPT // (len(self.sizes) * self.examples))
        def above(at: int) -> NDArray[np.int8]:
            rows = gold[self._layers[at], np.newaxis]
            return (rows > gold).view(np.int8) - (rows < gold).view(np.int8)

        def half(column: Ints) -> Floats:
            return self._summed(lambda at: above(at) * (column[self._layers[at], np.newaxis] > column))

        without_ties = untied(np.arange(self.examples))

        def untied_of(column: Ints) -> Floats:
            return without_ties if column.max() == self.examples - 1 else untied(column)

        return untied_of(gold), [(half(column), untied_of(column)) for column in answers]

    def weighted(self, weights: Ints) -> Floats:
        """Tau-b with each unit that many times, shape (metrics, systems, draws)."""
        in_gold, between = self._between
        ordered = weights[:, np.argsort(-self.sizes, kind="stable")].astype(in_gold.dtype)

        def total(counts: Floats) -> Floats:
            forms: Floats = np.einsum("du,du->d", ordered @ counts, ordered).astype(np.float64)
            return forms

        different = {id(untied): untied for untied in (in_gold, *(untied for _, untied in between))}
        totals = {key: total(untied) for key, untied in different.items()}
        of_gold = totals[id(in_gold)]
        taus = [ratio(2 * total(half), np.sqrt(of_gold * totals[id(untied)])) for half, untied in between]
        return np.array([taus] * len(self.metrics))


class RowUnits(MergedUnits):
    """Answers of any form; the metric is called on subsets of the rows."""


class MixedUnits(MergedUnits):
    """Answers for metrics that have units of different classes, each of which gets the merged units."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        systems: Sequence[Pairs],
        units_of: Callable[[Sequence[Metric], Sequence[Pairs]], Units],
    ) -> None:
        super().__init__(metrics, systems)
        groups = tuple(self.units.tolist())
        merged = [replace(pairs, groups=groups) for pairs in systems]
        self.parts = [units_of([metric], merged) for metric in metrics]

    def weighted(self, weights: Ints) -> Floats:
        """Each metric with each unit that many times, shape (metrics, systems, draws)."""
        return np.concatenate([part.weighted(weights) for part in self.parts])
