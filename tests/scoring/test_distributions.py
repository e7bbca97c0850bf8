"""Student's t against scipy and closed forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gluebench.scoring.intervals import student_quantile, student_t_two_sided


def test_student_t_tail_is_scipys():
    for df in (1, 2, 3, 7.5, 30, 100, 1376, 200_000):
        for t in (0.0, 1e-4, 0.03, 0.5, 1.0, 1.96, 4.0, 12.0, 40.0):
            expected = 2 * stats.t.sf(t, df)
            assert student_t_two_sided(t, df) == pytest.approx(expected, rel=1e-10, abs=1e-250), (t, df)
            assert student_t_two_sided(-t, df) == student_t_two_sided(t, df)


def test_student_quantiles_are_scipys():
    for df in (1, 1.25, 2, 2.7, 5, 39.9, 1376, 99_999.5, 100_000, 3e7, 1e12):
        for tail in (1e-90, 1e-30, 1e-9, 1e-4, 0.005, 0.025, 0.2, 0.45, 0.499999):
            quantile = student_quantile(tail, df)
            assert quantile == pytest.approx(stats.t.ppf(tail, df), rel=1e-9), (tail, df)
            if tail > 1e-6:
                assert student_quantile(1 - tail, df) == pytest.approx(-quantile, rel=1e-9), (tail, df)


@given(st.floats(1e-12, 1 - 1e-12), st.floats(1, 1e6))
@settings(deadline=None)
def test_student_quantiles_invert_the_tail(probability, df):
    t = student_quantile(probability, df)
    assert (t > 0) == (probability > 0.5)
    two_sided = 2 * min(probability, 1 - probability)
    assert student_t_two_sided(t, df) == pytest.approx(two_sided, rel=1e-8)


def test_student_quantiles_of_the_cauchy_distribution_and_of_two_degrees_of_freedom():
    for probability in (0.001, 0.1, 0.3, 0.75, 0.9999):
        assert student_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)))
        odds = 4 * probability * (1 - probability)
        assert student_quantile(probability, 2) == pytest.approx((2 * probability - 1) * math.sqrt(2 / odds))


def test_student_quantiles_at_the_edges():
    assert student_quantile(0.5, 3) == 0.0
    assert student_quantile(0.5 + 1e-15, 3) == pytest.approx(0, abs=1e-14)
    for probability in (0, 1, -0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="the probability must be"):
            student_quantile(probability, 3)
    for df in (0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="degrees of freedom"):
            student_quantile(0.9, df)


def test_student_t_tail_at_the_edges():
    assert student_t_two_sided(math.inf, 5) == 0.0
    assert student_t_two_sided(-1e200, 5) == 0.0, "the square overflows"
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_t_two_sided(1.0, 0)
