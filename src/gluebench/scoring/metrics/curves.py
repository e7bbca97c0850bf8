"""Areas under curves of the order of probabilities: the ROC curve, and precision against recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import probabilities
from gluebench.scoring.metrics.counts import MetricFunction, PairsMetric, Point, ratio
from gluebench.scoring.numeric import Ints, np
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

    def others(self) -> tuple[Ints, Ints]:
        """For each of `own`, the numbers of examples of other labels in `above` and `up_to`."""
        above, up_to = (at - np.searchsorted(self.up_to, at, "right") for at in (self.above, self.up_to))
        return above, up_to


def curve_of(pairs: Pairs, code: int) -> Curve:
    """The curve of a label."""
    given, gold = probabilities(pairs)
    losses = -given[:, code]
    order = np.argsort(losses)
    own, ordered = order[gold[order] == code], losses[order]
    return Curve(order, own, *(np.searchsorted(ordered, losses[own], side) for side in ("left", "right")))


def _roc_auc(pairs: Pairs, metric: Metric) -> Point:
    """The probability that a positive example has a higher probability than another; ties count half."""
    curve = curve_of(pairs, pairs.code(metric.positive))
    pairs_of_rows = len(curve.own) * (len(pairs) - len(curve.own))
    if not pairs_of_rows:
        return Point(0.0, "gold has only positive examples, or none")
    lost = sum(int(others.sum()) for others in curve.others())
    return Point((2 * pairs_of_rows - lost) / 2 / pairs_of_rows)


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
        return 1 - (above + up_to) / 2 if self.straight else 1 - up_to

    def point(self, pairs: Pairs, _: Metric) -> Point:
        """The value on all examples."""
        areas = []
        for code in sorted({*pairs.gold.codes}):
            curve = curve_of(pairs, code)
            sides = zip(curve.others(), (curve.above, curve.up_to), strict=True)
            areas.append(self.area(*(ratio(others, places).mean() for others, places in sides)))
        return Point(float(np.mean(areas)))


CURVE_METRICS = (
    PairsMetric("roc_auc", _roc_auc),
    CurveMetric("macro_average_precision", straight=False),
    CurveMetric("macro_pr_auc", straight=True),
)
"""Areas under curves."""
