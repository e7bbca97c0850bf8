"""Metrics that are a function of sums over the examples: mean losses, pooled counts, means per example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.counts import Classes, MetricFunction, MetricValue, ratio
from gluebench.scoring.numeric import Floats, Ints, np
from gluebench.scoring.pairs import Pairs

FEWEST_NUMBERS = 25
"""Minimum number of units for an interval of any metric but one of labels."""
FEWEST_OF_RATING = 5
"""Minimum number of units with each gold rating for an interval of `neg_wmae`."""
MOST_RATINGS = 100
"""Maximum number of different gold ratings of `neg_wmae`."""
_UNEVEN = 0.5
"""Share of a step by which the ratings that occur may miss the ends of the scale, as thirds are rounded."""
_ROUNDING = 1e-12
"""A spread below this share of the squares is the rounding error of a constant column."""


@dataclass(frozen=True)
class SumMetric(MetricFunction):
    """A metric as a function of the sums of some numbers per example."""

    rows: Callable[[Pairs, Metric], Floats]
    """The numbers of each example, shape (n, k); those of a group may stand at any of its examples."""
    of: Callable[[Any], Any]
    """The values, shape (...), from sums of shape (k, ...)."""
    undefined: Callable[[Any], str | None] = lambda sums: None
    """Why the value is 0.0 by convention, from the sums, shape (k,); None if it is defined."""
    fewest: int = FEWEST_NUMBERS
    """Minimum number of units for an interval of one system's value."""

    def rows_of(self, pairs: Pairs, metric: Metric) -> Floats:
        """The numbers of each example, computed once for the same pairs."""
        return pairs.compute_once((self.rows, metric), lambda: self.rows(pairs, metric))

    def point(self, pairs: Pairs, metric: Metric) -> MetricValue:
        """The value on all examples."""
        sums = self.rows_of(pairs, metric).sum(axis=0)
        value = float(self.of(sums))
        if value:
            return MetricValue(value)
        return MetricValue(value, self.undefined(sums))

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence of each unit, exactly, from the sums without it."""
        rows = self.rows_of(pairs, metric)
        without = self.of((rows.sum(axis=0) - pairs.by_unit(rows)).T)
        return pairs.left_out(value, without)


def _columns(*columns: Any) -> Floats:
    stacked: Floats = np.stack(np.broadcast_arrays(*columns), axis=1).astype(np.float64)
    return stacked


def means(values: Any) -> Floats:
    """The rows of a mean over the examples, from the value of each, shape (n,)."""
    return _columns(values, 1.0)


def _number_arrays(pairs: Pairs) -> tuple[Floats, Floats]:
    """The numbers of gold and of the predictions, each of shape (n,)."""
    return np.array(pairs.gold.numbers), np.array(pairs.predicted.numbers)


def _moments(pairs: Pairs, _: Metric) -> Floats:
    """Count, predictions and gold around gold's median, their squares and product, and squared error."""
    gold, predicted = _number_arrays(pairs)
    x = predicted - np.median(gold)
    y = gold - np.median(gold)
    return _columns(1.0, x, y, x * x, y * y, x * y, (predicted - gold) ** 2)


def _absolute_rows(pairs: Pairs, _: Metric) -> Floats:
    return means(np.abs(np.subtract(pairs.predicted.numbers, pairs.gold.numbers)))


def mean_of(sums: Any) -> Any:
    """The mean, from the sums of `means`."""
    return ratio(sums[0], sums[1])


def negated_mean(sums: Any) -> Any:
    """The negated mean, from the sums of `means`."""
    return 0.0 - mean_of(sums)


def spread(total: Any, squares: Any, n: Any) -> Any:
    """Sum of squared deviations from the mean; 0.0 if it is only the rounding error of a constant."""
    around = squares - ratio(total * total, n)
    return np.where(around > _ROUNDING * squares, around, 0.0)


def _r2(sums: Any) -> Any:
    around = spread(sums[2], sums[4], sums[0])
    return ratio(around - sums[6], around)


def _concordance(sums: Any) -> Any:
    n, x, y, xx, yy, xy, _ = sums
    spread_x = spread(x, xx, n)
    spread_y = spread(y, yy, n)
    value = ratio(2 * (xy - ratio(x * y, n)), spread_x + spread_y + ratio((x - y) ** 2, n))
    return np.where(spread_x * spread_y > 0, value, 0.0)


def _constant_gold(sums: Any) -> str | None:
    if spread(sums[2], sums[4], sums[0]):
        return None
    return "the gold scores are all the same"


