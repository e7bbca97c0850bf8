"""Gold and predictions of one test file, joined by index."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from operator import itemgetter
from typing import Any, TypeVar

from gluebench.scoring.kinds import Kinds, content_kinds, ranks
from gluebench.scoring.numeric import Flags, Floats, Ints, NDArray, np
from gluebench.submission.submission import Column, bits

Value = TypeVar("Value")
SIXTEEN = 16
"""Maximum number of classes for which a cell (gold, predicted) fits one byte."""
_DIFFERENT = "different cells"
"""Key of what `share_cells` keeps with each system."""


@dataclass(frozen=True)
class UniquePairs:
    """The different (gold, predicted) cells of one or more systems, each of which a metric looks at once."""

    cells: Sequence[tuple[Any, Any]]
    _tables: dict[Hashable, Floats] = field(default_factory=dict)

    def table(self, key: Hashable, rows: Callable[[Sequence[tuple[Any, Any]]], Floats]) -> Floats:
        """The rows of the cells, shape (different, k); computed once for each key."""
        if key not in self._tables:
            self._tables[key] = rows(self.cells)
        return self._tables[key]


@dataclass(frozen=True)
class Pairs:
    """The examples of one test file that have gold, each with its prediction, in the same order."""

    gold: Column
    predicted: Column
    groups: tuple[int, ...] | None = None
    """The group of each example; None if there are no groups."""
    covered: float | None = None
    """Share of the split's examples that have gold; None if all have."""
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.gold)

    def compute_once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What is made of these answers, once for each key."""
        if key not in self._kept:
            self._kept[key] = make()
        value: Value = self._kept[key]
        return value

    @cached_property
    def units(self) -> Ints | None:
        """The unit of each example, numbered from 0 in the order of the groups, shape (n,).

        A unit is a group or, without groups, an example: then the value is None.
        """
        if self.groups is None:
            return None
        return np.unique(np.asarray(self.groups), return_inverse=True)[1]

    @property
    def unit_of_rows(self) -> Ints:
        """The unit of each example, shape (n,), also without groups."""
        if self.units is None:
            return np.arange(len(self))
        return self.units

    @cached_property
    def size(self) -> int:
        """The number of units."""
        if self.units is None:
            return len(self)
        return int(self.units.max()) + 1

    @property
    def gold_codes(self) -> NDArray[Any]:
        """The codes of the gold labels, shape (n,)."""
        return np.frombuffer(self.gold.codes, np.uint8)

    @property
    def code_arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The codes of gold and predictions, for label columns, each of shape (n,)."""
        return self.gold_codes, np.frombuffer(self.predicted.codes, np.uint8)

    @cached_property
    def unit_kinds(self) -> Kinds:
        """Each unit as a kind of its own."""
        return Kinds(np.ones(self.size, np.int64), lambda units: np.arange(self.size)[units])

    @cached_property
    def content_kinds(self) -> Kinds:
        """Units with the same examples are of one kind, in any order of these."""
        if self.gold.labels and self.predicted.labels and self.units is None:
            return self._cell_kinds
        return content_kinds(ranks([self.gold]) + ranks([self.predicted]), self.units)

    @property
    def _cell_kinds(self) -> Kinds:
        """The cells of the confusion table that occur, which is counted already."""
        table = self.table_array.ravel()
        # In the smallest type, as this is done for every example.
        of_cells = (np.cumsum(table > 0) - 1).astype(np.min_scalar_type(len(table)))

        return Kinds(table[table > 0], lambda units: of_cells[self._cell_numbers(units)])

    def _cell_numbers(self, rows: Any) -> Ints:
        """The cells of some examples in the confusion table, gold * classes + predicted, shape (rows,)."""
        gold, predicted = self.code_arrays
        classes = len(self.gold.labels)
        # In the smallest type, as this is done for every example.
        numbers: Ints = gold[rows] * np.min_scalar_type(classes**2).type(classes) + predicted[rows]
        return numbers

    def left_out(self, value: float, without: Floats) -> Floats:
        """The influence of units on a value from the exact values without one of them, any shape."""
        return (self.size - 1) * (value - without)

    def tables(self, some: slice) -> Floats:
        """The confusion tables of one unit of some of `content_kinds`, shape (gold, predicted, kinds)."""
        if self.units is not None:
            return self.tables_of(self.content_kinds.first[some])
        classes = len(self.gold.labels)
        number = len(self.content_kinds.counts[some])
        flat = np.zeros((classes**2, number))
        flat[np.flatnonzero(self.table_array)[some], np.arange(number)] = 1.0
        return flat.reshape(classes, classes, number)

    def tables_of(self, units: Ints) -> Floats:
        """The confusion tables of some units, by their numbers, shape (gold, predicted, units)."""
        classes = len(self.gold.labels)
        number = len(units)
        position_of_unit = np.full(self.size, -1)
        position_of_unit[units] = np.arange(number)
        positions = position_of_unit[self.unit_of_rows]
        rows = positions >= 0
        cells = self._cell_numbers(rows) * np.intp(number) + positions[rows]
        flat = np.bincount(cells, minlength=classes**2 * number).astype(np.float64)
        return flat.reshape(classes, classes, number)

    def units_with(self, flags: NDArray[Any]) -> Ints:
        """The number of units with an example for which each flag holds, shape (k,), from flags (n, k)."""
        counts: Ints = np.count_nonzero(self.by_unit(flags), axis=0)
        return counts

    def units_in(self, cells: Flags) -> int:
        """The number of units with an example in one of these cells of the confusion table."""
        if self.units is None:
            return int(self.table_array[cells].sum())
        return int(self.units_with(cells[self.code_arrays]))

    def by_unit(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Sums of the rows of each unit, shape (units,) or (units, k), from (n,) or (n, k)."""
        if self.units is None:
            return rows
        if rows.ndim == 1:
            return np.bincount(self.units, rows, self.size)
        return np.stack([self.by_unit(column) for column in rows.T], axis=1)

    @cached_property
    def table(self) -> list[list[int]]:
        """The confusion table, for label columns; counted once for all metrics of the file.

        Columns are combined as large integers, which is much faster than a loop over the examples.
        """
        classes = len(self.gold.labels)
        if classes == 2:
            return _two_by_two(self.gold.codes, self.predicted.codes)
        if classes <= SIXTEEN:
            return table_of_cells(self.cells, classes=classes)
        counts = Counter(zip(self.gold.codes, self.predicted.codes, strict=True))
        table = []
        for gold in range(classes):
            table.append([counts[gold, predicted] for predicted in range(classes)])
        return table

    @cached_property
    def table_array(self) -> NDArray[Any]:
        """The confusion table as an array."""
        return np.asarray(self.table)

    @cached_property
    def cells(self) -> bytes:
        """The cell of each example, gold * classes + predicted, for label columns of up to sixteen labels."""
        gold = int.from_bytes(self.gold.codes, "little")
        predicted = int.from_bytes(self.predicted.codes, "little")
        cells = gold * len(self.gold.labels) + predicted
        return cells.to_bytes(len(self), "little")  # no carries: every cell is below 256

    @cached_property
    def shares(self) -> Floats:
        """The predictions, for columns of probabilities, shape (n, labels)."""
        shares: Floats = np.fromiter(chain.from_iterable(self.predicted.cells), np.float64)
        return shares.reshape(len(self), -1)

    @property
    def different(self) -> tuple[UniquePairs, NDArray[np.intp]]:
        """The different cells of columns of cells, and the number among them of each example, shape (n,)."""
        if _DIFFERENT not in self._kept:  # else `share_cells` has found those of several systems
            share_cells([self])
        different: tuple[UniquePairs, NDArray[np.intp]] = self._kept[_DIFFERENT]
        return different

    def table_of(self, positions: Sequence[int]) -> list[list[int]]:
        """The confusion table of some of the examples."""
        if len(self.gold.labels) > SIXTEEN:
            return self.subset(positions).table
        # With two more positions, since of a single one `itemgetter` gives no tuple.
        cells = itemgetter(0, 0, *positions)(self.cells)
        return table_of_cells(bytes(cells[2:]), classes=len(self.gold.labels))

    def code(self, label: str | None) -> int:
        """The code of a label word; 0 for None, which metrics without a positive label ignore."""
        if label is None:
            return 0
        return self.gold.labels.index(label)

    def subset(self, positions: Sequence[int]) -> Pairs:
        """The examples at these positions, in their order; kept, as a comparison looks at them twice."""
        some = tuple(positions)

        def take_rows() -> Pairs:
            gold = self.gold.take(some)
            predicted = self.predicted.take(some)
            if self.groups is None:
                return Pairs(gold, predicted)
            return Pairs(gold, predicted, tuple(map(self.groups.__getitem__, some)))

        return self.compute_once(("subset", some), take_rows)


def join_by_index(gold: Column, predicted: Column, *, groups: tuple[int, ...] | None, size: int) -> Pairs:
    """Join a full column of predictions to gold that may lack examples, by index."""
    if gold.indices is None:
        return Pairs(gold, predicted, groups)
    return Pairs(gold, predicted.take(gold.indices), groups, len(gold) / size)


def share_cells(systems: Sequence[Pairs]) -> None:
    """Let systems that answer the same examples with cells share what metrics compute of equal cells."""
    gold = systems[0].gold
    columns = [gold] + [pairs.predicted for pairs in systems]
    if not all(isinstance(column.values, tuple) for column in columns):
        return
    gold_numbers = _new_numbers()
    predicted_numbers = _new_numbers()
    gold_codes = _cell_codes(gold, gold_numbers)
    predicted_codes = [_cell_codes(pairs.predicted, predicted_numbers) for pairs in systems]
    # One number for each pair (gold, predicted), of all examples of the first system, then of the second ...
    width = max(len(predicted_numbers), 1)
    pair_numbers = np.concatenate([gold_codes * width + codes for codes in predicted_codes])
    different_pairs, positions = np.unique(pair_numbers, return_inverse=True)
    # Keys stand in the order in which they got their numbers.
    gold_cells = list(gold_numbers)
    predicted_cells = list(predicted_numbers)
    cells = []
    for number in different_pairs.tolist():
        cells.append((gold_cells[number // width], predicted_cells[number % width]))
    shared = UniquePairs(cells)
    for pairs, of_system in zip(systems, np.split(positions, len(systems)), strict=True):
        pairs._kept[_DIFFERENT] = shared, of_system


def _new_numbers() -> defaultdict[Any, int]:
    """A mapping in which each new key gets the next number from 0 on, when it is first looked up."""
    next_number = count().__next__
    return defaultdict(next_number)


def _cell_codes(column: Column, numbers: defaultdict[Any, int]) -> Ints:
    """The number of each cell, shape (n,); a cell without one gets the next."""
    return np.fromiter(map(numbers.__getitem__, column.cells), np.intp, len(column))


def sort_key(column: Column) -> bytes:
    """The values as bytes, the same for the same answers."""
    if isinstance(column.values, tuple):
        return repr(column.values).encode()
    return bytes(column.values)


def table_of_cells(cells: bytes, *, classes: int) -> list[list[int]]:
    """The confusion table from the cell of each example."""
    table = []
    for gold in range(classes):
        table.append([cells.count(gold * classes + predicted) for predicted in range(classes)])
    return table


def _two_by_two(gold: bytes, predicted: bytes) -> list[list[int]]:
    """The confusion table of two labels, counted by the bits of long integers, which is fastest."""
    gold_bits = bits(gold)
    predicted_bits = bits(predicted)
    both = (gold_bits.number & predicted_bits.number).bit_count()
    only_gold = gold_bits.ones - both
    only_predicted = predicted_bits.ones - both
    neither = len(gold) - both - only_gold - only_predicted
    return [[neither, only_predicted], [only_gold, both]]
