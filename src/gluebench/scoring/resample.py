"""Intervals by resampling: of a task's metrics and score, and of every part of a diagnostic set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric, Task
from gluebench.scoring.averages import Part, mean_interval, task_score
from gluebench.scoring.bars import Bar, Interval
from gluebench.scoring.bca import accelerations, bca_bar, percentiles
from gluebench.scoring.counts import COUNT_METRICS
from gluebench.scoring.draws import (
    Floats,
    Ints,
    Kinds,
    blocks,
    cells_of,
    drawn_tables,
    generator,
    kinds,
    positions_of,
    row_weights,
    unit_weights,
)
from gluebench.scoring.intervals import (
    FEWEST_NUMBERS,
    FEWEST_OTHERS,
    FEWEST_UNITS,
    TOO_FEW,
    UNDEFINED,
    grouped_hits,
    grouped_wilson,
    wilson,
)
from gluebench.scoring.metrics import custom_metric
from gluebench.scoring.pairs import Pairs, Point, positive_code, values
from gluebench.scoring.tags import Category
from gluebench.scoring.weighted import WEIGHTED


class TaskBars(NamedTuple):
    """The error bars of a task."""

    metrics: Mapping[str, Bar]
    score: Bar
    part: Part
    """The task score as a part of the macro-average, with an interval even where its own is withheld."""


class _File(NamedTuple):
    """The error bars of the metrics of one test file."""

    bars: Mapping[str, Bar]
    part: Part
    """Their mean, as a part of the task score."""


def task_bars(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, Point], *, resamples: int, seed: int
) -> TaskBars:
    """Error bars of the metrics that have a point, and of their mean; test files are independent."""
    files = [
        _file_bars(
            [metric for metric in task.metrics if metric.file == name],
            pairs[name],
            points,
            resamples=resamples,
            rng=generator(seed, name),
        )
        for name in dict.fromkeys(metric.file for metric in task.metrics if metric.file in pairs)
    ]
    bars = {name: bar for file in files for name, bar in file.bars.items()}
    part = Part(
        task_score([points[name].value for name in bars]), mean_interval([file.part for file in files])
    )
    withheld = [bar.withheld for bar in bars.values() if bar.withheld]
    return TaskBars(bars, Bar(None, None, withheld[0]) if withheld else Bar(*part.interval), part)


def _file_bars(
    metrics: Sequence[Metric],
    pairs: Pairs,
    points: Mapping[str, Point],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> _File:
    drawn = _file_draws(pairs, metrics, resamples=resamples, rng=rng)
    bars = {each.name: _bar(each, pairs, points[each.name], draws=drawn[each.name]) for each in metrics}
    value, bar = task_score([points[each.name].value for each in metrics]), bars[metrics[0].name]
    if len(metrics) > 1 or bar.low is None or bar.high is None:
        interval = percentiles(np.mean(list(drawn.values()), axis=0))
    else:
        interval = Interval(bar.low, bar.high)
    return _File(bars, Part(value, interval, len(metrics)))


def _bar(metric: Metric, pairs: Pairs, point: Point, *, draws: Floats) -> Bar:
    if point.undefined:
        return Bar(None, None, UNDEFINED)
    known = COUNT_METRICS.get(metric.function)
    if known is None:
        few = _units(pairs) < FEWEST_NUMBERS
        return Bar(None, None, TOO_FEW) if few else Bar(*percentiles(draws))
    if known.proportion:
        return _proportion_bar(pairs)
    these = kinds(pairs)
    if too_few(these):
        return Bar(None, None, TOO_FEW)
    left_out = _left_out(metric, pairs, these)
    acceleration = accelerations(left_out, counts=these.counts, starts=np.zeros(1, np.int64))[0]
    return bca_bar(point.value, np.sort(draws), acceleration)


def _proportion_bar(pairs: Pairs) -> Bar:
    if pairs.groups is None:
        return wilson(sum(row[code] for code, row in enumerate(pairs.table)), len(pairs))
    return grouped_wilson(grouped_hits(pairs.gold.codes, pairs.predicted.codes, pairs.groups))


def _units(pairs: Pairs) -> int:
    return len(pairs) if pairs.groups is None else len(set(pairs.groups))


def _left_out(metric: Metric, pairs: Pairs, these: Kinds) -> Floats:
    """(kinds,): the metric without one unit of that kind."""
    whole = np.asarray(pairs.table, np.float64)[:, :, np.newaxis]
    left_out: Floats = COUNT_METRICS[metric.function].of(whole - these.tables, positive_code(metric, pairs))
    return left_out


def too_few(these: Kinds) -> bool:
    """Whether resampling these units would pretend to know what it cannot (docs/design/intervals.md).

    They are fewer than eight; or all right, or all wrong; or fewer than five have a gold label other than
    the most frequent.
    """
    counts, tables = these
    right = np.trace(tables)
    gold = tables.sum(axis=1)
    others = np.delete(gold, np.argmax(gold @ counts), axis=0).sum(axis=0)
    wrong = gold.sum(axis=0) - right
    return bool(
        counts.sum() < FEWEST_UNITS
        or not (wrong * counts).any()
        or not (right * counts).any()
        or counts[others > 0].sum() < FEWEST_OTHERS
    )


def _file_draws(
    pairs: Pairs, metrics: Sequence[Metric], *, resamples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Each metric of one test file in each resample, all from the same resamples."""
    if all(metric.function in COUNT_METRICS for metric in metrics):
        found = [
            [COUNT_METRICS[metric.function].of(block, positive_code(metric, pairs)) for metric in metrics]
            for block in drawn_tables(kinds(pairs), resamples=resamples, rng=rng)
        ]
    else:
        pairs = pairs if pairs.gold.labels else _sorted(pairs)
        measures = [measure(metric, pairs) for metric in metrics]
        found = [
            [measure(block) for measure in measures]
            for block in row_weights(pairs, resamples=resamples, rng=rng)
        ]
    columns = zip(*found, strict=True)
    return {metric.name: np.concatenate(column) for metric, column in zip(metrics, columns, strict=True)}