def _rating_rows(pairs: Pairs, _: Metric) -> Floats:
    """The error and a 1 at each example's gold rating, shape (n, 2 x ratings)."""
    gold, predicted = _number_arrays(pairs)
    ratings, rating_of_rows = np.unique(gold, return_inverse=True)
    if len(ratings) > MOST_RATINGS:
        raise ValueError(
            f"gold has {len(ratings)} different ratings; neg_wmae expects at most {MOST_RATINGS}: use neg_mae"
        )
    rows = np.zeros((len(gold), 2, len(ratings)))
    examples = np.arange(len(gold))
    rows[examples, 0, rating_of_rows] = np.abs(predicted - gold)
    rows[examples, 1, rating_of_rows] = 1.0
    return rows.reshape(len(gold), -1)


def _rating_classes(pairs: Pairs, metric: Metric) -> Classes:
    """The ratings of the task's scale; none is uniform, since errors are numbers.

    Its steps are as wide as the smallest one between gold ratings, from one end of the task's range to the
    other. If some of its ratings do not occur, the last class stands for them.
    """
    has_rating = _rating_rows(pairs, metric).reshape(len(pairs), 2, -1)[:, 1]
    units = pairs.units_with(has_rating)
    ratings = np.unique(pairs.gold.numbers)
    lowest, highest = metric.score_range or (ratings[0], ratings[-1])
    step = np.diff(ratings).min(initial=highest - lowest)
    if highest - lowest > (len(ratings) - 1 + _UNEVEN) * step:
        units = np.append(units, 0)
    return Classes(units, np.zeros(0, np.intp))


def _neg_wmae(sums: Any) -> Any:
    errors, counts = sums.reshape(2, -1, *sums.shape[1:])
    return 0.0 - ratio(ratio(errors, counts).sum(axis=0), (counts > 0).sum(axis=0))


def _cut_rows(pairs: Pairs, metric: Metric) -> Floats:
    """Both, gold, and prediction at or above the number that the manifest names under `positive`."""
    cut = float(metric.positive or 0.0)
    gold_numbers, predicted_numbers = _number_arrays(pairs)
    gold = gold_numbers >= cut
    predicted = predicted_numbers >= cut
    return _columns(gold & predicted, gold, predicted)


def pooled_f1(sums: Any) -> Any:
    """2 TP / (gold + predicted), from the three sums."""
    return ratio(2 * sums[0], sums[1] + sums[2])


def f1_from(precision: Any, recall: Any) -> Any:
    """The harmonic mean of precision and recall."""
    return ratio(2 * precision * recall, precision + recall)


def _none_above(sums: Any) -> str | None:
    if sums[1] + sums[2]:
        return None
    return "neither gold nor predictions reach the number"


def _group_rows(pairs: Pairs, holds: Any) -> Floats:
    """Whether `holds`, shape (n,), of every example of a group, and a 1, at its first example."""
    rows = np.zeros((len(pairs), 2))
    rows[_first_of_units(pairs)] = means(np.bincount(pairs.unit_of_rows, ~holds) == 0)
    return rows


def _first_of_units(pairs: Pairs) -> Ints:
    """The first example of each unit, shape (units,)."""
    return np.unique(pairs.unit_of_rows, return_index=True)[1]


def _exact_groups(pairs: Pairs, _: Metric) -> Floats:
    gold, predicted = pairs.code_arrays
    return _group_rows(pairs, gold == predicted)


def _agreeing_groups(pairs: Pairs, _: Metric) -> Floats:
    predicted = pairs.code_arrays[1]
    first_of_group = predicted[_first_of_units(pairs)][pairs.unit_of_rows]
    return _group_rows(pairs, predicted == first_of_group)


NUMBER_SUMS = (
    SumMetric("neg_mae", _absolute_rows, negated_mean),
    SumMetric("neg_mse", _moments, lambda sums: 0.0 - ratio(sums[6], sums[0])),
    SumMetric("neg_rmse", _moments, lambda sums: 0.0 - ratio(sums[6], sums[0]) ** 0.5),
    SumMetric("r2", _moments, _r2, _constant_gold),
    SumMetric("concordance", _moments, _concordance, _constant_gold),
    SumMetric("neg_wmae", _rating_rows, _neg_wmae, classes=_rating_classes, fewest_of_class=FEWEST_OF_RATING),
    SumMetric("f1_from", _cut_rows, pooled_f1, _none_above),
)
GROUP_SUMS = (
    SumMetric("group_exact_match", _exact_groups, mean_of),
    SumMetric("group_agreement", _agreeing_groups, mean_of),
)

MEAN = SumMetric(
    "mean of scores", lambda pairs, _: means(pairs.predicted.numbers), mean_of, limits=(-inf, inf)
)
"""The metric of scored tables; no manifest can name it, since its predictions are scores."""
