"""A diagnostic set: its score over all examples, by phenomenon and by the columns of its metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Metric, Task
from gluebench.scoring.gold import Gold
from gluebench.scoring.intervals import NO_BAR
from gluebench.scoring.metrics import CountMetric, Point, metric_function, point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import DiagnosticReport, Score
from gluebench.scoring.tags import OVERALL, Category


class Found(NamedTuple):
    """What there is to say of a diagnostic set."""

    report: DiagnosticReport | None
    """None when it was not answered, or has no gold."""
    warnings: tuple[str, ...] = ()


def diagnostic_report(task: Task, pairs: Mapping[str, Pairs], gold: Gold, *, intervals: bool) -> Found:
    """The report of a diagnostic set, by its first metric."""
    metric = task.metrics[0]
    if metric.file not in pairs:
        return Found(None, _absent(task, metric, gold))
    whole = pairs[metric.file]
    groups = gold.categories[metric.file]
    points = [_point(metric, whole, each) for each in groups]
    bars = [NO_BAR] * len(groups)
    if intervals:
        from gluebench.scoring.inference import file_bars  # imports numpy

        bars = [
            file_bars([metric], whole.subset(category.positions), [score])[0]
            for category, score in zip(groups, points, strict=True)
        ]
    scores = [
        Score(found.value, bar.low, bar.high, len(each.positions), bar.withheld, whole.covered)
        for each, found, bar in zip(groups, points, bars, strict=True)
    ]
    kinds = ["coarse", "fine", *task.metadata]
    by_kind = {
        kind: {each.name: score for each, score in zip(groups, scores, strict=True) if each.kind == kind}
        for kind in kinds
    }
    metadata = {kind: by_kind[kind] for kind in task.metadata if by_kind[kind]}
    report = DiagnosticReport(scores[0], by_kind["coarse"], by_kind["fine"], metadata)
    return Found(report, tuple(_undefined(task, metric, groups, points)))


def _point(metric: Metric, whole: Pairs, category: Category) -> Point:
    if category.kind == OVERALL:
        return point(metric, whole)
    function = metric_function(metric.function)
    if isinstance(function, CountMetric):
        return function.point_of(whole.table_of(category.positions), whole.code(metric.positive))
    return point(metric, whole.subset(category.positions))


def _absent(task: Task, metric: Metric, gold: Gold) -> tuple[str, ...]:
    file = task.file(metric.file)
    if gold.role not in file.splits:
        return ()
    if metric.file not in gold.columns:
        return (f"{task.name}: there are no gold labels for it; no score depends on it",)
    return (
        f"{task.name}: {metric.file}.tsv was not submitted; its analysis is left out, no score depends on it",
    )


def _undefined(task: Task, metric: Metric, groups: Sequence[Category], points: Sequence[Point]) -> list[str]:
    """One warning for the whole set, and one for all its categories."""
    if points[0].undefined:
        return [f"{task.name}: {metric.name} is not defined where {points[0].undefined}, and counts as 0"]
    names = [each.name for each, found in zip(groups, points, strict=True) if found.undefined]
    if not names:
        return []
    why = "all gold labels or all predictions are the same"
    return [f"{task.name}: {metric.name} is not defined where {why}, and counts as 0: {', '.join(names)}"]
