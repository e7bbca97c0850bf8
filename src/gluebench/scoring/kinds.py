"""Kinds of units: units that contribute equally to every metric, so that each kind is looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gluebench.scoring.numeric import Floats, Ints, NDArray, np

_DENSE = 1 << 16
"""Maximum number of possible combinations of labels for counting in a dense array."""


@dataclass(frozen=True)
class Kinds:
    """The kind of each unit."""

    of_units: NDArray[Any]
    """The kind of each unit, numbered from 0, shape (units,)."""
    counts: Ints
    """The number of units of each kind, shape (kinds,)."""

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.of_units)

    @classmethod
    def single(cls, size: int) -> Kinds:
        """Units that are each a kind of their own."""
        return cls(smallest(np.arange(size)), np.ones(size, np.int64))


@dataclass(frozen=True)
class LabelKinds(Kinds):
    """Kinds of units whose examples are combinations of a gold label and the answers of systems."""

    cells: Ints
    """Codes of each combination that occurs, shape (cells, 1 + systems)."""
    members: Floats | None
    """Examples of each cell in one unit, shape (kinds, cells); None if each cell is a kind."""

    def tables(self, classes: int, some: slice, *, system: int = 0) -> Floats:
        """The confusion tables of one unit of some kinds, shape (gold, predicted, kinds)."""
        places = self.cells[:, 0] * classes + self.cells[:, 1 + system]
        number = len(self.counts[some])
        if self.members is None:
            tables = np.zeros((classes**2, number))
            tables[places[some], np.arange(number)] = 1.0
        else:
            tables = np.zeros((classes**2, number))
            np.add.at(tables, places, self.members[some].T)
        return tables.reshape(classes, classes, number)


def label_kinds(columns: Sequence[bytes], classes: int, units: Ints | None) -> LabelKinds:
    """The kinds of units from label codes of gold and systems; `units` are those of the examples."""
    codes = np.array([np.frombuffer(column, np.uint8) for column in columns])
    cells, cell_of, counts = _combinations(codes, classes)
    if units is None:
        return LabelKinds(smallest(cell_of), counts, cells, None)
    width = len(cells)
    of_groups = np.bincount(units * width + cell_of, minlength=(int(units.max()) + 1) * width)
    members, kind_of, counts = np.unique(
        of_groups.reshape(-1, width), axis=0, return_inverse=True, return_counts=True
    )
    return LabelKinds(smallest(kind_of.reshape(-1)), counts, cells, members.astype(np.float64))


def smallest(numbers: Ints) -> NDArray[Any]:
    """The numbers in the smallest unsigned type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def _combinations(codes: NDArray[np.uint8], classes: int) -> tuple[Ints, Ints, Ints]:
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
