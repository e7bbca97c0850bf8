"""Metrics that are a function of sums over the examples: mean losses, pooled counts, means per example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.counts import CountMetric, MetricFunction, Point
from gluebench.scoring.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SumMetric(MetricFunction):
    """A metric as a function of the sums of some numbers per example."""

    rows: Callable[[Pairs, Metric], Floats]
    """The numbers of each example, shape (n, k); those of a group may stand at any of its examples."""
    of: Callable[[Any], Any]
    """The values, shape (...), from sums of shape (k, ...)."""
    undefined: Callable[[Any], str | None] = lambda sums: None
    """Why the value is 0.0 by convention, from the sums, shape (k,); None if it is defined."""

    def point(self, pairs: Pairs, metric: Metric) -> Point:
        """The value on all examples."""
        sums = self.rows(pairs, metric).sum(axis=0)
        value = float(self.of(sums))
        return Point(value, None if value else self.undefined(sums))


def summed(function: MetricFunction, metric: Metric, pairs: Pairs) -> SumMetric | None:
    """The manifest's metric as one of sums, which a metric of the confusion table is too; None for others."""
    if isinstance(function, SumMetric):
        return function
    if not isinstance(function, CountMetric):
        return None
    classes, code, of = len(pairs.gold.labels), pairs.code(metric.positive), function.of
    return SumMetric(
        function.name,
        function.lowest,
        lambda pairs, _: _cell_rows(pairs, classes),
        lambda sums: of(sums.reshape(classes, classes, *sums.shape[1:]), code),
    )


def _cell_rows(pairs: Pairs, classes: int) -> Floats:
    """Indicators of each example's cell of the confusion table, shape (n, classes * classes)."""
    import numpy as np

    gold, predicted = (np.frombuffer(column.codes, np.uint8) for column in (pairs.gold, pairs.predicted))
    rows = np.zeros((len(pairs), classes**2))
    rows[np.arange(len(pairs)), gold.astype(np.intp) * classes + predicted] = 1.0
    return rows


SUM_METRICS: tuple[SumMetric, ...] = ()
