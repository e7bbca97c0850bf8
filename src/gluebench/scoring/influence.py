"""Influence values: how much each unit of a test file moves each metric.

The influence of a unit is (units - 1) x (the value - the value without it), exactly or in a closed form with
the same first order (Hampel 1974; Tukey 1958). All of inference follows from these values: the variance of a
score, of the difference of two systems, and of every average. Nothing is random, and the order of rows,
systems or metrics does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric
from gluebench.scoring.kinds import Kinds
from gluebench.scoring.metrics import function_of, point
from gluebench.scoring.numeric import Floats, Ints
from gluebench.scoring.pairs import Pairs


class Influence(NamedTuple):
    """How much each unit of a test file moves each metric.

    A unit is an example or, where the gold has groups, a group. The influence on the mean of the metrics is
    the mean of the influences. Sums over units of squared deviations, over n (n - 1) for n units, are the
    variances of the values.
    """

    values: Floats
    """The metrics, shape (metrics,)."""
    by_kind: Floats
    """Influence of one unit of each kind, shape (metrics, kinds).

    It is not a number for a metric from an entry point with too many kinds (`metrics.MOST_KINDS`).
    """
    kinds: NDArray[Any]
    """The kind of each unit, shape (units,), in the smallest unsigned type; units are in the order of the
    examples or, with groups, of the sorted groups."""
    counts: Ints
    """The number of units of each kind, shape (kinds,)."""

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.kinds)

    @property
    def by_unit(self) -> Floats:
        """The influence of each unit, shape (metrics, units)."""
        return self.by_kind[:, self.kinds]


def influence_of(metrics: Sequence[Metric], pairs: Pairs) -> Influence:
    """The influence of each unit on these metrics of one test file."""
    values = [point(metric, pairs).value for metric in metrics]
    by_kind, kinds = influence_of_answers(metrics, pairs)
    return Influence(np.array(values), by_kind, kinds.of_units, kinds.counts)


def influence_of_answers(metrics: Sequence[Metric], pairs: Pairs) -> tuple[Floats, Kinds]:
    """As `influence_by_kind`, computed once for the same answers."""

    def compute() -> tuple[Floats, Kinds]:
        values = [point(metric, pairs).value for metric in metrics]
        return influence_by_kind(metrics, pairs, values)

    return pairs.compute_once(("influence", *metrics), compute)


def influence_by_kind(
    metrics: Sequence[Metric], pairs: Pairs, values: Sequence[float]
) -> tuple[Floats, Kinds]:
    """The influence of a unit of each kind, shape (metrics, kinds), on the values of the metrics."""
    functions = [function_of(metric) for metric in metrics]
    kinds = functions[0].kinds_of(pairs)
    if any(function.kinds_of(pairs) is not kinds for function in functions):
        kinds = pairs.unit_kinds
    by_kind = []
    for function, metric, value in zip(functions, metrics, values, strict=True):
        influence = function.influence_on(pairs, metric, value)
        kinds_of_metric = function.kinds_of(pairs)
        if kinds_of_metric is not kinds:  # then each unit is a kind of its own
            influence = influence[kinds_of_metric.of_units]
        by_kind.append(influence)
    return np.array(by_kind), kinds
