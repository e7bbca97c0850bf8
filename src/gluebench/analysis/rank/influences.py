"""Influence values of many systems on the same test file, from which boards have their variances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import UNITS, Floats, Values, covariances, row_blocks
from gluebench.scoring.influence import Influence


class Part(NamedTuple):
    """A test file's part in what a board is ranked by."""

    systems: Sequence[Influence | None]
    """None for a system that lacks the file, whose share is 0."""
    metrics: Sequence[float]
    """The weight of each metric of the file."""
    shares: Sequence[float]
    """The share of the file in each system's average."""

    @property
    def units(self) -> int:
        """The number of units."""
        return next(system.size for system in self.systems if system is not None)

    def by_kind(self, at: int) -> Floats:
        """Influence of each kind on a system's average, with mean 0 over the units, shape (kinds,)."""
        system = self.systems[at]
        assert system is not None
        return self.shares[at] * centered(system, self.metrics)

    def values(self) -> Values:
        """A function that gives the influence of a slice of the units on all averages."""
        there = [at for at, system in enumerate(self.systems) if system is not None]
        tables = [self.by_kind(at) for at in there]
        kinds = [system.kinds for system in self.systems if system is not None]

        def of_slice(block: slice) -> Floats:
            rows = np.zeros((len(self.systems), len(kinds[0][block])))
            for at, table, own in zip(there, tables, kinds, strict=True):
                rows[at] = table[own[block]]
            return rows

        return of_slice

    def covariances(self, reference: Floats | None = None) -> Floats:
        """Covariances of the averages as far as the file makes them; only the upper triangle counts."""
        return covariances(self.values(), len(self.systems), self.units, reference)

    def mean(self) -> Floats:
        """The mean influence over the systems, shape (units,)."""
        values = self.values()
        return np.concatenate([values(block).mean(axis=0) for block in row_blocks(self.units, UNITS)])

    def rows(self, systems: Sequence[int], reference: Floats) -> Floats:
        """Covariances of some of the systems with all, shape (some, systems)."""
        rows = np.zeros((len(systems), len(self.systems)))
        values = self.values()
        for block in row_blocks(self.units, UNITS):
            deviations = values(block) - reference[block]
            rows += deviations[systems] @ deviations.T
        return rows / (self.units * max(self.units - 1, 1))


def square_of(covariance: Floats) -> Floats:
    """The symmetric matrix of an upper triangle."""
    upper = np.triu(covariance)
    return upper + np.triu(upper, 1).T


def centered(system: Influence, metrics: Sequence[float]) -> Floats:
    """Influence of each kind on a weighted sum of the metrics, with mean 0 over the units, shape (kinds,)."""
    mixed: Floats = np.asarray(metrics) @ system.by_kind
    return mixed - mixed @ system.counts / system.size


def variance(system: Influence, metrics: Sequence[float]) -> float:
    """The variance of the weighted sum of the metrics over the choice of units; 0 for a single unit."""
    values = centered(system, metrics)
    return float(system.counts @ values**2) / (system.size * max(system.size - 1, 1))


def mean_influence(runs: Sequence[Influence]) -> Influence:
    """The influence on the mean over runs, each of which answers the same examples."""
    if len(runs) == 1:
        return runs[0]
    values = np.mean([run.values for run in runs], axis=0)
    by_unit: Floats = sum((run.by_unit for run in runs), np.zeros(runs[0].by_unit.shape)) / len(runs)
    size = runs[0].size
    return Influence(values, by_unit, np.arange(size), np.ones(size, np.int64))


def shared_variance(runs: Sequence[Influence], metrics: Sequence[float]) -> float:
    """The part of the variance of the mean over runs, as runs differ, that is due to the examples."""
    number = len(runs)
    if number == 1:
        return 0.0
    mean = mean_influence(runs)
    rest = 0.0
    for run in runs:
        deviation = run.by_unit - mean.by_unit
        rest += variance(Influence(run.values, deviation, mean.kinds, mean.counts), metrics)
    return rest / (number * (number - 1))
