"""Areas under curves of the order of probabilities: the ROC curve, and precision against recall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import probabilities
from gluebench.scoring.metrics.counts import MetricFunction, PairsMetric, Point, ratio
from gluebench.scoring.numeric import Ints, np
from gluebench.scoring.pairs import Pairs


def _roc_auc(pairs: Pairs, metric: Metric) -> Point:
    """The probability that a positive example has a higher probability than another; ties count half."""
    given, gold = probabilities(pairs)
    positive = pairs.code(metric.positive)
    others = np.sort(given[gold != positive, positive])
    own = given[gold == positive, positive]
    if not len(own) * len(others):
        return Point(0.0, "gold has only positive examples, or none")
    below = [np.searchsorted(others, own, side=side).sum() for side in ("left", "right")]
    return Point(float(sum(below)) / 2 / (len(own) * len(others)))


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


def curves_of(pairs: Pairs) -> Iterator[Curve]:
    """The curve of each label that occurs in gold."""
    given, gold = probabilities(pairs)
    for code in np.unique(gold):
        losses = -given[:, code]
        order = np.argsort(losses)
        own, ordered = order[gold[order] == code], losses[order]
        yield Curve(order, own, *(np.searchsorted(ordered, losses[own], side) for side in ("left", "right")))


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
        for curve in curves_of(pairs):
            sides = (curve.above, curve.up_to)
            others = (places - np.searchsorted(curve.up_to, places, "right") for places in sides)
            areas.append(self.area(*(ratio(*each).mean() for each in zip(others, sides, strict=True))))
        return Point(float(np.mean(areas)))


CURVE_METRICS = (
    PairsMetric("roc_auc", _roc_auc),
    CurveMetric("macro_average_precision", straight=False),
    CurveMetric("macro_pr_auc", straight=True),
)
"""Areas under curves."""
