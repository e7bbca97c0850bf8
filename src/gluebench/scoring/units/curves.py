"""Units of probabilities, for areas under curves."""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter

import numpy as np

from gluebench.scoring.metrics import function_of
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.curves import CurveMetric, Steps, steps_of
from gluebench.scoring.units.base import Floats, Ints
from gluebench.scoring.units.numbers import FLOAT32, MergedUnits

MOST_PAIRED = 1 << 14
"""Maximum number of examples of `AucUnits`, whose memory grows with it: 100 MiB."""
DRAWS = 256
"""Number of draws that are computed together, of each of which every example takes 16 bytes."""


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
                given = np.fromiter(map(itemgetter(code), system.predicted.cells), np.float64)
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
    """Probabilities, for areas under precision-recall curves, from the steps of each unit."""

    def weighted(self, weights: Ints) -> Floats:
        """The areas with each unit that many times, shape (metrics, systems, draws)."""
        functions = [
            function for metric in self.metrics if isinstance(function := function_of(metric), CurveMetric)
        ]
        values = np.empty((len(functions), len(self.systems), len(weights)))
        largest = weights.sum(axis=1).max() * self.sizes.max()
        exact = np.float32 if largest < FLOAT32 else np.float64
        units, drawn = np.eye(len(self.sizes), dtype=exact)[self.units], weights.T.astype(exact)
        for at, pairs in enumerate(self.systems):
            steps = [*steps_of(pairs, units)]
            for start in range(0, len(weights), DRAWS):
                here = slice(start, start + DRAWS)
                labels = [Steps(*(sums @ drawn[:, here] for sums in of_label)) for of_label in steps]
                values[:, at, here] = [function.of(labels) for function in functions]
        return values
