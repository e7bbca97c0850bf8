"""Intervals by resampling: of a task's metrics and score, and of every part of a diagnostic set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric, Task
from gluebench.scoring.bars import Bar
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import (
    Floats,
    Ints,
    blocks,
    cells_of,
    generator,
    positions_of,
    row_weights,
    tables,
    unit_weights,
)
from gluebench.scoring.intervals import UNDEFINED, wilson
from gluebench.scoring.metrics import custom_metric
from gluebench.scoring.pairs import Pairs, Point, positive_code, values
from gluebench.scoring.tags import Category
from gluebench.scoring.weighted import WEIGHTED


class TaskBars(NamedTuple):
    """The error bars of a task."""

    metrics: Mapping[str, Bar]
    score: Bar
    draws: Floats
    """(resamples,): the task score in each."""


def task_bars(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, Point], *, resamples: int, seed: int
) -> TaskBars:
    """Error bars of the metrics that have a point, and of their mean."""
    drawn: dict[str, Floats] = {}
    for name in dict.fromkeys(metric.file for metric in task.metrics if metric.file in pairs):
        metrics = [metric for metric in task.metrics if metric.file == name]
        drawn |= _file_draws(pairs[name], metrics, resamples=resamples, rng=generator(seed, name))
    metrics = [metric for metric in task.metrics if metric.name in drawn]
    bars = {
        metric.name: _bar(metric, pairs[metric.file], points[metric.name], drawn[metric.name])
        for metric in metrics
    }
    score = np.mean([drawn[metric.name] for metric in metrics], axis=0)
    alone = len(metrics) == 1
    return TaskBars(bars, bars[metrics[0].name] if alone else percentile_bar(score), score)


def _bar(metric: Metric, pairs: Pairs, point: Point, draws: Floats) -> Bar:
    if point.undefined:
        return Bar(None, None, UNDEFINED)
    known = COUNT_METRICS.get(metric.function)
    if known is not None and known.proportion and pairs.groups is None:
        hits = sum(row[code] for code, row in enumerate(pairs.table))
        return Bar(*wilson(hits, len(pairs)))
    return percentile_bar(draws)


def percentile_bar(draws: Floats) -> Bar:
    """The 2.5 % and 97.5 % points of the resamples."""
    low, high = percentiles(draws)
    return Bar(float(low), float(high))


def mean_bar(draws: Sequence[Floats]) -> Bar:
    """The bar of the mean of several scores, each with its value in every resample."""
    return percentile_bar(np.mean(draws, axis=0))


def percentiles(draws: NDArray[Any]) -> NDArray[np.float64]:
    """(..., resamples) to (2, ...): the 2.5 % and 97.5 % points.

    The k-th smallest of B stands at k / (B + 1) (definition 6 of Hyndman and Fan 1996).
    """
    ordered = np.sort(draws, axis=-1)
    last = draws.shape[-1] - 1
    ends = []
    for share in (0.025, 0.975):
        at = min(max(share * (last + 2) - 1, 0.0), float(last))
        below = int(at)
        above = min(below + 1, last)
        ends.append(ordered[..., below] + (at - below) * (ordered[..., above] - ordered[..., below]))
    return np.stack(ends)


def _file_draws(
    pairs: Pairs, metrics: Sequence[Metric], *, resamples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Each metric of one test file in each resample, all from the same resamples."""
    if all(metric.function in COUNT_METRICS for metric in metrics):
        blocks = [
            [COUNT_METRICS[metric.function].of(block, positive_code(metric, pairs)) for metric in metrics]
            for block in tables(pairs, resamples=resamples, rng=rng)
        ]
    else:
        measures = [_measure(metric, pairs) for metric in metrics]
        blocks = [
            [measure(block) for measure in measures]
            for block in row_weights(pairs, resamples=resamples, rng=rng)
        ]
    columns = zip(*blocks, strict=True)
    return {metric.name: np.concatenate(column) for metric, column in zip(metrics, columns, strict=True)}


