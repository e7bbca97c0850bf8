"""Two submissions and the gold of one test file brought together, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.differences import Alone
from gluebench.benchmark import TestFile
from gluebench.scoring import Gold
from gluebench.scoring.draws import Floats
from gluebench.scoring.joint import Codes
from gluebench.scoring.pairs import Pairs, matched
from gluebench.submission import Submission


class Labelled(NamedTuple):
    """Label codes of the same examples."""

    gold: Codes
    a: Codes
    b: Codes


class Numbered(NamedTuple):
    """Numbers of the same examples."""

    gold: Floats
    a: Floats
    b: Floats


@dataclass(frozen=True, slots=True)
class Columns:
    """The examples of a test file that have gold, each with both predictions."""

    a: Pairs
    b: Pairs

    def __len__(self) -> int:
        return len(self.a)

    @property
    def labels(self) -> tuple[str, ...]:
        """Label words in the order of their codes; empty for numbers."""
        return self.a.gold.labels

    @property
    def same(self) -> bool:
        """Whether the two systems answer alike throughout."""
        return self.a.predicted.values == self.b.predicted.values

    @property
    def turned(self) -> Columns:
        """The same with the two systems in each other's place."""
        return Columns(self.b, self.a)

    @property
    def in_order(self) -> bool:
        """Whether A's answers come first in some fixed order, so that compare(b, a) mirrors compare(a, b)."""
        return bytes(self.a.predicted.values) <= bytes(self.b.predicted.values)

    @property
    def groups(self) -> Codes | None:
        """The number of each example's group; None where examples stand alone."""
        return None if self.a.groups is None else np.array(self.a.groups)

    @property
    def units(self) -> int:
        """Independent pieces of evidence: groups where there are groups, else examples."""
        return len(self) if self.a.groups is None else len(set(self.a.groups))

    @property
    def alone(self) -> Alone | None:
        """Examples that one system alone has right; None for numbers."""
        if not self.labels:
            return None
        gold, a, b = self.codes()
        return Alone(int(np.count_nonzero((a == gold) & (b != gold))),
                     int(np.count_nonzero((b == gold) & (a != gold))))  # fmt: skip

    @property
    def units_apart(self) -> int:
        """Units in which the two answer differently."""
        _, a, b = self.codes() if self.labels else self.numbers()
        return self._units_where(a != b)

    @property
    def units_with_others(self) -> int:
        """Units with a gold label other than the most frequent."""
        gold = self.codes().gold
        return self._units_where(gold != np.bincount(gold).argmax())

    def _units_where(self, holds: NDArray[np.bool_]) -> int:
        return int(np.count_nonzero(holds)) if self.groups is None else len(np.unique(self.groups[holds]))

    def subset(self, positions: Sequence[int]) -> Columns:
        """The examples at these positions; their groups are numbered anew, so that none is empty."""
        return Columns(*(_part(each, positions) for each in (self.a, self.b)))

    def codes(self) -> Labelled:
        """The label codes."""
        columns = (self.a.gold, self.a.predicted, self.b.predicted)
        return Labelled(*(np.frombuffer(column.codes, np.uint8) for column in columns))

    def numbers(self) -> Numbered:
        """The numbers."""
        columns = (self.a.gold, self.a.predicted, self.b.predicted)
        return Numbered(*(np.array(column.numbers, np.float64) for column in columns))


def _part(pairs: Pairs, positions: Sequence[int]) -> Pairs:
    part = pairs.subset(positions)
    if part.groups is None:
        return part
    numbers = {group: number for number, group in enumerate(dict.fromkeys(part.groups))}
    return replace(part, groups=tuple(map(numbers.__getitem__, part.groups)))


def file_columns(file: TestFile, a: Submission, b: Submission, gold: Gold) -> Columns | None:
    """The columns of a test file; None where a submission or the gold has none."""
    if not all(file.name in each for each in (a.predictions, b.predictions, gold.columns)):
        return None
    labels, metadata = gold.columns[file.name], gold.metadata.get(file.name)
    groups = metadata.groups if metadata else None
    size = file.size(gold.role)
    return Columns(
        *(matched(labels, each.predictions[file.name], groups=groups, size=size) for each in (a, b))
    )
