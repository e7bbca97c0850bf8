"""Areas under curves of the order of probabilities: the ROC curve, and precision against recall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import probabilities
from gluebench.scoring.metrics.counts import MetricFunction, PairsMetric, Point, ratio
from gluebench.scoring.numeric import np
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


class Steps(NamedTuple):
    """Of one label, sums of weights at each probability that its own examples have, the highest first.

    Each has the shape (probabilities, draws).
    """

    own: Any
    """Of the label's examples with at least that probability."""
    all: Any
    """Of all examples with at least that probability."""
    all_above: Any


def steps_of(pairs: Pairs, weights: Any) -> Iterator[Steps]:
    """The steps of each label that occurs in gold, from weights of shape (n, draws)."""
    given, gold = probabilities(pairs)
    for code in np.unique(gold):
        losses = -given[:, code]
        own = np.flatnonzero(gold == code)
        thresholds, sums = np.unique(losses[own]), []
        for rows in (own, np.arange(len(gold))):
            order = rows[np.argsort(losses[rows])]
            up_to = np.zeros((len(order) + 1, *weights.shape[1:]), weights.dtype)
            np.cumsum(weights[order], axis=0, out=up_to[1:])
            sums += [up_to[np.searchsorted(losses[order], thresholds, side)] for side in ("right", "left")]
        yield Steps(sums[0], *sums[2:])


@dataclass(frozen=True)
class CurveMetric(MetricFunction):
    """The mean, over the labels in gold, of the area under precision as a function of recall."""

    straight: bool
    """Whether straight lines join the points of the curve; else a precision holds since the last point."""

    def of(self, labels: Iterable[Steps]) -> Any:
        """The value of each draw, from the steps of the labels."""
        areas, occurs = zip(*map(self._area, labels), strict=True)
        return ratio(sum(areas), sum(occurs))

    def _area(self, steps: Steps) -> tuple[Any, Any]:
        """The area, and whether the label has an example; draws without one have the area 0."""
        own_above = np.concatenate([np.zeros_like(steps.own[:1]), steps.own[:-1]])
        precision = ratio(steps.own, steps.all)
        if self.straight:
            before = np.where(steps.all_above > 0, ratio(own_above, steps.all_above), 1.0)
            precision = (precision + before) / 2
        area = ((steps.own - own_above) * precision).sum(axis=0)
        return ratio(area, steps.own[-1]), steps.own[-1] > 0

    def point(self, pairs: Pairs, _: Metric) -> Point:
        """The value on all examples."""
        return Point(float(self.of(steps_of(pairs, np.ones((len(pairs), 1))))[0]))


CURVE_METRICS = (
    PairsMetric("roc_auc", _roc_auc),
    CurveMetric("macro_average_precision", straight=False),
    CurveMetric("macro_pr_auc", straight=True),
)
"""Areas under curves."""
