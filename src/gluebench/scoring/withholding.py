"""When a test set tells too little for an interval (docs/explanation/intervals.md)."""

from __future__ import annotations

from gluebench.benchmark import Metric
from gluebench.scoring.intervals import FEWEST_UNITS
from gluebench.scoring.metrics import CountMetric, SumMetric, function_of, is_proportion
from gluebench.scoring.metrics.counts import Classes
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.numeric import np
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
    return others < FEWEST_OTHERS or min(pairs.units_in(right), pairs.units_in(~right)) < 1


def too_few_for_difference(metric: Metric, pairs: Pairs) -> bool:
    """Whether the gold alone tells too little for an interval of a difference."""
    of_labels = isinstance(function_of(metric), CountMetric)
    if pairs.size < (FEWEST_UNITS if of_labels else FEWEST_NUMBERS):
        return True
    depends_on_labels = of_labels and not is_proportion(metric)
    return depends_on_labels and _units_with_others(pairs, axis=0) < FEWEST_OTHERS


def rare_class(metric: Metric, pairs: Pairs, variance: float) -> bool:
    """Whether an average over classes has one that is too rare for an interval.

    A class whose answers are all right, or all wrong, does not show its variance. With so many units m, its
    rate of the others may well be q = 1 / (m + 2), the posterior mean of a uniform prior, so that the average
    lacks the variance q (1 - q) / m over the squared number of classes. An interval is too short if such
    classes lack as much as the observed `variance`.
    """
    classes = _classes(metric, pairs)
    if classes is None:
        return False
    fewest = function_of(metric).fewest_of_class
    if classes.units.min(initial=fewest) < fewest:
        return True
    return len(classes.uniform) > 0 and lacking_variance(metric, pairs) >= variance


def lacking_variance(metric: Metric, pairs: Pairs) -> float:
    """What classes with only right, or only wrong, answers may add to the variance of their average."""
    classes = _classes(metric, pairs)
    if classes is None:
        return 0.0
    units, uniform = classes
    rates = 1 / (uniform + 2.0)
    lacking = rates * (1 - rates) / np.maximum(uniform, 1) / max(len(units), 1) ** 2
    return float(lacking.sum())


def _classes(metric: Metric, pairs: Pairs) -> Classes | None:
    """The classes of an average over classes; None for other metrics."""
    classes_of = function_of(metric).classes
    if classes_of is None:
        return None
    return pairs.compute_once(("classes", metric), lambda: classes_of(pairs, metric))


def _units_with_others(pairs: Pairs, *, axis: int) -> int:
    """Number of units with another gold (axis 0) or predicted (1) label than the most frequent one."""
    counts = pairs.table_array.sum(axis=1 - axis)
    other = np.arange(len(counts)) != counts.argmax()
    if pairs.units is None:
        return int(counts[other].sum())
    return int(pairs.units_with(other[pairs.code_arrays[axis]]))
