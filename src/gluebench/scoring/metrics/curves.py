"""Areas under curves of the order of probabilities: the ROC curve, and precision against recall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import probabilities
from gluebench.scoring.metrics.counts import (
    Classes,
    MetricFunction,
    MetricValue,
    PairsMetric,
    ratio,
)
from gluebench.scoring.numeric import Flags, Floats, Ints, NDArray, np
from gluebench.scoring.pairs import Pairs


class Curve(NamedTuple):
    """The examples in the order of the probabilities of one label, the highest first."""

    order: Ints
    """All examples, shape (n,)."""
    own: Ints
    """The examples of the label, shape (own,)."""
    above: Ints
    """For each of `own`, the number of examples with a higher probability."""
    up_to: Ints
    """For each of `own`, the number of examples with at least its probability."""

    def sides(self) -> list[tuple[Ints, Ints]]:
        """Of `above`, then of `up_to`, the number of examples of other labels for each of `own`, and all."""
        sides = []
        for places in (self.above, self.up_to):
            own = np.searchsorted(self.up_to, places, "right")
            sides.append((places - own, places))
        return sides


def curve_of(pairs: Pairs, code: int) -> Curve:
    """The curve of a label."""
    given, gold = probabilities(pairs)
    losses = -given[:, code]
    order = np.argsort(losses)
    own = order[gold[order] == code]
    ordered = losses[order]
    above = np.searchsorted(ordered, losses[own], "left")
    up_to = np.searchsorted(ordered, losses[own], "right")
    return Curve(order, own, above, up_to)


def _roc_auc(pairs: Pairs, metric: Metric) -> MetricValue:
    """The probability that a positive example has a higher probability than another; ties count half."""
    curve = curve_of(pairs, pairs.code(metric.positive))
    pairs_of_rows = len(curve.own) * (len(pairs) - len(curve.own))
    if not pairs_of_rows:
        return MetricValue(0.0, "gold has only positive examples, or none")
    lost = sum(int(others.sum()) for others, _ in curve.sides())
    return MetricValue((2 * pairs_of_rows - lost) / 2 / pairs_of_rows)


def _auc_influence(pairs: Pairs, metric: Metric, area: float) -> Floats:
    """DeLong's components as influence, shape (units,): their variance is that of DeLong et al. (1988).

    A component is the share of the other class that the example is on the right side of. Those of a group are
    added (Obuchowski 1997).
    """
    given, gold = probabilities(pairs)
    code = pairs.code(metric.positive)
    scores = given[:, code]
    positive = gold == code
    other_scores = np.sort(scores[~positive])
    positive_scores = np.sort(scores[positive])
    if not len(other_scores) or not len(positive_scores):
        return np.zeros(pairs.size)
    share_above_others = _share_below(scores, other_scores)
    share_below_positives = 1 - _share_below(scores, positive_scores)
    components = np.where(positive, share_above_others, share_below_positives)
    own_size = np.where(positive, len(positive_scores), len(other_scores))
    influence = (components - area) * len(pairs) / own_size
    if pairs.units is None:
        # Each class has its own degrees of freedom; the one example of a class has the component `area`.
        n = len(pairs)
        influence *= np.sqrt(own_size * (n - 1) / (np.maximum(own_size - 1, 1) * n))
    return pairs.by_unit(influence) * (pairs.size / len(pairs))


def _share_below(scores: Floats, ascending: Floats) -> Floats:
    """For each score, the share of other ones that are lower; an equal one counts half."""
    lower = np.searchsorted(ascending, scores)
    up_to = np.searchsorted(ascending, scores, "right")
    shares: Floats = (lower + up_to) / 2 / len(ascending)
    return shares


@dataclass(frozen=True)
class CurveMetric(MetricFunction):
    """The mean, over the labels in gold, of the area under precision as a function of recall.

    That is 1 minus the mean, over the label's examples, of the share of others among the examples with at
    least its probability. The share among no examples is 0.
    """

    straight: bool
    """Whether straight lines join the points of the curve; else a precision holds since the last point.

    With straight lines, the share among the examples with a higher probability counts half.
    """

    def area(self, above: Any, up_to: Any) -> Any:
        """The area from the two mean shares of others."""
        if self.straight:
            return 1 - (above + up_to) / 2
        return 1 - up_to

    def point(self, pairs: Pairs, _: Metric) -> MetricValue:
        """The value on all examples."""
        areas = []
        for code in sorted(set(pairs.gold.codes)):
            above, up_to = [ratio(others, places).mean() for others, places in curve_of(pairs, code).sides()]
            areas.append(self.area(above, up_to))
        return MetricValue(float(np.mean(areas)))

    def influence_on(self, pairs: Pairs, metric: Metric, value: float) -> Floats:
        """The influence of each unit, exactly, from the value without it."""
        areas = np.zeros(pairs.size)
        labels = np.zeros(pairs.size)
        for code in sorted(set(pairs.gold.codes)):
            curve = curve_of(pairs, code)
            losses = -pairs.shares[:, code]
            left = len(curve.own) - pairs.by_unit(np.bincount(curve.own, minlength=len(pairs)))
            above, up_to = _others_without(curve, losses, pairs)
            area = self.area(ratio(above, left), ratio(up_to, left))
            areas += np.where(left > 0, area, 0.0)
            labels += left > 0
        return pairs.left_out(value, ratio(areas, labels))


def _others_without(curve: Curve, losses: Floats, pairs: Pairs) -> Iterator[Floats]:
    """Sums over a label's examples of the shares of others above, and up to, each, without each unit.

    Yields two arrays of shape (units,). An example has a start on the curve: the first own example from which
    on it counts. Between two starts of a unit, the same number of its examples is missing from each share, so
    that prefix sums for each such number give all units at once.
    """
    is_other = np.ones(len(pairs), np.bool_)
    is_other[curve.own] = False
    ordered = losses[curve.order]
    starts = (
        np.searchsorted(curve.above, np.searchsorted(ordered, losses, "right")),
        np.searchsorted(curve.up_to, np.searchsorted(ordered, losses), "right"),
    )
    for side, start in zip(curve.sides(), starts, strict=True):
        yield _shares_without(pairs.unit_of_rows, start, is_other, _Shares(*side), curve.own)


class _Shares(NamedTuple):
    """For each own example of a curve, the shares of others among the examples at its places."""

    others: Ints
    places: Ints

    def without(self, missing: Any, missing_others: Any) -> Any:
        """The shares when so many examples are missing; 0 among none."""
        left = np.maximum(self.places - missing, 0)
        return ratio(np.where(left > 0, self.others - missing_others, 0), left)

    def sums(self, missing: int) -> tuple[Floats, Floats]:
        """Prefix sums of others / places and of 1 / places, when so many places are missing."""
        inverse = ratio(1.0, np.maximum(self.places - missing, 0))
        others = np.append(0.0, np.cumsum(self.others * inverse))
        places = np.append(0.0, np.cumsum(inverse))
        return others, places


def _shares_without(units: Ints, start: Ints, is_other: Flags, shares: _Shares, own: Ints) -> Floats:
    """The sums of one side of `_others_without`, shape (units,)."""
    size = len(own)
    rows = np.lexsort((start, units))
    unit_of = units[rows]
    starts = start[rows]
    first = np.searchsorted(unit_of, np.arange(unit_of[-1] + 1))  # the first row of each unit
    missing = np.arange(len(rows)) - first[unit_of] + 1
    others_before = np.append(0, np.cumsum(is_other[rows]))
    missing_others = others_before[1:] - others_before[first][unit_of]
    ends = np.append(starts[1:], size)
    ends[np.append(first[1:], len(rows)) - 1] = size
    sums = shares.sums(0)[0][starts[first]]
    for number in range(1, int(missing.max()) + 1):
        sums_of_others, sums_of_places = shares.sums(number)
        so_many = np.flatnonzero(missing == number)
        begin = starts[so_many]
        end = ends[so_many]
        change = sums_of_others[end] - sums_of_others[begin]
        change -= missing_others[so_many] * (sums_of_places[end] - sums_of_places[begin])
        sums += np.bincount(unit_of[so_many], change, len(sums))
    # The unit's own examples of the label are missing too: their shares, as counted above, go.
    keys = unit_of * (size + 1) + starts
    last_start = np.searchsorted(keys, units[own] * (size + 1) + np.arange(size), "right") - 1
    has_start = last_start >= first[units[own]]
    missing_places = np.where(has_start, missing[last_start], 0)
    missing_others_there = np.where(has_start, missing_others[last_start], 0)
    own_shares = shares.without(missing_places, missing_others_there)
    sums -= np.bincount(units[own], own_shares, len(sums))
    return sums


FEWEST_OF_CURVE = 10
"""Minimum number of units with a label, and without it, for an interval of an area."""


def _labels(pairs: Pairs, _: Metric) -> Classes:
    """All labels of the task."""
    return _classes(pairs, pairs.gold_codes, len(pairs.gold.labels))


def _sides(pairs: Pairs, metric: Metric) -> Classes:
    """The label of the curve, and all others."""
    return _classes(pairs, pairs.gold_codes == pairs.code(metric.positive), 2)


def _classes(pairs: Pairs, codes: NDArray[Any], number: int) -> Classes:
    units = pairs.units_with(codes[:, np.newaxis] == np.arange(number))
    return Classes(units, np.zeros(0, np.intp))


CURVE_METRICS = (
    PairsMetric("roc_auc", _roc_auc, _auc_influence, classes=_sides, fewest_of_class=FEWEST_OF_CURVE),
    CurveMetric("macro_average_precision", straight=False, classes=_labels, fewest_of_class=FEWEST_OF_CURVE),
    CurveMetric("macro_pr_auc", straight=True, classes=_labels, fewest_of_class=FEWEST_OF_CURVE),
)
"""Areas under curves."""
