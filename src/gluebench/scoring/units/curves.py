"""Units of probabilities, for areas under curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics import function_of
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.curves import Curve, CurveMetric, curves_of
from gluebench.scoring.units.base import Floats, Ints
from gluebench.scoring.units.numbers import FLOAT32, MergedUnits

MOST_PAIRED = 1 << 14
"""Maximum number of examples of `AucUnits`, whose memory grows with it: 100 MiB."""
PER_STEP = 1 << 17
"""Number of sums, of systems and draws, that go down the curves together."""
STEPS = 128
"""Number of examples down to which the sums are kept, 64 MiB of them."""


class AucUnits(MergedUnits):
    """Probabilities, for the area under the ROC curve, from the pairs of rows between each two units."""

    @cached_property
    def _between(self) -> list[tuple[Floats, list[Floats]]]:
        """Of each metric, positive and other rows by unit, and for each system twice the pairs in order.

        The former has the shape (2, units); the latter (units, units), that of the positive row first.
        """
        largest = len(self.sizes) * self.sizes.max()
        units = np.eye(len(self.sizes), dtype=np.float32 if largest**2 < FLOAT32 else np.float64)
        gold, between = np.frombuffer(self.systems[0].gold.codes, np.uint8), []
        for metric in self.metrics:
            code = self.systems[0].code(metric.positive)
            positive = gold == code
            own, others = (units[self.units[rows]] for rows in (positive, ~positive))
            none_first = np.vstack([np.zeros_like(units[:1]), others])
            pairs = []
            for system in self.systems:
                given = system.shares[:, code]
                below, above = given[~positive], given[positive]
                order = np.argsort(below)
                up_to = np.cumsum(none_first[np.append(0, order + 1)], axis=0)
                left, right = (np.searchsorted(below, above, side, order) for side in ("left", "right"))
                pairs.append(own.T @ (up_to[left] + up_to[right]))
            between.append((np.stack([own.sum(axis=0), others.sum(axis=0)]), pairs))
        return between

    def weighted(self, weights: Ints) -> Floats:
        """The area with each unit that many times, shape (metrics, systems, draws)."""
        areas = []
        for rows, of_systems in self._between:
            drawn = weights.astype(rows.dtype)
            own, others = (rows @ drawn.T).astype(np.float64)
            in_order = (np.einsum("du,du->d", drawn @ pairs, drawn) for pairs in of_systems)
            areas.append([ratio(twice.astype(np.float64) / 2, own * others) for twice in in_order])
        return np.array(areas)


class CurveUnits(MergedUnits):
    """Probabilities, for areas under precision-recall curves, from sums down to each example of a label."""

    def weighted(self, weights: Ints) -> Floats:
        """The areas with each unit that many times, shape (metrics, systems, draws)."""
        functions = [
            function for metric in self.metrics if isinstance(function := function_of(metric), CurveMetric)
        ]
        drawn = weights.T[self.units]
        drawn = drawn.astype(np.min_scalar_type(-int(drawn.sum(axis=0).max(initial=0) * drawn.max())))
        sides = ("above", "up_to") if any(function.straight for function in functions) else ("up_to",)
        areas, labels = np.zeros((len(functions), len(self.systems), len(weights))), np.zeros(len(weights))
        for curves in zip(*map(curves_of, self.systems), strict=True):
            size = drawn[curves[0].own].sum(axis=0)
            lost = np.zeros((2, *areas.shape[1:]))
            for start in range(0, len(weights), block := max(1, PER_STEP // len(curves))):
                here = slice(start, start + block)
                lost[-len(sides) :, :, here] = _others(curves, sides, drawn[:, here])
            shares = ratio(lost, size)
            areas += np.where(size > 0, [function.area(*shares) for function in functions], 0.0)
            labels += size > 0
        means: Floats = ratio(areas, labels)
        return means


def _others(curves: Sequence[Curve], sides: Sequence[str], drawn: NDArray[Any]) -> Floats:
    """Sums over a label's examples of the share of others among those above, or up to, it.

    The shape is (sides, systems, draws), from one curve for each system, and weights of shape (n, draws).
    """
    others = drawn.copy()
    others[curves[0].own] = 0
    both, order = np.stack([others, drawn], axis=1), np.stack([curve.order for curve in curves], axis=1)
    sums = np.zeros((STEPS + 1, len(curves), *both.shape[1:]), drawn.dtype)
    taken, shares = np.empty_like(sums[0]), np.zeros((len(sides), len(curves), drawn.shape[1]))
    for start in range(0, len(drawn), STEPS):
        sums[0] = sums[-1]
        for step, rows in enumerate(order[start : start + STEPS]):
            np.add(sums[step], both.take(rows, axis=0, out=taken, mode="clip"), out=sums[step + 1])
        some = bool(sums[0, :, 1].all())
        for (at, side), (system, curve) in product(enumerate(sides), enumerate(curves)):
            places = getattr(curve, side)
            first, last = np.searchsorted(places, [start, start + STEPS], "right")  # others above 0 are 0
            of_others, of_all = sums[places[first:last] - start, system].swapaxes(0, 1)
            of_others *= drawn[curve.own[first:last]]
            shares[at, system] += (of_others / (of_all if some else np.maximum(of_all, 1))).sum(axis=0)
    return shares
