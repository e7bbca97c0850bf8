"""Influence values of many systems on the same test file, from which boards have their variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gluebench.analysis.rank.decisions import UNITS, Floats, covariances, row_blocks
from gluebench.scoring.influence import Influence
from gluebench.scoring.units import Units


@dataclass(frozen=True)
class PartInfluences:
    """The influence of a test part's units on what systems are ranked by."""

    systems: Sequence[Influence]
    metrics: Sequence[float]
    """The weight of each metric of the file."""

    @property
    def units(self) -> int:
        """The number of units."""
        return self.systems[0].size

    @cached_property
    def _by_kind(self) -> list[Floats]:
        """Influence of each kind on each system's average, with mean 0 over the units, shape (kinds,)."""
        return [centered_influence(system, self.metrics) for system in self.systems]

    def values(self, units: slice) -> Floats:
        """The influence of a slice of the units on all averages, shape (systems, units of the slice)."""
        pairs = zip(self._by_kind, self.systems, strict=True)
        return np.stack([by_kind[system.kinds[units]] for by_kind, system in pairs])

    def covariances(self, reference: Floats | None = None) -> Floats:
        """Covariances of the averages as far as the file makes them; only the upper triangle counts."""
        return covariances(self.values, len(self.systems), self.units, reference)

    def mean(self) -> Floats:
        """The mean influence over the systems, shape (units,)."""
        blocks = row_blocks(self.units, UNITS)
        return np.concatenate([self.values(block).mean(axis=0) for block in blocks])

    def rows(self, systems: Sequence[int], reference: Floats) -> Floats:
        """Covariances of some of the systems with all, shape (some, systems)."""
        rows = np.zeros((len(systems), len(self.systems)))
        for block in row_blocks(self.units, UNITS):
            deviations = self.values(block) - reference[block]
            rows += deviations[systems] @ deviations.T
        return rows / (self.units * max(self.units - 1, 1))


def symmetric(upper_triangle: Floats) -> Floats:
    """The symmetric matrix of an upper triangle."""
    upper = np.triu(upper_triangle)
    return upper + np.triu(upper, 1).T


def centered_influence(system: Influence, metrics: Sequence[float]) -> Floats:
    """Influence of each kind on a weighted sum of the metrics, with mean 0 over the units, shape (kinds,)."""
    mixed: Floats = np.asarray(metrics) @ system.by_kind
    return mixed - mixed @ system.counts / system.size


def variance(system: Influence, metrics: Sequence[float]) -> float:
    """The variance of the weighted sum of the metrics over the choice of units; 0 for a single unit."""
    values = centered_influence(system, metrics)
    return float(system.counts @ values**2) / (system.size * max(system.size - 1, 1))


def mean_influence(units: Units) -> Influence:
    """The influence on the mean over the systems of these units, such as the runs of one system."""
    values = units.values().mean(axis=1)
    return Influence(values, units.by_kind().mean(axis=1), units.kinds.of_units, units.counts)
