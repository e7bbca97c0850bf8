"""Made-up answers of several systems to one test file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest

from gluebench.benchmark import Metric
from gluebench.scoring.metrics import point
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units import units_of
from gluebench.submission import Column

ACCURACY = Metric("accuracy", "accuracy", "acc.", "F")
F1 = Metric("f1", "f1", "F1", "F", "1")
MCC = Metric("matthews_correlation", "matthews_correlation", "MCC", "F")
R_K = Metric("r_k", "r_k", "R3", "F")
PEARSON = Metric("pearson", "pearson", "r", "F")
SPEARMAN = Metric("spearman", "spearman", "rho", "F")
RESAMPLES = [150, pytest.param(600, marks=pytest.mark.slow)]
"""How many resamples are compared with what the package computes."""


def labels(gold, *answers, groups=None, classes: int = 2) -> list[Pairs]:
    """Pairs for each system, from label codes."""
    words = tuple(map(str, range(classes)))
    gold_column, *columns = (Column(words, bytes(map(int, codes))) for codes in (gold, *answers))
    of = None if groups is None else tuple(map(int, groups))
    return [Pairs(gold_column, column, of) for column in columns]


def numbers(gold, *answers, groups=None) -> list[Pairs]:
    """Pairs for each system, from numbers."""
    gold_column, *columns = (Column((), array("d", map(float, values))) for values in (gold, *answers))
    of = None if groups is None else tuple(map(int, groups))
    return [Pairs(gold_column, column, of) for column in columns]


def some_labels(n: int, *accuracies: float, classes: int = 2, groups=None, seed: int = 0) -> list[Pairs]:
    """Systems that are right with these probabilities, each independently."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, classes, n)
    answers = [
        np.where(rng.random(n) < each, gold, (gold + rng.integers(1, classes, n)) % classes)
        for each in accuracies
    ]
    return labels(gold, *answers, groups=groups, classes=classes)


def some_numbers(n: int, *noises: float, groups=None, seed: int = 0, decimals: int = 6) -> list[Pairs]:
    """Systems whose answers are gold plus normal noise of these deviations."""
    rng = np.random.default_rng(seed)
    gold = rng.uniform(0, 5, n).round(decimals)
    answers = [(gold + rng.normal(0, noise, n)).round(decimals) for noise in noises]
    return numbers(gold, *answers, groups=groups)


def left_out(metric: Metric, systems: Sequence[Pairs]) -> np.ndarray:
    """The metric without each unit, shape (systems, units)."""
    units = units_of([metric], systems)
    return units.left_out()[0][:, units.kinds.of_units]


def resampled(metric: Metric, systems: Sequence[Pairs], resamples: int, *, seed: int = 0) -> np.ndarray:
    """The metric on examples drawn with replacement, the same for all systems, (systems, resamples)."""
    rng, n = np.random.default_rng(seed), len(systems[0])
    drawn = [rng.integers(0, n, n).tolist() for _ in range(resamples)]
    values = [[point(metric, pairs.subset(rows)).value for rows in drawn] for pairs in systems]
    return np.array(values)


def spread_error(resamples: int) -> float:
    """The relative error to expect of so many resamples' standard deviation: 3.5 standard errors of it."""
    return 3.5 / sqrt(2 * resamples)


def codes(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Gold and predictions as arrays."""
    kind = np.uint8 if pairs.gold.labels else np.float64
    return np.frombuffer(pairs.gold.values, kind), np.frombuffer(pairs.predicted.values, kind)
