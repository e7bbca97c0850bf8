"""When a test set tells too little for an interval (docs/explanation/intervals.md)."""

from __future__ import annotations

from gluebench.benchmark import Metric
from gluebench.scoring.intervals import FEWEST_UNITS
from gluebench.scoring.metrics import CountMetric, SumMetric, function_of, is_proportion
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.numeric import Flags, np
from gluebench.scoring.pairs import Pairs

FEWEST_OTHERS = 5
"""Minimum number of units with a label other than the most frequent, for an interval."""


def too_few(metric: Metric, pairs: Pairs) -> bool:
    """Whether one system's value has no interval: too few units, errors, or minority labels.

    Never for an accuracy: Wilson's interval is valid at any size.
    """
    function = function_of(metric)
    if is_proportion(metric):
        return False
    if not isinstance(function, CountMetric):
        return pairs.size < (function.fewest if isinstance(function, SumMetric) else FEWEST_NUMBERS)
    if pairs.size < FEWEST_UNITS:
        return True
    right = np.eye(len(pairs.gold.labels), dtype=np.bool_)
    others = _units_with_others(pairs, axis=0)
    if not pairs.predicted.constant:  # else the score depends only on the gold labels' shares
        others = min(others, _units_with_others(pairs, axis=1))
    return others < FEWEST_OTHERS or min(_units_in(pairs, right), _units_in(pairs, ~right)) < 1


def too_few_for_difference(metric: Metric, pairs: Pairs) -> bool:
    """Whether the gold alone tells too little for an interval of a difference."""
    if not isinstance(function_of(metric), CountMetric):
        return pairs.size < FEWEST_NUMBERS
    if pairs.size < FEWEST_UNITS or is_proportion(metric):
        return pairs.size < FEWEST_UNITS
    return _units_with_others(pairs, axis=0) < FEWEST_OTHERS


def rare_class(metric: Metric, pairs: Pairs, variance: float) -> bool:
    """Whether an average over classes has one that is too rare for an interval.

    A class whose answers are all right, or all wrong, does not show its variance. With so many units m, its
    rate of the others may well be q = 1 / (m + 2), the posterior mean of a uniform prior, so that the average
    lacks the variance q (1 - q) / m over the squared number of classes. An interval is too short if such
    classes lack as much as the observed `variance`.
    """
    function = function_of(metric)
    if function.classes is None:
        return False
    units, uniform = function.classes(pairs, metric)
    if units.min(initial=function.fewest_of_class) < function.fewest_of_class:
        return True
    return len(uniform) > 0 and lacking_variance(metric, pairs) >= variance


def lacking_variance(metric: Metric, pairs: Pairs) -> float:
    """What classes with only right, or only wrong, answers may add to the variance of their average."""
    function = function_of(metric)
    if function.classes is None:
        return 0.0
    units, uniform = function.classes(pairs, metric)
    rates = 1 / (uniform + 2.0)
    lacking = rates * (1 - rates) / np.maximum(uniform, 1) / max(len(units), 1) ** 2
    return float(lacking.sum())


def _units_with_others(pairs: Pairs, *, axis: int) -> int:
    """Number of units with another gold (axis 0) or predicted (1) label than the most frequent one."""
    table = pairs.table_array
    cells = np.ones(table.shape, np.bool_)
    np.moveaxis(cells, axis, 0)[table.sum(axis=1 - axis).argmax()] = False
    return _units_in(pairs, cells)


def _units_in(pairs: Pairs, cells: Flags) -> int:
    """Number of units with an example in one of these cells of the confusion table."""
    if pairs.units is None:
        return int(pairs.table_array[cells].sum())
    gold, predicted = pairs.code_arrays
    return int(np.count_nonzero(pairs.by_unit(cells[gold, predicted])))
