"""The metrics: plain functions of gold and predictions, and the registry that grading and analysis use.

Each function takes two columns of equal length: lists, arrays, Series, tensors, Arrow or `datasets` columns
of label words, ints or numbers; `measure` takes values of every form (docs/reference/metrics.md). Each raises
ValueError for columns that are empty, of different lengths, or lack values. A metric that is not defined (a
correlation with a constant column, an F1 without positives) is 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf, isfinite
from typing import Any

from gluebench.benchmark import Metric, UnknownNameError
from gluebench.benchmark.metrics import (
    BUILT_IN,
    SCHEMES,
    UNSCALED,
    guess_scheme,
    needs,
    scheme_problem,
    takes,
)
from gluebench.scoring.kinds import Kinds
from gluebench.scoring.metrics.cells import CELL_METRICS
from gluebench.scoring.metrics.counts import (
    COUNT_METRICS,
    CountMetric,
    MetricFunction,
    MetricValue,
    PairsMetric,
    r_k_of,
)
from gluebench.scoring.metrics.curves import CURVE_METRICS
from gluebench.scoring.metrics.dependencies import DEPENDENCY_METRICS
from gluebench.scoring.metrics.information import INFORMATION_METRICS
from gluebench.scoring.metrics.kendall import kendall_of, kendall_without
from gluebench.scoring.metrics.labels import LABEL_METRICS
from gluebench.scoring.metrics.numbers import (
    NumberMetric,
    correlation_point,
    pearson_evaluated,
    pearson_of,
    rank_codes,
    spearman_evaluated,
    spearman_of,
    standardized_columns,
)
from gluebench.scoring.metrics.plain import (
    LabelCounts,
    Values,
    count_labels,
    lists_of,
    pairs_of,
    without_offset,
)
from gluebench.scoring.metrics.rankings import RANKING_METRICS
from gluebench.scoring.metrics.relations import RELATION_METRICS
from gluebench.scoring.metrics.sequences import SEQUENCE_METRICS
from gluebench.scoring.metrics.sums import GROUP_SUMS, MEAN, NUMBER_SUMS, SumMetric
from gluebench.scoring.numeric import Floats, np
from gluebench.scoring.pairs import Pairs
from gluebench.submission.submission import Column

__all__ = [
    "MEAN",
    "METRICS",
    "CountMetric",
    "FunctionMetric",
    "MetricFunction",
    "MetricValue",
    "NumberMetric",
    "SumMetric",
    "accuracy",
    "f1",
    "function_of",
    "is_proportion",
    "kappa",
    "macro_f1",
    "matthews_correlation",
    "mean_absolute_error",
    "measure",
    "metric_function",
    "pearson",
    "point",
    "point_on",
    "r_k",
    "root_mean_squared_error",
    "spearman",
    "task_score",
    "weighted_f1",
]
LARGEST = 1e150
"""Largest number whose square, summed over any column, is finite."""
ENTRY_POINTS = "gluebench.metrics"
MOST_KINDS = 2000
"""Kinds of units up to which a metric that is only a function has an interval: it is called once for each."""
NUMBER_METRICS = (
    NumberMetric("pearson", pearson_of, standardized_columns, pearson_evaluated),
    NumberMetric("spearman", spearman_of, rank_codes, spearman_evaluated),
)


def _kendall(pairs: Pairs, _: Metric) -> MetricValue:
    return correlation_point(kendall_of(pairs.gold.numbers, pairs.predicted.numbers), pairs)


def _kendall_influence(pairs: Pairs, _: Metric, value: float) -> Floats:
    without = kendall_without(pairs.gold.numbers, pairs.predicted.numbers, pairs.unit_of_rows)
    return pairs.left_out(value, without)


KENDALL = PairsMetric("kendall", _kendall, _kendall_influence)
_BUILT_IN_METRICS: Iterable[MetricFunction] = chain(
    COUNT_METRICS,
    LABEL_METRICS,
    GROUP_SUMS,
    NUMBER_METRICS,
    [KENDALL],
    NUMBER_SUMS,
    CELL_METRICS,
    CURVE_METRICS,
    SEQUENCE_METRICS,
    RANKING_METRICS,
    DEPENDENCY_METRICS,
    RELATION_METRICS,
    INFORMATION_METRICS,
)
METRICS: Mapping[str, MetricFunction] = {metric.name: metric for metric in _BUILT_IN_METRICS}
"""The built-in metrics by the name that a manifest gives under `function`."""


@dataclass(frozen=True)
class FunctionMetric(MetricFunction):
    """A function (gold, predicted) to a finite number: of arrays of label words or floats, or of cells."""

    of: Callable[[Any, Any], float]

    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value. Raises ValueError if it is not a finite number."""
        gold = _values_of(pairs.gold)
        predicted = _values_of(pairs.predicted)
        return MetricValue(self.value(gold, predicted, where=f" on {metric.file}"))

    def kinds_of(self, pairs: Pairs) -> Kinds:
        """Units with the same examples."""
        return pairs.content_kinds

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence of each kind of units, exactly: the function is called without one of each.

        It is not a number where there are more than MOST_KINDS kinds.
        """
        kinds = pairs.content_kinds
        if len(kinds.counts) > MOST_KINDS:
            return np.full(len(kinds.counts), np.nan)
        without = []
        for unit in kinds.first:
            rest = np.flatnonzero(pairs.unit_of_rows != unit).tolist()
            if rest:
                without.append(self.point(pairs.subset(rest), metric).value)
            else:
                without.append(0.0)
        return pairs.left_out(value, np.array(without))

    def value(self, gold: Sequence[Any], predicted: Sequence[Any], *, where: str = "") -> float:
        """The value of two columns. Raises ValueError if it is not a finite number."""
        value = float(self.of(_cells_or_array(gold), _cells_or_array(predicted)))
        if not isfinite(value):
            raise ValueError(f"the metric {self.name} gave {value}{where}; expected a finite number")
        return value


def _values_of(column: Column) -> Sequence[Any]:
    """The label words of a column, or its numbers or cells."""
    if column.labels:
        return column.words()
    return column.values


def _cells_or_array(column: Sequence[Any]) -> Any:
    """A column as an external metric gets it: a tuple of cells, or an array of labels or numbers."""
    if isinstance(column, tuple):
        return column
    return np.array(column)


def metric_function(name: str) -> MetricFunction:
    """The metric of that name, built in or from an installed package. Raises UnknownNameError."""
    if name in METRICS:
        return METRICS[name]
    if name == MEAN.name:
        return MEAN
    from importlib.metadata import entry_points

    offered = entry_points(group=ENTRY_POINTS)
    if name not in offered.names:
        raise UnknownNameError(name, list(METRICS) + sorted(offered.names), what="metric")
    return FunctionMetric(name, offered[name].load(), limits=(-inf, inf))


def function_of(metric: Metric) -> MetricFunction:
    """The function of a manifest's metric, on the scale that the manifest gives. Raises UnknownNameError."""
    function = metric_function(metric.function)
    if metric.scale is None:
        return function
    assert isinstance(function, CountMetric | SumMetric)  # the manifest was checked
    worst, best = metric.scale
    formula: Callable[..., Any] = function.of

    def scaled_formula(*counts: Any) -> Any:
        return (formula(*counts) - worst) / (best - worst)

    def never_undefined(*counts: Any) -> None:
        # A value of 0 on this scale is a value like others, as that of chance: none is 0 by convention.
        return None

    lowest, highest = function.bounds
    changes: dict[str, Any] = {
        "of": scaled_formula,
        "limits": ((lowest - worst) / (best - worst), (highest - worst) / (best - worst)),
        "undefined": never_undefined,
    }
    if isinstance(function, CountMetric):
        changes["proportion"] = False  # on another scale it is not a share of the examples
    return replace(function, **changes)


