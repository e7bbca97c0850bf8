"""Systems' answers to one test file as independent units, with what inference needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric
from gluebench.scoring.influence import influence_of_answers
from gluebench.scoring.kinds import Kinds, comes_later, content_kinds, counts_come_later, ranks
from gluebench.scoring.metrics import (
    CountMetric,
    FunctionMetric,
    NumberMetric,
    SumMetric,
    function_of,
    point,
)
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units.exchange import (
    LINEAR_FROM,
    CountTables,
    Exchange,
    NumberColumns,
    exchange_numbers,
    exchange_tables,
    flips,
    with_mean,
)
from gluebench.scoring.withholding import too_few_for_difference

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Units:
    """Answers of systems to one test file; units are examples or, if the gold has them, groups.

    Units that all systems answer alike are of one kind, so that the cost need not grow with the test file.
    """

    def __init__(self, metrics: Sequence[Metric], systems: Sequence[Pairs]) -> None:
        self.metrics = metrics
        self.systems = systems
        self.examples = len(systems[0])
        self.units = systems[0].units
        """The unit of each example, shape (n,); None if each example is a unit."""
        self.size = systems[0].size
        """The number of units."""

    def subset(self, positions: Sequence[int]) -> Units:
        """The units of the examples at these positions, such as those of a category."""
        some = Units(self.metrics, [pairs.subset(positions) for pairs in self.systems])
        rows = np.asarray(positions, np.intp)
        # Only the order of ranks counts, so that those among all examples do.
        some._gold = self._gold[rows]
        some._answers = [column[rows] for column in self._answers]
        return some

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds of units, in an order that depends on their content alone."""
        return content_kinds([self._gold] + self._answers, self.units)

    @cached_property
    def _gold(self) -> Ints:
        return ranks([self.systems[0].gold], self._label_words)[0]

    @cached_property
    def _answers(self) -> list[Ints]:
        return ranks([pairs.predicted for pairs in self.systems], self._label_words)

    @property
    def _label_words(self) -> Sequence[str]:
        """The labels that the numbers of a distribution belong to."""
        return self.systems[0].gold.labels or self.metrics[0].labels

    @cached_property
    def _influences(self) -> list[tuple[Floats, Kinds]]:
        """The influence of a unit of each kind on the metrics, (metrics, kinds), of each system."""
        return [influence_of_answers(self.metrics, pairs) for pairs in self.systems]

    @property
    def counts(self) -> Ints:
        """Number of units of each kind, shape (kinds,)."""
        return self.kinds.counts

    def values(self) -> Floats:
        """Values of the metrics, shape (metrics, systems)."""
        values = np.empty((len(self.metrics), len(self.systems)))
        for position, metric in enumerate(self.metrics):
            values[position] = [point(metric, pairs).value for pairs in self.systems]
        return values

    def by_kind(self) -> Floats:
        """Influence of a unit of each kind, shape (metrics, systems, kinds)."""
        first = self.kinds.first
        return np.stack([by_kind[:, kinds.of(first)] for by_kind, kinds in self._influences], axis=1)

    def left_out(self) -> Floats:
        """Values of the metrics without one unit of each kind, shape (metrics, systems, kinds)."""
        left_out: Floats = self.values()[:, :, np.newaxis] - self.by_kind() / max(self.size - 1, 1)
        return left_out

    def few(self, metric: int) -> bool:
        """Whether there is too little for an interval of a difference in that metric."""
        record = self.metrics[metric]
        if too_few_for_difference(record, self.systems[0]):
            return True
        # Only a metric from an entry point may lack influence values.
        external = isinstance(function_of(record), FunctionMetric)
        return external and any(np.isnan(by_kind[metric]).any() for by_kind, _ in self._influences)

    def apart(self) -> int:
        """Number of units that the first two systems answer differently."""
        differs = self._answers[0] != self._answers[1]
        if self.units is None:
            return int(np.count_nonzero(differs))
        return int(np.count_nonzero(np.bincount(self.units[differs])))

    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Exchange the answers of the first two systems in random units.

        The exchange is linear in the units' contributions to the difference, which is exact for a mean over
        the examples (docs/explanation/differences.md). On few units correlations and metrics of counts are
        computed again.
        """
        if self._in_other_order:
            swapped = Units(self.metrics, self.systems[1::-1])
            swapped._in_other_order = False
            swapped._gold = self._gold
            swapped._answers = self._answers[1::-1]
            exchange = swapped.exchange(resamples, rng)
            return Exchange(-exchange.differences, exchange.errors)
        positions: list[int] = []
        exact: Exchange | None = None
        if self.size < LINEAR_FROM:
            state = rng.bit_generator.state
            positions, exact = self._exact_exchange(resamples, rng)
            rng.bit_generator.state = state  # so that no metric's draws depend on the other metrics
        if exact is not None and len(positions) == len(self.metrics):
            return exact
        contributions, shares = self._contributions()
        linear = flips(contributions, shares, self.counts, resamples=resamples, rng=rng)
        if exact is not None:
            linear.differences[positions] = exact.differences[: len(positions)]
            linear.errors[positions] = exact.errors[: len(positions)]
        return linear

    def _exact_exchange(self, resamples: int, rng: np.random.Generator) -> tuple[list[int], Exchange | None]:
        """The metrics that are computed again for each exchange, and that exchange; None without any."""
        functions = [function_of(metric) for metric in self.metrics]
        numbers = [at for at, function in enumerate(functions) if isinstance(function, NumberMetric)]
        if numbers:
            columns = [self._columns[functions[at].name] for at in numbers]
            return numbers, exchange_numbers(columns, self.systems[0], self._coins(resamples, rng))
        counts = [at for at, function in enumerate(functions) if isinstance(function, CountMetric)]
        if not counts:
            return [], None
        tables = self._count_tables(counts)
        if not tables.is_small:
            return [], None
        return counts, exchange_tables(tables, resamples=resamples, rng=rng)

    def _count_tables(self, positions: Sequence[int]) -> CountTables:
        """The tables of the first two systems, and some metrics, which are of counts."""
        formulas = []
        for position in positions:
            metric = self.metrics[position]
            function = function_of(metric)
            assert isinstance(function, CountMetric)
            formulas.append((function, self.systems[0].code(metric.positive)))
        a = self.systems[0].tables_of(self.kinds.first)
        b = self.systems[1].tables_of(self.kinds.first)
        shares = a.sum(axis=(0, 1)) / self.examples
        return CountTables(formulas, a, b, self.counts, shares)

    @cached_property
    def _columns(self) -> dict[str, NumberColumns]:
        """Gold and answers prepared for each correlation, by its name."""
        gold = [self.systems[0].gold.numbers]
        answers = [pairs.predicted.numbers for pairs in self.systems]
        columns = {}
        for metric in self.metrics:
            function = function_of(metric)
            if isinstance(function, NumberMetric):
                prepared = NumberColumns(function, function.prepared(gold), function.prepared(answers))
                columns[function.name] = prepared
        return columns

    def _coins(self, resamples: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether the answers of each example are exchanged, first of none, shape (1 + resamples, n)."""
        coins = np.zeros((1 + resamples, self.size), np.bool_)
        # The units in the order of their content, so that that of the rows does not matter.
        order = np.argsort(self.kinds.of_units, kind="stable")
        coins[1:, order] = rng.integers(0, 2, size=(resamples, self.size), dtype=np.int8)
        if self.units is None:
            return coins
        return coins[:, self.units]

    @cached_property
    def _in_other_order(self) -> bool:
        """Whether the second system's answers come before the first one's, whatever the order of the rows.

        The order of each system's own answers decides, so that a scale or an offset changes nothing; then
        the answers themselves.
        """
        labels = self.systems[0].predicted.labels
        if labels:
            by_word = np.argsort(labels)
            tables = [pairs.table_array[by_word][:, by_word] for pairs in self.systems[:2]]
            return counts_come_later(tables[0].ravel(), tables[1].ravel())
        a, b = self._answers[:2]
        width = int(max(a.max(), b.max(), self._gold.max())) + 1
        gold = self._gold.astype(np.int64) * width
        own_ranks_of_a = np.unique(a, return_inverse=True)[1] + gold
        own_ranks_of_b = np.unique(b, return_inverse=True)[1] + gold
        if comes_later(own_ranks_of_a, own_ranks_of_b):
            return True
        if comes_later(own_ranks_of_b, own_ranks_of_a):
            return False
        return comes_later(a + gold, b + gold)

    def _contributions(self) -> tuple[Floats, Floats]:
        """What a unit of each kind adds to the differences, (scores, kinds), and its share of the examples.

        The contributions of all units add up to the differences.
        """
        first = self.kinds.first
        sizes = np.ones(self.size) if self.units is None else np.bincount(self.units)
        shares = sizes[first] / self.examples
        change = self.by_kind()[:, :2] / max(self.size - 1, 1) * (1 - shares)
        change -= (change @ self.counts)[:, :, np.newaxis] * shares
        values = self.values()
        of_systems = change + values[:, :2, np.newaxis] * shares
        to_difference = with_mean(of_systems[:, 0] - of_systems[:, 1])
        # A metric without influence values has no test: its p-value is 1.
        return np.nan_to_num(to_difference), shares

    def halves(self, splits: int, rng: np.random.Generator) -> Floats:
        """Metrics on random halves of the units and on the rest, shape (2, metrics, systems, splits).

        Correlations and metrics of sums are computed again on each half, others to first order.
        """
        size = self.size // 2
        first_half = rng.multivariate_hypergeometric(self.counts, size, size=splits).T
        rest = self.counts[:, np.newaxis] - first_half
        of_first_half = [self._values_on(metric, first_half) for metric in range(len(self.metrics))]
        of_rest = [self._values_on(metric, rest) for metric in range(len(self.metrics))]
        return np.array([of_first_half, of_rest])

    def _values_on(self, metric: int, numbers: Ints) -> Floats:
        """A metric on so many units of each kind, (kinds, draws), of each system, shape (systems, draws)."""
        record = self.metrics[metric]
        function = function_of(record)
        if isinstance(function, SumMetric):
            values = []
            for pairs in self.systems:
                rows_of_kinds = pairs.by_unit(function.rows_of(pairs, record))[self.kinds.first]
                values.append(function.of(rows_of_kinds.T @ numbers))
            return np.array(values)
        if isinstance(function, NumberMetric):
            correlations: Floats = np.array([self._correlations(function, draw) for draw in numbers.T]).T
            return correlations
        influence = self.by_kind()[metric]
        linear: Floats = self.values()[metric][:, np.newaxis] + influence @ numbers / numbers.sum(axis=0)
        return linear

    def _correlations(self, function: NumberMetric, numbers: Ints) -> Floats:
        """A correlation on so many units of each kind, (kinds,), of each system."""
        units = np.repeat(self.kinds.first, numbers)
        rows = units
        if self.units is not None:
            rows = np.concatenate([self._rows_of_units[unit] for unit in units])
        columns = self._columns[function.name]
        return function.evaluated(columns.gold[:, rows], columns.answers[:, rows]).values

    @cached_property
    def _rows_of_units(self) -> list[Ints]:
        """The rows of each unit, where the gold has groups."""
        assert self.units is not None
        rows_by_unit = np.argsort(self.units, kind="stable")
        ends = np.cumsum(np.bincount(self.units))
        return np.split(rows_by_unit, ends[:-1])


def units_of(metrics: Sequence[Metric], systems: Sequence[Pairs]) -> Units:
    """The units of a test file, for these metrics of it; `systems` are of the same examples."""
    return Units(metrics, systems)


def generator(seed: int, name: str) -> np.random.Generator:
    """A random generator for one test file, independent of the other files."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(name.encode())]))