def _measure(metric: Metric, pairs: Pairs) -> Callable[[NDArray[Any]], Floats]:
    """A metric as a function of (resamples, n) weights, one value a resample."""
    if metric.function in WEIGHTED:
        return WEIGHTED[metric.function](pairs.gold.numbers, pairs.predicted.numbers)
    if metric.function in COUNT_METRICS:
        classes, positive = len(pairs.gold.labels), positive_code(metric, pairs)
        cells = np.eye(classes * classes)[cells_of(pairs)]

        def counted(weights: NDArray[Any]) -> Floats:
            table = (weights @ cells).T.reshape(classes, classes, -1)
            result: Floats = COUNT_METRICS[metric.function].of(table, positive)
            return result

        return counted
    function, gold, predicted = custom_metric(metric.function), values(pairs.gold), values(pairs.predicted)

    def custom(weights: NDArray[Any]) -> Floats:
        drawn = (positions_of(row) for row in weights)
        return np.array([function(gold[at], predicted[at]) for at in drawn], np.float64)

    return custom


def diagnostic_bars(
    name: str,
    metric: Metric,
    pairs: Pairs,
    *,
    categories: Sequence[Category],
    points: Sequence[Point],
    resamples: int,
    seed: int,
) -> list[Bar]:
    """Error bars of the whole set and of each category, all from the same resamples of the whole."""
    rng = generator(seed, name)
    if metric.function not in COUNT_METRICS:
        return _each_alone(metric, pairs, categories=categories, resamples=resamples, rng=rng)
    drawn = diagnostic_draws(metric, pairs, categories, resamples=resamples, rng=rng)
    low, high = percentiles(drawn)
    return [
        Bar(None, None, UNDEFINED) if point.undefined else Bar(float(low[at]), float(high[at]))
        for at, point in enumerate(points)
    ]


def _each_alone(
    metric: Metric, pairs: Pairs, *, categories: Sequence[Category], resamples: int, rng: np.random.Generator
) -> list[Bar]:
    bars = []
    for each in categories:
        drawn = _file_draws(pairs.subset(each.positions), [metric], resamples=resamples, rng=rng)
        bars.append(percentile_bar(drawn[metric.name]))
    return bars


def diagnostic_draws(
    metric: Metric, pairs: Pairs, categories: Sequence[Category], *, resamples: int, rng: np.random.Generator
) -> Floats:
    """(categories, resamples): the metric in each category under joint resamples of the units."""
    classes, positive = len(pairs.gold.labels), positive_code(metric, pairs)
    parts = [_part(pairs, each.positions) for each in categories]
    units = len(pairs) if pairs.groups is None else max(pairs.groups) + 1
    result = []
    for size in blocks(resamples, units):
        weights = np.ascontiguousarray(unit_weights(units, resamples=size, rng=rng).T, np.float32)
        cells = np.stack([part.cells @ weights[part.units] for part in parts], axis=1)
        table = cells.astype(np.float64).reshape(classes, classes, len(parts), size)
        result.append(COUNT_METRICS[metric.function].of(table, positive))
    return np.concatenate(result, axis=1)


class _Part(NamedTuple):
    """One category as units."""

    units: Ints
    """(k,): the units that have examples in it."""
    cells: NDArray[np.float32]
    """(classes * classes, k): examples of each unit by cell; float32 is exact for counts below 2**24."""


def _part(pairs: Pairs, positions: Sequence[int]) -> _Part:
    at = np.asarray(positions)
    unit = at if pairs.groups is None else np.asarray(pairs.groups)[at]
    units, numbers = np.unique(unit, return_inverse=True)
    cells = np.zeros((len(pairs.gold.labels) ** 2, len(units)), np.float32)
    np.add.at(cells, (cells_of(pairs)[at], numbers), 1.0)
    return _Part(units, cells)
