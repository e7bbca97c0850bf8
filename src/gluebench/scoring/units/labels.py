"""Units of label columns, computed from the counts of each combination of gold and answers."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.intervals import FEWEST_UNITS
from gluebench.scoring.metrics import CountMetric, function_of, is_proportion
from gluebench.scoring.units.base import Exchange, Floats, Ints, Units, blocks, joined, with_mean

FEWEST_OF_LABEL = 2
"""Minimum number of examples with each label, in gold and predictions, if every label counts."""
FEWEST_OTHERS = 5
"""Minimum number of units with a label other than the most frequent, for an interval."""
_DENSE = 1 << 16
"""Maximum number of possible combinations of labels for counting in a dense array."""


class _Kinds(NamedTuple):
    cells: NDArray[np.intp]
    """Codes of each combination of gold and answers that occurs, shape (cells, 1 + systems)."""
    counts: Ints
    """Number of units of each kind, shape (kinds,)."""
    members: Floats | None
    """Examples of each cell in one unit, shape (kinds, cells); None if each cell is a kind."""


class LabelUnits(Units):
    """Answers that are labels, for metrics of the confusion table."""

    @cached_property
    def _kinds(self) -> _Kinds:
        first = self.systems[0]
        if self.units is None and len(self.systems) == 1:
            table = np.asarray(first.table)
            return _Kinds(np.argwhere(table), table[table > 0], None)
        columns = [first.gold, *(pairs.predicted for pairs in self.systems)]
        codes = np.array([np.frombuffer(column.codes, np.uint8) for column in columns])
        cells, cell_of, counts = _combinations(codes, self.classes)
        return _Kinds(cells, *((counts, None) if self.units is None else _group_kinds(self.units, cell_of)))

    @property
    def classes(self) -> int:
        """The number of labels."""
        return len(self.systems[0].gold.labels)

    @cached_property
    def counts(self) -> Ints:
        """Number of units of each kind, shape (kinds,)."""
        return self._kinds.counts

    def functions(self) -> list[tuple[CountMetric, int]]:
        """Each metric with the code of its positive label."""
        functions = []
        for metric in self.metrics:
            function = function_of(metric)
            assert isinstance(function, CountMetric)
            functions.append((function, self.systems[0].code(metric.positive)))
        return functions

    def _cell_indicators(self, system: int) -> Floats:
        """Indicators of each cell's entry in the system's table, shape (classes * classes, cells)."""
        place = self._kinds.cells[:, 0] * self.classes + self._kinds.cells[:, 1 + system]
        placed = np.zeros((self.classes**2, len(place)))
        placed[place, np.arange(len(place))] = 1.0
        return placed

    def _tables(self, flat: Floats) -> Floats:
        return flat.reshape(self.classes, self.classes, -1)

    def _cell_counts(self, kinds: Floats) -> Floats:
        """Convert counts of kinds to counts of cells, shape (cells, ...)."""
        return kinds if self._kinds.members is None else self._kinds.members.T @ kinds

    def left_out(self) -> Floats:
        """Values of the metrics without one unit of each kind, shape (metrics, systems, kinds)."""
        whole = self._cell_counts(self.counts.astype(np.float64))
        tables = []
        for system in range(len(self.systems)):
            placed = self._cell_indicators(system)
            one_unit = placed if self._kinds.members is None else placed @ self._kinds.members.T
            tables.append(self._tables((placed @ whole)[:, np.newaxis] - one_unit))
        return np.array([[metric.of(table, code) for table in tables] for metric, code in self.functions()])

    def halves(self, splits: int, rng: np.random.Generator) -> Floats:
        """Metrics on random halves of the units and on the rest, from the number drawn of each kind."""
        first = rng.multivariate_hypergeometric(self.counts, self.size // 2, size=splits).T
        values = []
        for kinds in (first, self.counts[:, np.newaxis] - first):
            cells = self._cell_counts(kinds.astype(np.float64))
            places = range(len(self.systems))
            tables = [self._tables(self._cell_indicators(system) @ cells) for system in places]
            values.append([[metric.of(table, code) for table in tables] for metric, code in self.functions()])
        return np.array(values)

    def sparse(self, metric: int, system: int) -> bool:
        """Whether units, errors or minority labels are too few for an interval; never for accuracy.

        Of a metric to which every label counts, also whether one occurs less than twice in both columns.
        """
        if is_proportion(self.metrics[metric]):
            return False  # Wilson's interval is valid at any size
        if self.size < FEWEST_UNITS:
            return True
        gold, predicted = self._kinds.cells[:, [0, 1 + system]].T
        if self.functions()[metric][0].every:
            sizes = np.tile(self._cell_counts(self.counts.astype(np.float64)), 2)
            both = np.bincount(np.append(gold, predicted), weights=sizes, minlength=self.classes)
            if both.min() < FEWEST_OF_LABEL:
                return True
        least = min(self._units_where(gold == predicted), self._units_where(gold != predicted))
        others = self._units_with_others(gold)
        if (predicted != predicted[0]).any():  # else the score depends only on the gold labels' shares
            others = min(others, self._units_with_others(predicted))
        return least < 1 or others < FEWEST_OTHERS

    def few(self, metric: int) -> bool:
        """Whether units or, except for accuracy, those with a minority gold label are too few."""
        if self.size < FEWEST_UNITS:
            return True
        return not is_proportion(self.metrics[metric]) and (
            self._units_with_others(self._kinds.cells[:, 0]) < FEWEST_OTHERS
        )

    def _units_with_others(self, labels: NDArray[np.intp]) -> int:
        """Number of units with a label other than the most frequent."""
        cells = self._cell_counts(self.counts.astype(np.float64))
        return self._units_where(labels != np.bincount(labels, weights=cells).argmax())

    def _units_where(self, cells: NDArray[np.bool_]) -> int:
        """Number of units with an example in one of these cells."""
        hit = cells if self._kinds.members is None else (self._kinds.members[:, cells] > 0).any(axis=1)
        return int(self.counts[hit].sum())

    def exchange(self, resamples: int, rng: np.random.Generator) -> Exchange:
        """Exchange the answers of the first two systems in random units, by a fair coin (Noreen 1989).

        How many units of a kind are exchanged is binomial; the confusion tables and with them the difference
        and its standard error follow.
        """
        cells, counts, members = self._kinds
        differs = cells[:, 1] != cells[:, 2]
        changing = np.flatnonzero(differs if members is None else members[:, differs].any(axis=1))
        exchanges = [self._exchanged(changing, np.zeros((len(changing), 1)))]
        for block in blocks(resamples, len(changing) + len(cells)):
            moved = fair_binomials(counts[changing], block, rng)
            exchanges.append(self._exchanged(changing, moved))
        return joined(exchanges)

    def _exchanged(self, changing: NDArray[np.intp], moved: Floats) -> Exchange:
        """The exchange from numbers of exchanged units, shape (changing, block), of kinds that it changes."""
        ours, theirs = self._cell_indicators(0), self._cell_indicators(1)
        cells, _, members = self._kinds
        gold, a, b = cells.T[:3]
        some = None if members is None else members[changing]
        if some is None:
            there = np.zeros((len(cells), moved.shape[1]))
            there[changing] = moved
        else:
            there = some.T @ moved
        here: Floats = self._cell_counts(self.counts.astype(np.float64))[:, np.newaxis] - there
        tables = self._tables(np.hstack([ours @ here + theirs @ there, theirs @ here + ours @ there]))
        differences, stayed, turned = [], [], []
        for metric, code in self.functions():
            of_a, of_b = np.split(metric.influence(tables, code), 2, axis=2)
            differences.append(np.subtract(*np.split(metric.of(tables, code), 2)))
            stayed.append(of_a[gold, a] - of_b[gold, b])
            turned.append(of_a[gold, b] - of_b[gold, a])
        squares = []
        for before, after in zip(with_mean(stayed), with_mean(turned), strict=True):
            whole = self._squares(before)
            if some is None:
                before, after = before[changing], after[changing]
            else:
                before, after = some @ before, some @ after
            squares.append(whole + (moved * (after - before) * (after + before)).sum(axis=0))
        return self._exchange_of(differences, squares)

    def _squares(self, influence: Floats) -> Floats:
        """Sums over units of squared sums of influences; the latter have shape (cells, block)."""
        if self._kinds.members is None:
            squares: Floats = self.counts @ influence**2
        else:
            squares = (self._products @ influence * influence).sum(axis=0)
        return squares

    @cached_property
    def _products(self) -> Floats:
        """Products of cell counts of a unit, summed over units, shape (cells, cells)."""
        _, counts, members = self._kinds
        assert members is not None
        products: Floats = members.T @ (counts[:, np.newaxis] * members)
        return products

    def bootstrap(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Metrics on units drawn with replacement, shape (metrics, systems, resamples)."""
        from gluebench.scoring.units.drawn import label_draws

        return label_draws(self.functions(), self.systems, resamples=resamples, rng=rng)


