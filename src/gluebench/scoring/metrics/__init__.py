"""The metrics: plain functions of gold and predictions, and the registry that grading and analysis use.

Each function takes two columns of equal length: lists, arrays, Series, tensors, Arrow or `datasets` columns
of label words, ints or numbers. Each raises ValueError for columns that are empty, of different lengths, or
lack values. A metric that is not defined (a correlation with a constant column, an F1 without positives) is
0.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

from gluebench.benchmark import Metric, UnknownNameError
from gluebench.benchmark.metrics import takes_positive
from gluebench.scoring.metrics.counts import (
    COUNT_METRICS,
    CountMetric,
    MetricFunction,
    Point,
    Table,
    r_k_of,
)
from gluebench.scoring.metrics.numbers import (
    MeanMetric,
    NumberMetric,
    mean_evaluated,
    mean_of,
    pearson_evaluated,
    pearson_of,
    plain_columns,
    rank_codes,
    spearman_evaluated,
    spearman_of,
    standardized_columns,
)
from gluebench.scoring.pairs import Pairs
from gluebench.submission.submission import Column
from gluebench.submission.values import plain_values

__all__ = [
    "METRICS",
    "CountMetric",
    "FunctionMetric",
    "MetricFunction",
    "NumberMetric",
    "Point",
    "accuracy",
    "f1",
    "is_proportion",
    "matthews_correlation",
    "measure",
    "metric_function",
    "pearson",
    "point",
    "r_k",
    "spearman",
    "task_score",
]
ENTRY_POINTS = "gluebench.metrics"
NUMBER_METRICS = (
    NumberMetric("pearson", -1.0, pearson_of, standardized_columns, pearson_evaluated),
    NumberMetric("spearman", -1.0, spearman_of, rank_codes, spearman_evaluated),
)
METRICS: Mapping[str, MetricFunction] = {metric.name: metric for metric in (*COUNT_METRICS, *NUMBER_METRICS)}
"""The built-in metrics by the name that a manifest gives under `function`."""
MEAN = MeanMetric("mean of scores", -inf, mean_of, plain_columns, mean_evaluated)
"""The metric of scored tables; no manifest can name it, since its predictions are scores."""

Values = Iterable[Any] | Column
"""Labels or numbers, one per example: a list, an array, a Series, a tensor, a Column."""


@dataclass(frozen=True)
class FunctionMetric(MetricFunction):
    """A function (gold, predicted) to a finite number, over arrays of label words or of floats."""

    of: Callable[[Any, Any], float]

    def point(self, pairs: Pairs, metric: Metric) -> Point:
        """The value. Raises ValueError if it is not a finite number."""
        columns = (pairs.gold, pairs.predicted)
        values = (column.words() if column.labels else column.numbers for column in columns)
        return Point(self.value(*values, where=f" on {metric.file}"))

    def value(self, gold: Sequence[Any], predicted: Sequence[Any], *, where: str = "") -> float:
        """The value of two columns. Raises ValueError if it is not a finite number."""
        import numpy as np

        value = float(self.of(np.array(gold), np.array(predicted)))
        if not isfinite(value):
            raise ValueError(f"the metric {self.name} gave {value}{where}; expected a finite number")
        return value


def metric_function(name: str) -> MetricFunction:
    """The metric of that name, built in or from an installed package. Raises UnknownNameError."""
    if name in METRICS:
        return METRICS[name]
    if name == MEAN.name:
        return MEAN
    from importlib.metadata import entry_points

    offered = entry_points(group=ENTRY_POINTS)
    if name not in offered.names:
        raise UnknownNameError(name, [*METRICS, *sorted(offered.names)], what="metric")
    return FunctionMetric(name, -inf, offered[name].load())


def is_proportion(metric: Metric) -> bool:
    """Whether the metric is a proportion of examples, so that Wilson's interval and McNemar's test apply."""
    function = metric_function(metric.function)
    return isinstance(function, CountMetric) and function.proportion


def point(metric: Metric, pairs: Pairs) -> Point:
    """The value of a task's metric. Raises ValueError if an external metric gives no finite number."""
    return metric_function(metric.function).point(pairs, metric)


def task_score(metrics: Sequence[float]) -> float:
    """The unweighted mean of a task's metrics, over all its test files, whose examples are not pooled."""
    return sum(metrics) / len(metrics)


