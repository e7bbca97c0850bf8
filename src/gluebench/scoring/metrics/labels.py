"""Metrics of labels that average over the classes, and Cohen's kappa, with their influence functions.

Each is a function of the shares of the cells alone, so that its derivative by a cell's count, times n, is its
influence function: the mean over the examples is 0 by Euler's theorem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from gluebench.scoring.metrics.counts import CountMetric, Table, ratio
from gluebench.scoring.numeric import Floats, np

Average = Literal["present", "gold", "all", "all_one", "weighted", "positive"]
"""Which classes count: those in gold or predictions, those in gold, all (an absent one as 0, or as 1), those
in gold by their number of examples, or the positive one alone."""


Reason = Callable[[Table, int], str | None]
"""Why a value is 0.0 by convention."""


def class_f1(both: Any, gold: Any, predicted: Any, average: Average) -> Any:
    """The mean F1 of the classes, shape (...), from their counts, each of shape (classes, ...)."""
    f1 = ratio(2 * both, gold + predicted)
    return _mean(f1, gold, predicted, _weights(gold, predicted, average, 0), average)


def _weights(gold: Any, predicted: Any, average: Average, positive: int) -> Any:
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


def _mean(scores: Any, gold: Any, predicted: Any, weights: Any, average: Average) -> Any:
    if average == "all_one":
        scores = scores + (gold + predicted == 0)
    return ratio((weights * scores).sum(axis=0), weights.sum(axis=0))


@dataclass(frozen=True)
class ClassMean:
    """A weighted mean over the classes of `hits` x true positives / (gold and predicted examples)."""

    average: Average
    hits: float = 2.0
    of_gold: float = 1.0
    """How often the gold examples of a class count below the line: F1 and recall 1, precision 0."""
    of_predicted: float = 1.0
    """How often the predicted ones do: F1 and precision 1, recall 0."""

    def _parts(self, table: Table, positive: int) -> tuple[Any, ...]:
        """Gold and predicted counts, the denominators, the classes' scores and weights: (classes, ...)."""
        cells = np.asarray(table, np.float64)
        gold, predicted = cells.sum(axis=1), cells.sum(axis=0)
        below = self.of_gold * gold + self.of_predicted * predicted
        scores = ratio(self.hits * np.einsum("ii...->i...", cells), below)
        return gold, predicted, below, scores, _weights(gold, predicted, self.average, positive)

    def of(self, table: Table, positive: int) -> Any:
        """The value; 0.0 if no class counts."""
        gold, predicted, _, scores, weights = self._parts(table, positive)
        return _mean(scores, gold, predicted, weights, self.average)

    def influence(self, table: Floats, positive: int) -> Floats:
        """The sum of the derivatives by the true positives, gold and predicted counts of the classes."""
        gold, predicted, below, scores, weights = self._parts(table, positive)
        slopes = ratio(weights, below * weights.sum(axis=0))
        by_gold = -self.of_gold * slopes * scores
        if self.average == "weighted":  # the weights are counts too
            value = _mean(scores, gold, predicted, weights, self.average)
            by_gold = by_gold + ratio(scores - value, weights.sum(axis=0))
        return _influence(self.hits * slopes, by_gold, -self.of_predicted * slopes * scores, table)


def _influence(by_hits: Any, by_gold: Any, by_predicted: Any, table: Floats) -> Floats:
    """n times the derivative by each cell, from those by diagonal, row sums and column sums."""
    effect: Floats = by_gold[:, None] + by_predicted[None]
    codes = range(len(table))
    effect[codes, codes] += by_hits
    effect *= table.sum(axis=(0, 1))
    return effect


def micro_f1_without_of(table: Table, left_out: int) -> Any:
    """F1 of the pooled counts of all labels but one: 2 TP / (2 TP + FP + FN)."""
    cells = np.asarray(table, np.float64)
    both = np.einsum("ii...->...", cells) - cells[left_out, left_out]
    return ratio(2 * both, _others(cells, left_out))


def _others(cells: Floats, left_out: int) -> Any:
    return 2 * cells.sum(axis=(0, 1)) - cells[left_out].sum(axis=0) - cells[:, left_out].sum(axis=0)