def fair_binomials(counts: Ints, size: int, rng: np.random.Generator) -> Floats:
    """Heads among `counts` fair coins, shape (kinds, size); up to 64 coins are bits of one integer."""
    drawn = np.empty((len(counts), size))
    few = counts <= 64
    masks = np.uint64(2**64 - 1) >> (64 - counts[few]).astype(np.uint64)
    bits = rng.integers(0, 2**64, size=(int(few.sum()), size), dtype=np.uint64)
    drawn[few] = np.bitwise_count(bits & masks[:, np.newaxis])
    drawn[~few] = rng.binomial(counts[~few, np.newaxis], 0.5, size=(int((~few).sum()), size))
    return drawn


def _combinations(codes: NDArray[np.uint8], classes: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Ints]:
    """The distinct columns of (1 + systems, n) codes as rows, the row of each example, and row counts."""
    if classes ** len(codes) >= 1 << 62:
        distinct, of, counts = np.unique(codes.T, axis=0, return_inverse=True, return_counts=True)
        return distinct.astype(np.intp), of.reshape(-1), counts
    place = np.zeros(codes.shape[1], np.int64)
    for row in codes:
        place *= classes
        place += row
    if classes ** len(codes) <= _DENSE:
        counts = np.bincount(place)
        there = np.flatnonzero(counts)
        of, counts = (np.cumsum(counts > 0) - 1)[place], counts[there]
    else:
        there, of, counts = np.unique(place, return_inverse=True, return_counts=True)
    cells = np.array(there[:, np.newaxis] // np.array([classes**power for power in range(len(codes))[::-1]]))
    return cells % classes, of, counts


def _group_kinds(groups: Ints, cell_of: NDArray[np.intp]) -> tuple[Ints, Floats]:
    """The number of groups of each kind, and the examples of one such group, shape (kinds, cells)."""
    width = int(cell_of.max()) + 1
    cells = np.bincount(groups * width + cell_of, minlength=(int(groups.max()) + 1) * width)
    kinds, counts = np.unique(cells.reshape(-1, width), axis=0, return_counts=True)
    return counts, kinds.astype(np.float64)