def measure(name: str, gold: Values, predicted: Values, *, positive: Hashable = None) -> float:
    """The value of the metric that a manifest names so, built in or from an installed package.

    `positive` is the label of a metric of one label. Raises UnknownNameError, and ValueError for columns
    that the metric cannot compare, or if two labels occur and `positive` is neither.
    """
    metric = metric_function(name)
    if positive is not None and not takes_positive(name):
        raise ValueError(f"{name} is not of one label; expected no positive={positive!r}")
    if isinstance(metric, NumberMetric):
        return metric.of(*_numbers(gold, predicted))
    if isinstance(metric, FunctionMetric):
        return metric.value(*_paired(gold, predicted))
    assert isinstance(metric, CountMetric)
    table, labels = _counted(gold, predicted)
    if not takes_positive(name):
        return float(metric.of(table, 0))
    if positive in labels:
        return float(metric.of(table, labels[positive]))
    if len(labels) > 1:
        known = ", ".join(map(repr, labels))
        raise ValueError(f"positive={positive!r} is none of the labels that occur: {known}")
    return 0.0


def accuracy(gold: Values, predicted: Values) -> float:
    """Share of the examples whose prediction is the gold label."""
    return measure("accuracy", gold, predicted)


def f1(gold: Values, predicted: Values, *, positive: Hashable) -> float:
    """F1 of the positive label. Raises ValueError if two labels occur and it is neither."""
    return measure("f1", gold, predicted, positive=positive)


def matthews_correlation(gold: Values, predicted: Values) -> float:
    """Matthews correlation of two labels. Raises ValueError for more; use `r_k` for these."""
    table, labels = _counted(gold, predicted)
    if len(labels) > 2:
        known = ", ".join(map(repr, labels))
        raise ValueError(
            f"matthews_correlation takes two labels, but these occur: {known}; use r_k for more than two"
        )
    return float(r_k_of(table, 0))


def r_k(gold: Values, predicted: Values) -> float:
    """R_K, the Matthews correlation of any number of labels (Gorodkin 2004; section 4)."""
    return measure("r_k", gold, predicted)


def pearson(gold: Values, predicted: Values) -> float:
    """Pearson's correlation of two columns of numbers."""
    return measure("pearson", gold, predicted)


def spearman(gold: Values, predicted: Values) -> float:
    """Spearman's rank correlation, ties sharing their mean rank."""
    return measure("spearman", gold, predicted)


class _Counted(NamedTuple):
    table: Table
    labels: Mapping[Hashable, int]


def _counted(gold: Values, predicted: Values) -> _Counted:
    first, second = _paired(gold, predicted)
    labels = {label: code for code, label in enumerate(dict.fromkeys([*first, *second]))}
    kinds = {_kind(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(
            f"gold and predictions mix {' and '.join(sorted(kinds))}; give both in the same form"
        )
    pairs = Counter(zip(first, second, strict=True))
    return _Counted([[pairs[g, p] for p in labels] for g in labels], labels)


def _kind(label: object) -> str:
    if isinstance(label, str):
        return "label words"
    if isinstance(label, int | float):
        return "numbers"
    return f"values of type {type(label).__name__}"


def _numbers(gold: Values, predicted: Values) -> tuple[list[float], list[float]]:
    columns = _paired(gold, predicted)
    for name, column in zip(("gold", "predictions"), columns, strict=True):
        for position, value in enumerate(column):
            if not isinstance(value, int | float) or not isfinite(value):
                raise ValueError(f"{name}: {value!r} {_at(position)}; expected a finite number")
    return columns


def _at(position: int) -> str:
    return f"at position {position} (counted from 0)"


def _paired(gold: Values, predicted: Values) -> tuple[list[Any], list[Any]]:
    first, second = plain_values(gold), plain_values(predicted)
    if len(first) != len(second):
        raise ValueError(
            f"gold has {len(first)} values and predictions {len(second)}; expected one per example"
        )
    if not first:
        raise ValueError("there are no examples; expected at least one")
    for name, column in (("gold", first), ("predictions", second)):
        for position, value in enumerate(column):
            if value is None or value != value:
                raise ValueError(f"{name}: {value!r} {_at(position)}; expected a label or a number")
    return first, second
