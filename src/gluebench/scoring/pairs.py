"""Gold and predictions of one test file brought together, and the value of a metric on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.correlation import NUMBER_METRICS, constant
from gluebench.scoring.counts import COUNT_METRICS, SIXTEEN, confusion, joined, table_of_cells
from gluebench.scoring.metrics import custom_metric
from gluebench.submission.column import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Point(NamedTuple):
    """The value of a metric."""

    value: float
    undefined: str | None = None
    """Why the value is 0.0 by convention; None where it is defined."""


@dataclass(frozen=True)
class Pairs:
    """The examples of one test file that have gold, each with its prediction, in the same order."""

    gold: Column
    predicted: Column
    groups: tuple[int, ...] | None = None
    """The group of each example; None if every example stands alone."""
    covered: float | None = None
    """Share of the split's examples that have gold, when not all have."""

    def __len__(self) -> int:
        return len(self.gold)

    @cached_property
    def table(self) -> list[list[int]]:
        """The confusion table, for label columns; counted once for all metrics of the file."""
        return confusion(self.gold.codes, self.predicted.codes, classes=len(self.gold.labels))

    @cached_property
    def cells(self) -> bytes:
        """The cell of each example, gold * classes + predicted, for label columns of up to sixteen labels."""
        return joined(self.gold.codes, self.predicted.codes, classes=len(self.gold.labels))

    def table_of(self, positions: Sequence[int]) -> list[list[int]]:
        """The confusion table of some of the examples."""
        if len(self.gold.labels) > SIXTEEN:
            return self.subset(positions).table
        return table_of_cells(bytes(map(self.cells.__getitem__, positions)), classes=len(self.gold.labels))

    def subset(self, positions: Sequence[int]) -> Pairs:
        """The examples at these positions, in their order."""
        groups = None if self.groups is None else tuple(map(self.groups.__getitem__, positions))
        return Pairs(self.gold.take(positions), self.predicted.take(positions), groups)


def matched(gold: Column, predicted: Column, *, groups: tuple[int, ...] | None, size: int) -> Pairs:
    """Join a full column of predictions to gold that may lack examples, by index."""
    if gold.indices is None:
        return Pairs(gold, predicted, groups)
    return Pairs(gold, predicted.take(gold.indices), groups, len(gold) / size)


def positive_code(metric: Metric, pairs: Pairs) -> int:
    """The code of the metric's positive label; 0 for the metrics that have none."""
    return 0 if metric.positive is None else pairs.gold.labels.index(metric.positive)


def point(metric: Metric, pairs: Pairs) -> Point:
    """The metric's value. Raises ValueError if a metric from elsewhere gives no finite number."""
    if metric.function in COUNT_METRICS:
        return point_of_table(metric, pairs.table, positive=positive_code(metric, pairs))
    if metric.function in NUMBER_METRICS:
        gold, predicted = pairs.gold.numbers, pairs.predicted.numbers
        found = NUMBER_METRICS[metric.function](gold, predicted)
        return Point(found) if found else Point(0.0, _one_value(pairs))
    value = float(custom_metric(metric.function)(values(pairs.gold), values(pairs.predicted)))
    if not isfinite(value):
        raise ValueError(
            f"the metric {metric.function} gave {value} on {metric.file}; expected a finite number"
        )
    return Point(value)


def _one_value(pairs: Pairs) -> str | None:
    """Why a correlation is not defined, if it is not."""
    for name, column in (("the predictions", pairs.predicted), ("the gold scores", pairs.gold)):
        if constant(column.numbers):
            return f"{name} are all the same"
    return None


def point_of_table(metric: Metric, table: list[list[int]], *, positive: int) -> Point:
    """The value of a count metric on a confusion table."""
    formula = COUNT_METRICS[metric.function]
    value = float(formula.of(table, positive))
    return Point(value) if value else Point(value, formula.undefined(table, positive))


def values(column: Column) -> NDArray[Any]:
    """The column as a metric from elsewhere takes it: an array of label words or of floats."""
    import numpy as np

    return np.array(column.words() if column.labels else column.numbers)