def is_proportion(metric: Metric) -> bool:
    """Whether the metric is a proportion of examples, so that Wilson's interval and McNemar's test apply."""
    function = function_of(metric)
    return isinstance(function, CountMetric) and function.proportion


def point(metric: Metric, pairs: Pairs) -> MetricValue:
    """The value of a task's metric; kept, as grading and tests need the same.

    Raises ValueError if an external metric gives no finite number.
    """
    return pairs.compute_once(("point", metric), lambda: function_of(metric).point(pairs, metric))


def point_on(metric: Metric, pairs: Pairs, positions: Sequence[int]) -> MetricValue:
    """The value on the examples at some positions; metrics of counts do not need the examples themselves."""
    function = function_of(metric)
    if isinstance(function, CountMetric):
        return function.value_of(pairs.table_of(positions), pairs.code(metric.positive))
    return point(metric, pairs.subset(positions))


def task_score(metrics: Sequence[float]) -> float:
    """The unweighted mean of a task's metrics, over all its test files, whose examples are not pooled."""
    return sum(metrics) / len(metrics)


def measure(
    name: str,
    gold: Values,
    predicted: Values,
    *,
    positive: Hashable = None,
    labels: Iterable[str] = (),
    groups: Values | None = None,
    parents: Mapping[str, str] | None = None,
    scheme: str = "",
    exclusive: bool = True,
) -> float:
    """The value of the metric that a manifest names so, built in or from an installed package.

    `positive` is the label of a metric of one label, or the number of `f1_from` and of metrics of the first
    places; `labels` are all labels of the task in its order, which is that of the probabilities. `groups` has
    the group of each example, `parents` the parent of each label that has one, `scheme` says how tags mark
    entities, and `exclusive` that probabilities sum to 1. Raises UnknownNameError, and ValueError for values
    that a file could not hold, for labels that occur and are not in `labels`, or if something that the metric
    needs is not given.
    """
    metric = metric_function(name)
    labels = tuple(labels)
    if positive is not None and not takes(name, "positive"):
        raise ValueError(f"{name} is not of one label; expected no positive={positive!r}")
    if isinstance(metric, FunctionMetric):
        return metric.value(*lists_of(gold, predicted))
    if needs(name, "groups") and groups is None:
        raise ValueError(f"{name} needs the group of each example; give them with groups=")
    if isinstance(metric, CountMetric):
        counts = count_labels(gold, predicted, labels)
        of_words = any(isinstance(label, str) for label in counts.labels)
        if needs(name, "order") and not labels and of_words:
            raise ValueError(f"{name} needs the order of the labels; give all of them with labels=")
        return _of_counts(metric, counts, positive)
    form = BUILT_IN[name].form
    if name in UNSCALED:
        gold = without_offset(gold)
        predicted = without_offset(predicted)
    pairs = pairs_of(form, gold, predicted, labels=labels, groups=groups, exclusive=exclusive)
    if isinstance(metric, SumMetric) and form == "numbers":
        _check_size(name, pairs)
    if needs(name, "positive"):
        _check_positive(name, positive, pairs)
    if takes(name, "scheme"):
        scheme = _scheme_of(name, scheme, labels or _tags_of(pairs))
    record = Metric(
        name,
        function=name,
        title="",
        file="",
        positive=None if positive is None else str(positive),
        labels=labels,
        parents=tuple((parents or {}).items()),
        scheme=scheme,
    )
    return metric.point(pairs, record).value


