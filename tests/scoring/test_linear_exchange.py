"""From 200 units on, sign flips stand in for the exchange of z-scores and ranks."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from worlds import metrics_of

from gluebench.scoring.pairs import Pairs
from gluebench.scoring.units import base as module
from gluebench.scoring.units import units_of
from gluebench.submission import Column


def test_both_have_the_same_spread_and_observed_values(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    gold, *answers = (Column((), array("d", row)) for row in rng.multivariate_normal(
        np.zeros(3), [[1, 0.8, 0.7], [0.8, 1, 0.75], [0.7, 0.75, 1]], size=220).T)  # fmt: skip
    units = units_of(metrics_of("STS-B"), [Pairs(gold, each) for each in answers])
    linear = units.exchange(1500, np.random.default_rng(1))
    monkeypatch.setattr(module, "LINEAR_FROM", 1000)
    exact = units.exchange(1500, np.random.default_rng(2))
    assert linear.differences[:, 0] == pytest.approx(exact.differences[:, 0])
    assert linear.errors[:, 0] == pytest.approx(exact.errors[:, 0], rel=0.01)
    ratios = [(each.differences / each.errors).std(axis=1) for each in (linear, exact)]
    assert ratios[0] == pytest.approx(ratios[1], rel=0.1)
    assert not np.array_equal(linear.errors[0], exact.errors[0])
