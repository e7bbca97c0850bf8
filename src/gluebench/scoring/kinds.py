"""Kinds of units: units with the same gold and answers, so that each kind is looked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from gluebench.scoring.numeric import Ints, NDArray, np
from gluebench.submission.submission import Column

DENSE = 1 << 16
"""Maximum number of possible rows that are counted in a dense array."""


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
        first = np.empty(len(self.counts), np.intp)
        first[self.of_units[::-1]] = np.arange(len(self.of_units))[::-1]  # the last one written stays
        return first


def content_kinds(columns: Sequence[Ints], units: Ints | None) -> Kinds:
    """Kinds of units with the same rows of these columns of `ranks`, in the order of the rows' ranks.

    `units` has the unit of each row, shape (n,), or is None if each row is a unit. The order of the kinds
    depends neither on that of the rows nor on that of the labels in a manifest.
    """
    of_rows, counts = _ranked_rows(columns)
    if units is None:
        return Kinds(counts, of_rows.__getitem__)
    rows = np.lexsort((of_rows, units))
    ends = np.cumsum(np.bincount(units)).tolist()
    values = of_rows[rows].tolist()
    contents = [tuple(values[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    numbers = {content: number for number, content in enumerate(sorted({*contents}))}
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
    different = {cell for column in columns for cell in column.cells}
    order = sorted(range(len(words)), key=words.__getitem__)

    def text(cell: Any) -> str:
        of_words = len(cell) == len(words) and all(isinstance(value, float) for value in cell)
        return repr([cell[place] for place in order] if of_words else cell)

    numbers = {cell: rank for rank, cell in enumerate(sorted(different, key=text))}
    return [np.array([numbers[cell] for cell in column.cells], np.intp) for column in columns]


def comes_later(first: Ints, second: Ints) -> bool:
    """Whether the codes of the first column, in their order, come after those of the second one."""
    size = int(max(first.max(), second.max())) + 1
    if size <= DENSE:
        a, b = (-np.bincount(codes, minlength=size) for codes in (first, second))
    else:
        a, b = np.sort(first), np.sort(second)
    differing = np.flatnonzero(a != b)
    return bool(len(differing) and a[differing[0]] > b[differing[0]])


def _ranked_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
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
    return (np.cumsum(counts > 0) - 1)[ranks], counts[counts > 0]