def micro_f1_without_influence(table: Floats, left_out: int) -> Floats:
    """(2 for a true positive - F1 for each label of gold and prediction that counts) over their share."""
    counts = np.ones(len(table)).reshape(-1, *[1] * (table.ndim - 2))
    counts[left_out] = 0.0
    slopes = counts * ratio(1.0, _others(table, left_out))
    lost = -slopes * micro_f1_without_of(table, left_out)
    return _influence(2 * slopes, lost, lost, table)


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa: 1 - observed over expected disagreement, by the distance of the labels to a power."""

    power: int
    """0 counts each disagreement as 1; 1 is linear, 2 quadratic in the distance of the codes."""

    def _disagreement(self, classes: int) -> Floats:
        apart = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
        cost: Floats = np.where(apart > 0, apart**self.power, 0.0)
        return cost

    def _parts(self, table: Table) -> tuple[Any, ...]:
        cells = np.asarray(table, np.float64)
        cells = cells / cells.sum(axis=(0, 1))
        cost, gold, predicted = self._disagreement(len(cells)), cells.sum(axis=1), cells.sum(axis=0)
        of_gold = np.einsum("gp,p...->g...", cost, predicted)
        of_predicted = np.einsum("gp,g...->p...", cost, gold)
        observed = np.einsum("gp,gp...->...", cost, cells)
        return cost, of_gold, of_predicted, observed, (gold * of_gold).sum(axis=0)

    def of(self, table: Table, _positive: int) -> Any:
        """The value; 0.0 if gold and predictions are one and the same label."""
        *_, observed, expected = self._parts(table)
        return ratio(expected - observed, expected)

    def influence(self, table: Floats, _positive: int) -> Floats:
        """The change of the two disagreements; their sums are homogeneous of degree 1 and 2."""
        cost, of_gold, of_predicted, observed, expected = self._parts(table)
        cost = cost.reshape(*cost.shape, *[1] * (table.ndim - 2))
        more = of_gold[:, None] + of_predicted[None] - expected
        influence: Floats = ratio(ratio(observed, expected) * more - cost, expected)
        return influence


def _one_cell(table: Table, _positive: int) -> str | None:
    alike = sum(count > 0 for row in table for count in row) < 2
    return "gold and predictions are all the same label" if alike else None


def _lacking(side: str) -> Reason:
    def reason(table: Table, positive: int) -> str | None:
        counts = table[positive] if side == "gold has" else [row[positive] for row in table]
        return None if sum(counts) else f"{side} no example with the positive label"

    return reason


def _nothing_else(table: Table, left_out: int) -> str | None:
    others = sum(map(sum, table)) - table[left_out][left_out]
    return None if others else "neither gold nor predictions have another label than the one left out"


def _mean_metric(name: str, formula: ClassMean, undefined: Reason = lambda *_: None) -> CountMetric:
    return CountMetric(name, formula.of, formula.influence, undefined)


def _kappa_metric(name: str, power: int) -> CountMetric:
    return CountMetric(name, Kappa(power).of, Kappa(power).influence, _one_cell)


LABEL_METRICS = (
    _mean_metric("macro_f1", ClassMean("present")),
    _mean_metric("macro_f1_gold", ClassMean("gold")),
    replace(_mean_metric("macro_f1_all", ClassMean("all")), every=True),
    replace(_mean_metric("macro_f1_all_one", ClassMean("all_one")), every=True),
    _mean_metric("weighted_f1", ClassMean("weighted")),
    CountMetric("micro_f1_without", micro_f1_without_of, micro_f1_without_influence, _nothing_else),
    _mean_metric("precision", ClassMean("positive", 1.0, of_gold=0.0), _lacking("the predictions have")),
    _mean_metric("recall", ClassMean("positive", 1.0, of_predicted=0.0), _lacking("gold has")),
    _mean_metric("macro_precision", ClassMean("present", 1.0, of_gold=0.0)),
    _mean_metric("macro_recall", ClassMean("present", 1.0, of_predicted=0.0)),
    _mean_metric("balanced_accuracy", ClassMean("gold", 1.0, of_predicted=0.0)),
    _kappa_metric("kappa", 0),
    _kappa_metric("linear_kappa", 1),
    _kappa_metric("quadratic_kappa", 2),
)
"""Metrics of labels beside those of `counts.COUNT_METRICS`."""