def _tags_of(pairs: Pairs) -> list[str]:
    """The different tags of both columns, in order of appearance."""
    cells = chain(pairs.gold.cells, pairs.predicted.cells)
    return list(dict.fromkeys(chain.from_iterable(cells)))


def _scheme_of(name: str, scheme: str, tags: Sequence[str]) -> str:
    """The scheme of the tags, checked or guessed. Raises ValueError."""
    if scheme and scheme not in SCHEMES:
        raise UnknownNameError(scheme, list(SCHEMES), what="scheme of entities")
    if scheme:
        problem = scheme_problem(tags, scheme)
        if problem:
            raise ValueError(f"a column of tags {problem}")
        return scheme
    scheme = guess_scheme(tags) or ""
    if not scheme and needs(name, "scheme"):
        raise ValueError(
            f"the tags {', '.join(tags[:9])} fit several schemes of entities or none; give theirs with "
            f"scheme=, one of {', '.join(SCHEMES)}"
        )
    return scheme


def _of_counts(metric: CountMetric, counts: LabelCounts, positive: Hashable) -> float:
    """The value on a confusion table; 0.0 where the positive label does not occur."""
    table, labels = counts
    if not takes(metric.name, "positive"):
        return float(metric.of(table, 0))
    if positive in labels:
        return float(metric.of(table, labels[positive]))
    if len(labels) > 1:
        raise _not_positive(positive, labels)
    return 0.0


def _check_size(name: str, pairs: Pairs) -> None:
    for column in (pairs.gold, pairs.predicted):
        largest = max(column.numbers, key=abs)
        if abs(largest) > LARGEST:
            raise ValueError(f"{largest} is too large for {name}; expected numbers up to {LARGEST:g}")


def _check_positive(name: str, positive: Hashable, pairs: Pairs) -> None:
    if pairs.gold.labels and positive not in pairs.gold.labels:
        raise _not_positive(positive, pairs.gold.labels)
    if pairs.gold.labels:
        return
    if not isinstance(positive, int | float) or not isfinite(positive):
        raise ValueError(f"positive={positive!r} is not a finite number")
    if BUILT_IN[name].form == "ranking" and (positive < 1 or positive != int(positive)):
        raise ValueError(f"positive={positive!r} is not a number of places; expected 1, 2, 3 or more")


def _not_positive(positive: Hashable, labels: Iterable[Hashable]) -> ValueError:
    known = ", ".join(map(repr, labels))
    return ValueError(f"positive={positive!r} is none of the labels that occur: {known}")


def accuracy(gold: Values, predicted: Values) -> float:
    """Share of the examples whose prediction is the gold label."""
    return measure("accuracy", gold, predicted)


def f1(gold: Values, predicted: Values, *, positive: Hashable) -> float:
    """F1 of the positive label. Raises ValueError if two labels occur and it is neither."""
    return measure("f1", gold, predicted, positive=positive)


def matthews_correlation(gold: Values, predicted: Values) -> float:
    """Matthews correlation of two labels. Raises ValueError for more; use `r_k` for these."""
    table, labels = count_labels(gold, predicted)
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


def macro_f1(gold: Values, predicted: Values) -> float:
    """Mean F1 of the labels that occur in gold or predictions."""
    return measure("macro_f1", gold, predicted)


def weighted_f1(gold: Values, predicted: Values) -> float:
    """Mean F1 of the gold labels, each weighted by its number of gold examples."""
    return measure("weighted_f1", gold, predicted)


def kappa(gold: Values, predicted: Values) -> float:
    """Cohen's kappa: agreement of two columns of labels beyond chance."""
    return measure("kappa", gold, predicted)


def mean_absolute_error(gold: Values, predicted: Values) -> float:
    """Mean absolute difference of two columns of numbers; a loss, 0 is best."""
    return 0.0 - measure("neg_mae", gold, predicted)


def root_mean_squared_error(gold: Values, predicted: Values) -> float:
    """Root of the mean squared difference of two columns of numbers; a loss, 0 is best."""
    return 0.0 - measure("neg_rmse", gold, predicted)
