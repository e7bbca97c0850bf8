"""Metrics of labels that average over the classes, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.counts import Classes, CountMetric, Table, ratio
from gluebench.scoring.numeric import np
from gluebench.scoring.pairs import Pairs

Average = Literal["present", "gold", "all", "all_one", "weighted", "positive"]
"""Which classes count: those in gold or predictions, those in gold, all (an absent one as 0, or as 1), those
in gold by their number of examples, or the positive one alone."""
FEWEST_OF_LABEL = 2
"""Minimum number of units that show each label of the task, for an interval of a mean over the labels."""

Reason = Callable[[Table, int], str | None]
"""Why a value is 0.0 by convention."""


def class_weights(gold: Any, predicted: Any, average: Average, positive: int) -> Any:
    """How much each class counts, shape (classes, ...), from its numbers of examples."""
    if average == "weighted":
        return gold
    if average == "positive":
        one: Any = np.zeros(np.shape(gold))
        one[positive] = 1.0
        return one
    if average in ("all", "all_one"):
        return np.ones(np.shape(gold))
    counts = gold if average == "gold" else gold + predicted
    return (counts > 0).astype(np.float64)


@dataclass(frozen=True)
class ClassMean:
    """A weighted mean over the classes of `hits` x true positives / (gold and predicted examples)."""

    average: Average
    hits: float = 2.0
    of_gold: float = 1.0
    """How often the gold examples of a class count below the line: F1 and recall 1, precision 0."""
    of_predicted: float = 1.0
    """How often the predicted ones do: F1 and precision 1, recall 0."""

    def of(self, table: Table, positive: int) -> Any:
        """The value; 0.0 if no class counts."""
        cells = np.asarray(table, np.float64)
        both = np.einsum("ii...->i...", cells)
        return self.of_counts(both, cells.sum(axis=1), cells.sum(axis=0), positive)

    def of_counts(self, both: Any, gold: Any, predicted: Any, positive: int = 0) -> Any:
        """The value, shape (...), from the counts of the classes, each of shape (classes, ...)."""
        scores = ratio(self.hits * both, self.of_gold * gold + self.of_predicted * predicted)
        if self.average == "all_one":
            scores = scores + (gold + predicted == 0)
        weights = class_weights(gold, predicted, self.average, positive)
        return ratio((weights * scores).sum(axis=0), weights.sum(axis=0))

    def classes(self, pairs: Pairs, _: Metric) -> Classes:
        """All labels of the task; a unit shows one if the denominator of its score counts it."""
        table = pairs.table_array
        units = []
        uniform = []
        for label, right in enumerate(np.diag(table)):
            cells = np.zeros(table.shape, np.bool_)
            cells[label] |= self.of_gold > 0
            cells[:, label] |= self.of_predicted > 0
            units.append(pairs.units_in(cells))
            if right in (0, table[cells].sum()):
                uniform.append(units[-1])
        return Classes(np.array(units), np.array(uniform, np.intp))


def micro_f1_without_of(table: Table, left_out: int) -> Any:
    """F1 of the pooled counts of all labels but one: 2 TP / (2 TP + FP + FN)."""
    cells = np.asarray(table, np.float64)
    others = 2 * cells.sum(axis=(0, 1)) - cells[left_out].sum(axis=0) - cells[:, left_out].sum(axis=0)
    both = np.einsum("ii...->...", cells) - cells[left_out, left_out]
    return ratio(2 * both, others)


def kappa_of(table: Table, _positive: int, *, power: int) -> Any:
    """Cohen's kappa: 1 - observed over expected disagreement; 0.0 for one label on both sides.

    A disagreement counts as the distance of the codes to a power: always 1, linear, or quadratic.
    """
    cells = np.asarray(table, np.float64)
    cells = cells / cells.sum(axis=(0, 1))
    apart = np.abs(np.subtract.outer(np.arange(len(cells)), np.arange(len(cells))))
    cost = np.where(apart > 0, apart.astype(np.float64) ** power, 0.0)
    observed = np.einsum("gp,gp...->...", cost, cells)
    expected = np.einsum("gp,g...,p...->...", cost, cells.sum(axis=1), cells.sum(axis=0))
    return ratio(expected - observed, expected)


def _one_cell(table: Table, _positive: int) -> str | None:
    if sum(count > 0 for count in chain.from_iterable(table)) < 2:
        return "gold and predictions are all the same label"
    return None


def _no_predicted_positive(table: Table, positive: int) -> str | None:
    if sum(row[positive] for row in table):
        return None
    return "the predictions have no example with the positive label"


def _no_gold_positive(table: Table, positive: int) -> str | None:
    if sum(table[positive]):
        return None
    return "gold has no example with the positive label"


def _nothing_else(table: Table, left_out: int) -> str | None:
    if sum(map(sum, table)) - table[left_out][left_out]:
        return None
    return "neither gold nor predictions have another label than the one left out"


def _mean_metric(name: str, formula: ClassMean, undefined: Reason = lambda *_: None) -> CountMetric:
    classes = formula.classes
    if formula.average in ("weighted", "positive"):  # a rare class has little weight, or is not averaged
        return CountMetric(name, formula.of, undefined, fewest_of_class=FEWEST_OF_LABEL)
    return CountMetric(name, formula.of, undefined, classes=classes, fewest_of_class=FEWEST_OF_LABEL)


LABEL_METRICS = (
    _mean_metric("macro_f1", ClassMean("present")),
    _mean_metric("macro_f1_gold", ClassMean("gold")),
    _mean_metric("macro_f1_all", ClassMean("all")),
    _mean_metric("macro_f1_all_one", ClassMean("all_one")),
    _mean_metric("weighted_f1", ClassMean("weighted")),
    CountMetric("micro_f1_without", micro_f1_without_of, _nothing_else),
    _mean_metric("precision", ClassMean("positive", 1.0, of_gold=0.0), _no_predicted_positive),
    _mean_metric("recall", ClassMean("positive", 1.0, of_predicted=0.0), _no_gold_positive),
    _mean_metric("macro_precision", ClassMean("present", 1.0, of_gold=0.0)),
    _mean_metric("macro_recall", ClassMean("present", 1.0, of_predicted=0.0)),
    _mean_metric("balanced_accuracy", ClassMean("gold", 1.0, of_predicted=0.0)),
    CountMetric("kappa", partial(kappa_of, power=0), _one_cell),
    CountMetric("linear_kappa", partial(kappa_of, power=1), _one_cell),
    CountMetric("quadratic_kappa", partial(kappa_of, power=2), _one_cell),
)
"""Metrics of labels beside those of `counts.COUNT_METRICS`."""
