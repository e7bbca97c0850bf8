"""Kendall's units from pairs of rows, against calling the metric on the rows themselves."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from gluebench.benchmark import Metric
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units import units_of
from gluebench.scoring.units.numbers import KendallUnits, RowUnits
from gluebench.submission.submission import Column

METRICS = [Metric("tau", "kendall", "tau", "F")]


@pytest.mark.parametrize(("examples", "groups"), [(30, None), (450, None), (90, 30)])
def test_values_are_those_of_the_rows(examples: int, groups: int | None) -> None:
    rng = np.random.default_rng(examples)
    gold = rng.integers(0, 6, examples)
    units = None if groups is None else tuple(rng.integers(0, groups, examples).tolist())
    systems = [
        Pairs(
            Column((), array("d", gold)),
            Column((), array("d", (gold + rng.normal(0, 2, examples)).round())),
            units,
        )
        for _ in range(2)
    ]
    fast, slow = units_of(METRICS, systems), RowUnits(METRICS, systems)
    assert isinstance(fast, KendallUnits)
    assert fast.left_out() == pytest.approx(slow.left_out(), abs=1e-12)
    drawn = [units.bootstrap(20, np.random.default_rng(1)) for units in (fast, slow)]
    assert drawn[0] == pytest.approx(drawn[1], abs=1e-12)
