"""Metrics that depend only on the counts of (gold, predicted) pairs.

A confusion table is indexed `table[gold][predicted]`. Its cells are exact ints for a score, and float
arrays of one shape for resamples; each formula below works for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.benchmark.metrics import BUILT_IN
from gluebench.scoring.kinds import Kinds
from gluebench.scoring.numeric import Floats, Ints, np
from gluebench.scoring.pairs import Pairs

AT_ONCE = 1 << 20
"""Numbers of confusion tables in memory at once."""

Table = Any
"""Sequence of sequences of counts: ints, or float arrays of one shape; an array with these two axes first."""


class MetricValue(NamedTuple):
    """The value of a metric."""

    value: float
    undefined: str | None = None
    """Why the value is 0.0 by convention; None if it is defined."""


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, as fractions; None where it would divide by 0."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    """How often gold has the class: in examples, labels, entities, spans or tokens."""
    predicted: int
    """How often the predictions have it."""

    @classmethod
    def of(cls, hits: int, support: int, predicted: int) -> ClassScore:
        """Build the scores from counts; `hits` of the predicted ones are right."""
        precision = hits / predicted if predicted else None
        recall = hits / support if support else None
        either = support + predicted
        f1 = 2 * hits / either if either else None
        return cls(precision, recall, f1, support, predicted)


ScoreClasses = Callable[[Pairs, Metric], Mapping[str, ClassScore]]
"""The scores of each class over all examples."""


class Classes(NamedTuple):
    """The classes that count in an average over classes, each as much as the others."""

    units: Ints
    """The number of units with each class in gold, shape (classes,)."""
    uniform: Ints
    """Of each class without a right or without a wrong answer, the number of units that could have one."""


@dataclass(frozen=True)
class MetricFunction(ABC):
    """One metric, as the manifest names it under `function`; higher is better."""

    name: str
    limits: tuple[float, float] | None = field(default=None, kw_only=True)
    """The lowest and highest value; None for those of metrics.tsv."""

    classes: Callable[[Pairs, Metric], Classes] | None = field(default=None, kw_only=True)
    """The classes of an average over classes (`withholding.rare_class`)."""
    fewest_of_class: int = field(default=1, kw_only=True)
    """Minimum number of units with each class in gold, for an interval."""
    class_scores: ScoreClasses | None = field(default=None, kw_only=True)
    """The scores of the classes of other forms than labels, which have those of `label_scores`."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value, as 0 and 1 of a share, -1 and 1 of a correlation; infinite if unknown."""
        return self.limits or (BUILT_IN[self.name].lowest, BUILT_IN[self.name].highest)

    @abstractmethod
    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value on all examples; `metric` is the manifest's record, with the positive label of F1."""

    def kinds_of(self, pairs: Pairs) -> Kinds:
        """The kinds of units that have one influence."""
        return pairs.unit_kinds

    @abstractmethod
    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """How much a unit of each kind moves `value`, the metric on all examples, shape (kinds,).

        (units - 1) x (the value - the value without it), exactly or to first order in 1 / units.
        """


def ratio(above: Any, below: Any) -> Any:
    """`above / below`; 0.0 where `below` is 0."""
    if isinstance(below, int | float):
        return above / below if below else 0.0
    above = np.asarray(above)
    below = np.asarray(below, np.float64)
    if below.all():
        return above / below
    zeros = np.zeros(np.broadcast_shapes(above.shape, below.shape))
    return np.divide(above, below, out=zeros, where=below != 0)


def total(table: Table) -> Any:
    """The number of examples."""
    return sum(gold_counts(table))


def gold_counts(table: Table) -> Any:
    """Number of examples of each gold label."""
    if isinstance(table, list | tuple):  # without numpy, which a grade without intervals need not load
        return list(map(sum, table))
    return table.sum(axis=1)


def predicted_counts(table: Table) -> Any:
    """Number of examples of each predicted label."""
    if isinstance(table, list | tuple):
        return list(map(sum, zip(*table, strict=True)))
    return table.sum(axis=0)


