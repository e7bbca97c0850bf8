"""Joint resampling row by row, for metrics of which nothing is known but that they can be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gluebench.analysis.columns import Columns
from gluebench.benchmark import Metric
from gluebench.scoring.correlation import NUMBER_METRICS
from gluebench.scoring.counts import COUNT_METRICS, confusion
from gluebench.scoring.draws import Floats, positions_of, row_weights
from gluebench.scoring.joint import Codes
from gluebench.scoring.metrics import custom_metric
from gluebench.scoring.pairs import positive_code


class Differences(NamedTuple):
    """A minus B, one of each a resample."""

    bootstrap: Floats
    exchanged: Floats


Function = Callable[[Codes | Floats, Codes | Floats], float]
"""A metric of (gold, predicted) arrays of codes or of numbers."""


def row_differences(
    metric: Metric, columns: Columns, *, resamples: int, rng: np.random.Generator
) -> Differences:
    """The metric's difference when examples are drawn and when answers are exchanged, each by group."""
    gold, a, b = columns.codes() if columns.labels else columns.numbers()
    of = _function(metric, columns)
    groups = np.arange(len(gold)) if columns.groups is None else columns.groups
    drawn = [
        of(gold[rows], a[rows]) - of(gold[rows], b[rows])
        for block in row_weights(columns.a, resamples=resamples, rng=rng)
        for rows in map(positions_of, block)
    ]
    exchanged = []
    for _ in range(resamples):
        coins = rng.integers(0, 2, int(groups.max()) + 1, dtype=np.int8).astype(bool)[groups]
        exchanged.append(of(gold, np.where(coins, b, a)) - of(gold, np.where(coins, a, b)))
    return Differences(np.array(drawn), np.array(exchanged))


def _function(metric: Metric, columns: Columns) -> Function:
    if metric.function in COUNT_METRICS:
        return _count_function(metric, columns)
    if metric.function in NUMBER_METRICS:
        correlation = NUMBER_METRICS[metric.function]
        return lambda gold, predicted: correlation(gold.tolist(), predicted.tolist())
    custom = custom_metric(metric.function)
    if not columns.labels:
        return lambda gold, predicted: float(custom(gold.tolist(), predicted.tolist()))
    words = np.array(columns.labels, dtype=object)
    return lambda gold, predicted: float(custom(words[gold].tolist(), words[predicted].tolist()))


def _count_function(metric: Metric, columns: Columns) -> Function:
    formula, positive = COUNT_METRICS[metric.function], positive_code(metric, columns.a)

    def of(gold: Codes | Floats, predicted: Codes | Floats) -> float:
        table = confusion(gold.tobytes(), predicted.tobytes(), classes=len(columns.labels))
        return float(formula.of(table, positive))

    return of
