"""What every metric is, and metrics from elsewhere: functions that an installed package offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.pairs import Pairs
from gluebench.submission.submission import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTRY_POINTS = "gluebench.metrics"

Form = Literal["labels", "numbers", "any"]
"""What a metric takes: columns of labels, columns of numbers, or either."""


class Point(NamedTuple):
    """The value of a metric."""

    value: float
    undefined: str | None = None
    """Why the value is 0.0 by convention; None where it is defined."""


@dataclass(frozen=True)
class MetricFunction(ABC):
    """One metric, as the manifest names it under `function`; its highest value is 1."""

    name: str
    lowest: float
    """The lowest value it can have: 0 for a share, -1 for a correlation; minus infinity if not known."""

    form: ClassVar[Form]

    @abstractmethod
    def point(self, pairs: Pairs, metric: Metric) -> Point:
        """The value on all examples; `metric` is the manifest's record, with the positive label of F1."""


@dataclass(frozen=True)
class FunctionMetric(MetricFunction):
    """A function (gold, predicted) to a finite number, over arrays of label words or of floats."""

    of: Callable[[Any, Any], float]

    form = "any"

    def point(self, pairs: Pairs, metric: Metric) -> Point:
        """The value. Raises ValueError if it is not a finite number."""
        value = float(self.of(_values(pairs.gold), _values(pairs.predicted)))
        if not isfinite(value):
            raise ValueError(
                f"the metric {self.name} gave {value} on {metric.file}; expected a finite number"
            )
        return Point(value)


def _values(column: Column) -> NDArray[Any]:
    import numpy as np

    return np.array(column.words() if column.labels else column.numbers)