def label_scores(labels: Sequence[str], table: Table) -> dict[str, ClassScore]:
    """The scores of each label, in the order of the task, from a confusion table of ints."""
    counts = zip(labels, gold_counts(table), predicted_counts(table), strict=True)
    scores = {}
    for code, (label, gold, predicted) in enumerate(counts):
        scores[label] = ClassScore.of(table[code][code], gold, predicted)
    return scores


def hits(table: Table) -> Any:
    """Number of examples whose prediction is the gold label."""
    return sum(row[code] for code, row in enumerate(table))


def accuracy_of(table: Table, _positive: int) -> Any:
    """Share of the examples whose prediction is the gold label."""
    return ratio(hits(table), total(table))


def f1_of(table: Table, positive: int) -> Any:
    """Harmonic mean of precision and recall of the positive label."""
    both = table[positive][positive]
    return ratio(2 * both, gold_counts(table)[positive] + predicted_counts(table)[positive])


def r_k_of(table: Table, _positive: int) -> Any:
    """R_K (Gorodkin 2004, equation 8); for two labels it is the Matthews correlation."""
    gold = gold_counts(table)
    predicted = predicted_counts(table)
    number = sum(gold)
    square = number * number
    cross = hits(table) * number - _sum_of_products(gold, predicted)
    spread_gold = square - _sum_of_products(gold, gold)
    spread_predicted = square - _sum_of_products(predicted, predicted)
    return ratio(cross, (spread_gold * spread_predicted) ** 0.5)


def _sum_of_products(first: Any, second: Any) -> Any:
    if isinstance(first, list):
        return sum(map(mul, first, second))
    return np.einsum("i...,i...->...", first, second)


def _no_positive(table: Table, positive: int) -> str | None:
    if gold_counts(table)[positive] + predicted_counts(table)[positive]:
        return None
    return "neither gold nor predictions have the positive label"


def _one_label(table: Table, _positive: int) -> str | None:
    if sum(count > 0 for count in predicted_counts(table)) < 2:
        return "the predictions are all the same"
    if sum(count > 0 for count in gold_counts(table)) < 2:
        return "the gold labels are all the same"
    return None


@dataclass(frozen=True)
class PairsMetric(MetricFunction):
    """A metric of whole columns."""

    of: Callable[[Pairs, Metric], MetricValue]
    """The value."""
    influence: Callable[[Pairs, Metric, float], Floats]
    """The influence of each unit on the value, which is the last argument, shape (units,)."""

    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value on all examples."""
        return self.of(pairs, metric)

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence of each unit."""
        return self.influence(pairs, metric, value)


@dataclass(frozen=True)
class CountMetric(MetricFunction):
    """A metric as a formula over the cells of the confusion table."""

    of: Callable[[Table, int], Any]
    """The value, from the table and the code of the positive label (which all but F1 ignore)."""
    undefined: Callable[[Table, int], str | None] = lambda table, positive: None
    """Why the value is 0.0 by convention, for a table of ints; None if it is defined."""
    proportion: bool = False
    """Whether it is a proportion of examples, so that Wilson's interval and McNemar's test apply."""

    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value on the confusion table of the file, counted once for all its metrics."""
        return self.value_of(pairs.table, pairs.code(metric.positive))

    def value_of(self, table: Table, positive: int) -> MetricValue:
        """The value of a confusion table of ints."""
        value = float(self.of(table, positive))
        if value:
            return MetricValue(value)
        return MetricValue(value, self.undefined(table, positive))

    def kinds_of(self, pairs: Pairs) -> Kinds:
        """Units with the same examples."""
        return pairs.content_kinds

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence of each kind of units, exactly, from the confusion table without one of them."""
        kinds = pairs.content_kinds
        code = pairs.code(metric.positive)
        table = pairs.table_array.astype(np.float64)[:, :, np.newaxis]
        block = max(1, AT_ONCE // table.size)
        without = []
        for start in range(0, len(kinds.counts), block):
            of_kinds = pairs.tables(slice(start, start + block))
            without.append(self.of(table - of_kinds, code))
        return pairs.left_out(value, np.concatenate(without))


COUNT_METRICS = (
    CountMetric("accuracy", accuracy_of, proportion=True),
    CountMetric("f1", f1_of, _no_positive),
    CountMetric("matthews_correlation", r_k_of, _one_label),
    CountMetric("r_k", r_k_of, _one_label),
)
