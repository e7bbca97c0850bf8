"""The area under the ROC curve by pairs of units has the values of the metric called on the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.units import RowUnits, units_of
from gluebench.scoring.units.base import generator
from gluebench.scoring.units.curves import AucUnits

LABELS = ("a", "b", "c")


@pytest.mark.parametrize("size", [12, 150, 450])
@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_those_of_rows_to_the_last_bit(size: int, grouped: bool) -> None:
    """Also with ties, more units than are kept apart, and draws without one of the two kinds of rows."""
    rng = np.random.default_rng(size)
    gold = [LABELS[code] for code in rng.choice(3, size, p=[0.15, 0.5, 0.35])]
    groups = tuple((np.arange(size) // 3).tolist()) if grouped else None
    systems = [
        replace(pairs_of("probabilities", gold, rows.tolist(), labels=LABELS), groups=groups)
        for rows in (rng.dirichlet([1, 1, 1], size).round(digits) for digits in (1, 6))
    ]
    metrics = [Metric(label, "roc_auc", label, "F", label, LABELS) for label in "ab"]
    by_pairs, by_rows = units_of(metrics, systems), RowUnits(metrics, systems)
    assert isinstance(by_pairs, AucUnits)
    assert np.array_equal(by_pairs.left_out(), by_rows.left_out())
    drawn = [units.bootstrap(40, generator(0, "F")) for units in (by_pairs, by_rows)]
    assert np.array_equal(*drawn)
    assert size > 12 or (drawn[0] == 0.0).any()
