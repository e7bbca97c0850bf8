"""Two submissions and the gold of one test file brought together, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gluebench.analysis.paired import Codes
from gluebench.benchmark import TestFile
from gluebench.scoring import Gold
from gluebench.scoring.draws import Floats
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

    def codes(self) -> Labelled:
        """The label codes."""
        columns = (self.a.gold, self.a.predicted, self.b.predicted)
        return Labelled(*(np.frombuffer(column.codes, np.uint8) for column in columns))

    def numbers(self) -> Numbered:
        """The numbers."""
        columns = (self.a.gold, self.a.predicted, self.b.predicted)
        return Numbered(*(np.array(column.numbers, np.float64) for column in columns))


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
