"""Dev scores: every task on its whole dev split, by the scoring of the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Metric, Task
from gluebench.data import Example
from gluebench.scoring.metrics import point, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.systems.run import column
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.settings import Settings

Predictions = Mapping[str, Sequence[str | float]]
"""Dev split to the predictions of its examples, in order."""


class TaskScore(NamedTuple):
    """What one check found of one task, as fractions."""

    score: float
    metrics: Mapping[str, float]


def score(data: TaskData, predictions: Predictions, validation: str = "manifest") -> TaskScore:
    """The task's score; see `Settings.validation`. Data without metrics: accuracy, or Pearson."""
    task = data.task
    splits = {name: (data.dev[name], predicted) for name, predicted in predictions.items()}
    if validation == "pooled" or not task.metrics:
        return _pooled(task, splits)
    metrics = {}
    for metric in task.metrics:
        split = task.file(metric.file).splits["dev"].name
        metrics[metric.name] = _value(task, metric, *splits[split])
    return TaskScore(task_score(list(metrics.values())), metrics)


def macro(scores: Mapping[str, TaskScore], data: Mapping[str, TaskData], settings: Settings) -> float:
    """The mean of the task scores, auxiliary tasks only if they count, or stand alone."""
    counted = [
        entry.score for name, entry in scores.items() if settings.count_auxiliary or not data[name].auxiliary
    ]
    values = counted or [entry.score for entry in scores.values()]
    return sum(values) / len(values)


def _pooled(task: Task, splits: Mapping[str, tuple[Sequence[Example], Sequence[str | float]]]) -> TaskScore:
    rows = [row for examples, _ in splits.values() for row in examples]
    predicted = [value for _, values in splits.values() for value in values]
    functions: dict[str, Metric] = {}
    for metric in task.metrics or (_standard(task),):
        functions.setdefault(metric.function, metric)
    chosen = list(functions.values()) if task.labels else list(functions.values())[:1]
    metrics = {metric.function: _value(task, metric, rows, predicted) for metric in chosen}
    return TaskScore(task_score(list(metrics.values())), metrics)


def _standard(task: Task) -> Metric:
    """The metric of auxiliary data, of which a manifest names none."""
    function = "accuracy" if task.labels else "pearson"
    return Metric(function, function, function, task.name)


def _value(task: Task, metric: Metric, rows: Sequence[Example], predicted: Sequence[str | float]) -> float:
    gold = column(task, [row.label for row in rows if row.label is not None])
    return point(metric, Pairs(gold, column(task, predicted))).value
