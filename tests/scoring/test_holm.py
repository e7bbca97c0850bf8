"""Holm's adjustment against statsmodels and its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.scoring.intervals import holm


def test_holm_on_a_worked_example():
    """Four p-values: x4, x3, x2, x1, each at least the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_holm_keeps_order_and_bounds():
    assert holm([]) == ()
    assert holm([0.3]) == (0.3,)
    assert holm([0.9, 0.8, 0.7]) == (1.0, 1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_exactly_what_stepping_down_rejects(p_values):
    adjusted = holm(p_values)
    alpha, count = 0.05, len(p_values)
    rejected = set()
    for rank, position in enumerate(sorted(range(count), key=p_values.__getitem__)):
        if (count - rank) * p_values[position] > alpha:
            break
        rejected.add(position)
    assert {position for position in range(count) if adjusted[position] <= alpha} == rejected
