"""Kinds of units: units with the same gold and answers, so that each kind is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from gluebench.scoring.numeric import Ints, NDArray, np
from gluebench.submission.submission import Column

DENSE = 1 << 16
"""Maximum number of possible rows that are counted in a dense array."""
_BEGINNING = 1 << 12
"""Number of units among which one of each kind is looked for before all are."""


class Kinds:
    """The kind of each unit, numbered from 0."""

    def __init__(self, counts: Ints, of: Callable[[Any], NDArray[Any]]) -> None:
        self.counts = counts
        """The number of units of each kind, shape (kinds,)."""
        self.of = of
        """The kinds of some units, by an index of these."""

    @cached_property
    def of_units(self) -> NDArray[Any]:
        """The kind of each unit, shape (units,), in the smallest unsigned type."""
        return self.of(slice(None)).astype(np.min_scalar_type(len(self.counts) - 1))

    @cached_property
    def size(self) -> int:
        """The number of units."""
        return int(self.counts.sum())

    @cached_property
    def first(self) -> Ints:
        """A unit of each kind, shape (kinds,)."""
        for end in (_BEGINNING, None):
            kinds = self.of_units[:end]
            first = np.full(len(self.counts), -1, np.intp)
            first[kinds[::-1]] = np.arange(len(kinds))[::-1]  # the last one written stays
            if first.min() >= 0:
                break
        return first


def content_kinds(columns: Sequence[Ints], units: Ints | None) -> Kinds:
    """Kinds of units with the same rows of these columns of `ranks`, in the order of the rows' ranks.

    `units` has the unit of each row, shape (n,), or is None if each row is a unit. The order of the kinds
    depends neither on that of the rows nor on that of the labels in a manifest.
    """
    ranks_of_rows, counts = _row_ranks(columns)
    if units is None:
        return Kinds(counts, ranks_of_rows.__getitem__)
    by_unit = np.lexsort((ranks_of_rows, units))
    ranks = ranks_of_rows[by_unit].tolist()
    contents = []  # of each unit, the ranks of its rows in ascending order
    start = 0
    for size in np.bincount(units).tolist():
        contents.append(tuple(ranks[start : start + size]))
        start += size
    numbers = {content: number for number, content in enumerate(sorted(set(contents)))}
    of_units = np.array([numbers[content] for content in contents], np.intp)
    return Kinds(np.bincount(of_units), of_units.__getitem__)


def ranks(columns: Sequence[Column], words: Sequence[str] = ()) -> list[Ints]:
    """The rank of each value among the different ones of all columns, each of shape (n,).

    Labels have the rank of their words, other values than numbers that of their text in Python; the numbers
    of a distribution are those of `words`, and are taken in the order of these.
    """
    if columns[0].labels:
        # In the smallest type, as this is done for every example.
        of_codes: NDArray[Any] = np.argsort(np.argsort(columns[0].labels)).astype(np.uint8)
        return [of_codes[np.frombuffer(column.codes, np.uint8)] for column in columns]
    size = len(columns[0])
    if not isinstance(columns[0].values, tuple):
        values = np.concatenate([column.numbers for column in columns])
        return np.split(np.unique(values, return_inverse=True)[1], range(size, len(values), size))
    different: set[Any] = set()
    for column in columns:
        different.update(column.cells)
    order = sorted(range(len(words)), key=words.__getitem__)

    def sort_text(cell: Any) -> str:
        of_words = len(cell) == len(words) and all(isinstance(value, float) for value in cell)
        if of_words:
            return repr([cell[place] for place in order])
        return repr(cell)

    ranks_of_cells = {cell: rank for rank, cell in enumerate(sorted(different, key=sort_text))}
    ranks_of_columns = []
    for column in columns:
        ranks_of_columns.append(np.array([ranks_of_cells[cell] for cell in column.cells], np.intp))
    return ranks_of_columns


def comes_later(first: Ints, second: Ints) -> bool:
    """Whether the codes of the first column, in their order, come after those of the second one."""
    size = int(max(first.max(), second.max())) + 1
    if size <= DENSE:
        return counts_come_later(np.bincount(first, minlength=size), np.bincount(second, minlength=size))
    return _is_larger(np.sort(first), np.sort(second))


def counts_come_later(first: Ints, second: Ints) -> bool:
    """As `comes_later`, from how often each code occurs."""
    # Of columns in ascending order, the one with fewer of the first different code comes later.
    return _is_larger(-first, -second)


def _is_larger(first: Ints, second: Ints) -> bool:
    """Whether the first column has the larger value where the two differ first."""
    differing = np.flatnonzero(first != second)
    return bool(len(differing) and first[differing[0]] > second[differing[0]])


def _row_ranks(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The rank of each row among the different ones, shape (n,), and how often each of these occurs."""
    ranks: NDArray[Any] = np.zeros(len(columns[0]), np.uint8)
    different = 1
    for column in columns:
        width = int(column.max()) + 1
        smallest = np.min_scalar_type(different * width)
        ranks = ranks.astype(smallest) * smallest.type(width) + column
        if different * width > DENSE:
            there, ranks = np.unique(ranks, return_inverse=True)
            different = len(there)
        else:
            different *= width
    counts = np.bincount(ranks, minlength=different)
    occurs = counts > 0
    # In the smallest type, as this is done for every row.
    rank_among_occurring = (np.cumsum(occurs) - 1).astype(np.min_scalar_type(different))
    return rank_among_occurring[ranks], counts[occurs]
