"""Units of probabilities, for areas under curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.metrics import function_of
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.curves import Curve, CurveMetric, curve_of
from gluebench.scoring.units.base import Floats, Ints
from gluebench.scoring.units.numbers import MergedUnits

PER_STEP = 1 << 17
"""Number of sums, of systems and draws, that go down the curves together."""
STEPS = 128
"""Number of examples down to which the sums are kept, 64 MiB of them."""


class AucUnits(MergedUnits):
    """Probabilities, for the area under the ROC curve, from sums down to each positive example."""

    def weighted(self, weights: Ints) -> Floats:
        """The area with each unit that many times, shape (metrics, systems, draws)."""
        drawn, areas = _drawn(weights, self), []
        for metric in self.metrics:
            code = self.systems[0].code(metric.positive)
            curves = [curve_of(pairs, code) for pairs in self.systems]
            own = drawn[curves[0].own].sum(axis=0, dtype=np.float64)
            pairs_of_rows = own * (drawn.sum(axis=0) - own)
            lost = _others(curves, drawn, shares=False).sum(axis=0)
            areas.append(ratio((2 * pairs_of_rows - lost) / 2, pairs_of_rows))
        return np.array(areas)


class CurveUnits(MergedUnits):
    """Probabilities, for areas under precision-recall curves, from sums down to each example of a label."""

    def weighted(self, weights: Ints) -> Floats:
        """The areas with each unit that many times, shape (metrics, systems, draws)."""
        functions = [
            function for metric in self.metrics if isinstance(function := function_of(metric), CurveMetric)
        ]
        above = any(function.straight for function in functions)
        drawn = _drawn(weights, self)
        areas, labels = np.zeros((len(functions), len(self.systems), len(weights))), np.zeros(len(weights))
        for code in sorted({*self.systems[0].gold.codes}):
            curves = [curve_of(pairs, code) for pairs in self.systems]
            own = drawn[curves[0].own].sum(axis=0)
            shares = ratio(_others(curves, drawn, shares=True, above=above), own)
            areas += np.where(own > 0, [function.area(*shares) for function in functions], 0.0)
            labels += own > 0
        means: Floats = ratio(areas, labels)
        return means


def _drawn(weights: Ints, merged: MergedUnits) -> NDArray[Any]:
    """Weights of the examples, shape (n, draws), in the smallest type for products with sums of them."""
    largest = int((weights @ merged.sizes).max() * weights.max())
    return weights.T.astype(np.min_scalar_type(-largest))[merged.units]


def _others(curves: Sequence[Curve], drawn: NDArray[Any], *, shares: bool, above: bool = True) -> Floats:
    """Sums over a label's examples of the others above, and up to, it, shape (2, systems, draws).

    There is one curve for each system; `drawn` are weights of shape (n, draws). With `shares`, the others are
    divided by all examples there. The first sums are 0 without `above`.
    """
    lost, block = np.zeros((2, len(curves), drawn.shape[1])), max(1, PER_STEP // len(curves))
    order, sides = np.stack([curve.order for curve in curves], axis=1), (0, 1) if above else (1,)
    for here in (slice(start, start + block) for start in range(0, drawn.shape[1], block)):
        own = drawn[:, here]
        others = own.copy()
        others[curves[0].own] = 0
        for start, sums in _sums_down(order, np.stack([others, own] if shares else [others], axis=1)):
            some = bool(sums[0, :, -1].all())
            for (system, curve), side in product(enumerate(curves), sides):
                places = (curve.above, curve.up_to)[side]
                first, last = np.searchsorted(places, [start, start + STEPS], "right")  # 0 others above 0
                there = sums[places[first:last] - start, system]
                terms = there[:, 0] * own[curve.own[first:last]]
                if shares:
                    terms = terms / (there[:, 1] if some else np.maximum(there[:, 1], 1))
                lost[side, system, here] += terms.sum(axis=0, dtype=np.float64)
    return lost


def _sums_down(order: Ints, weights: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Sums of weights, shape (n, ...), down to each place of each system's order, shape (n, systems).

    Yields a place, and the sums at it and at the STEPS places below, which the next ones overwrite.
    """
    sums = np.zeros((STEPS + 1, order.shape[1], *weights.shape[1:]), weights.dtype)
    taken = np.empty_like(sums[0])
    for start in range(0, len(order), STEPS):
        sums[0] = sums[-1]
        for step, rows in enumerate(order[start : start + STEPS]):
            np.add(sums[step], weights.take(rows, axis=0, out=taken, mode="clip"), out=sums[step + 1])
        yield start, sums