def _sorted(pairs: Pairs) -> Pairs:
    """The same examples in the order of their predictions, so that these need no sorting in any resample."""
    return pairs.subset(tuple(np.argsort(np.frombuffer(pairs.predicted.values), kind="stable").tolist()))


def measure(metric: Metric, pairs: Pairs) -> Callable[[NDArray[Any]], Floats]:
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
    known = COUNT_METRICS.get(metric.function)
    if known is None or known.proportion:
        bars = []
        for each, point in zip(categories, points, strict=True):
            some = pairs.subset(each.positions)
            drawn = {} if known else _file_draws(some, [metric], resamples=resamples, rng=rng)
            bars.append(_bar(metric, some, point, draws=drawn.get(metric.name, np.zeros(0))))
        return bars
    parts = [_part(pairs, each.positions) for each in categories]
    ordered = np.sort(diagnostic_draws(metric, pairs, parts, resamples=resamples, rng=rng))
    accelerated = _part_accelerations(metric, pairs, parts)
    bars = []
    for at, (point, part) in enumerate(zip(points, parts, strict=True)):
        if point.undefined:
            bars.append(Bar(None, None, UNDEFINED))
        elif too_few(part.kinds):
            bars.append(Bar(None, None, TOO_FEW))
        else:
            bars.append(bca_bar(point.value, ordered[at], accelerated[at]))
    return bars


class Units(NamedTuple):
    """One category as units."""

    units: Ints
    """(k,): the units that have examples in it."""
    kinds: Kinds
    """Each of them as a kind of its own, in float32: exact for counts below 2**24."""


def _part(pairs: Pairs, positions: Sequence[int]) -> Units:
    at, classes = np.asarray(positions), len(pairs.gold.labels)
    unit = at if pairs.groups is None else np.asarray(pairs.groups)[at]
    units, numbers = np.unique(unit, return_inverse=True)
    cells = np.bincount(cells_of(pairs)[at] * len(units) + numbers, minlength=classes**2 * len(units))
    tables = cells.reshape(classes, classes, len(units)).astype(np.float32)
    return Units(units, Kinds(np.ones(len(units), np.int64), tables))


def diagnostic_draws(
    metric: Metric, pairs: Pairs, parts: Sequence[Units], *, resamples: int, rng: np.random.Generator
) -> Floats:
    """(parts, resamples): the metric in each part under joint resamples of all units."""
    classes, positive = len(pairs.gold.labels), positive_code(metric, pairs)
    units = len(pairs) if pairs.groups is None else max(pairs.groups) + 1
    found = []
    for size in blocks(resamples, units):
        weights = np.ascontiguousarray(unit_weights(units, resamples=size, rng=rng).T, np.float32)
        cells = [part.kinds.tables.reshape(classes**2, -1) @ weights[part.units] for part in parts]
        table = np.stack(cells, axis=1).astype(np.float64).reshape(classes, classes, len(parts), size)
        found.append(COUNT_METRICS[metric.function].of(table, positive))
    return np.concatenate(found, axis=1)


def _part_accelerations(metric: Metric, pairs: Pairs, parts: Sequence[Units]) -> Floats:
    """(parts,): the acceleration in each, all jackknifed in one go."""
    tables = [part.kinds.tables for part in parts]
    left_out = np.concatenate(
        [each.sum(axis=2, keepdims=True, dtype=np.float64) - each for each in tables], axis=2
    )
    lengths = np.array([each.shape[2] for each in tables])
    starts = np.append(0, np.cumsum(lengths)[:-1])
    values = COUNT_METRICS[metric.function].of(left_out, positive_code(metric, pairs))
    return accelerations(values, counts=np.ones(len(values), np.int64), starts=starts)
