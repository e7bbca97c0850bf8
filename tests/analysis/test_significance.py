"""The tests of difference against scipy, exact fractions and published worked examples."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gluebench.analysis.significance import holm, mcnemar, randomisation_p, student_t_two_sided, williams

counts = st.integers(min_value=0, max_value=3000)


@given(counts, counts)
@settings(deadline=None)
def test_mcnemar_is_scipys_exact_binomial_test(only_a, only_b):
    if only_a + only_b == 0:
        assert mcnemar(0, 0) == 1.0
        return
    expected = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
    assert mcnemar(only_a, only_b) == pytest.approx(expected, rel=1e-11, abs=1e-250)


@pytest.mark.parametrize("total", [1, 2, 7, 15, 16, 17, 40, 301])
def test_mcnemar_is_exact_in_fractions(total):
    for smaller in range(total // 2 + 1):
        tail = Fraction(sum(math.comb(total, k) for k in range(smaller + 1)), 2**total)
        assert mcnemar(smaller, total - smaller) == pytest.approx(
            float(min(Fraction(1), 2 * tail)), rel=1e-13
        )


def test_mcnemar_at_the_size_of_qqp_and_beyond():
    for only_a, only_b in [(195_000, 195_965), (1000, 1300), (0, 390_965), (1_490_000, 1_510_000)]:
        expected = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
        assert mcnemar(only_a, only_b) == pytest.approx(expected, rel=1e-10, abs=1e-250)


def test_mcnemar_is_symmetric_and_refuses_negative_counts():
    assert mcnemar(3, 11) == mcnemar(11, 3)
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 3)


@pytest.mark.parametrize("df", [1, 2, 3, 7.5, 30, 100, 1376, 200_000])
@pytest.mark.parametrize("t", [0.0, 1e-4, 0.03, 0.5, 1.0, 1.96, 4.0, 12.0, 40.0])
def test_student_t_tail_is_scipys(t, df):
    expected = 2 * stats.t.sf(t, df)
    assert student_t_two_sided(t, df) == pytest.approx(expected, rel=1e-10, abs=1e-250)
    assert student_t_two_sided(-t, df) == student_t_two_sided(t, df)


def test_student_t_tail_at_the_edges():
    assert student_t_two_sided(math.inf, 5) == 0.0
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_t_two_sided(1.0, 0)


def test_williams_gives_steigers_worked_example():
    """Steiger 1980, the example of masculinity, femininity and verbal ability: T2 = -.89, n.s.

    The manual of R's psych package (r.test) prints the same case as t = -.89, p < .37.
    """
    result = williams(0.4, 0.5, a_b=0.1, n=103)
    assert result.t == pytest.approx(-0.89, abs=0.005)
    assert result.df == 100
    assert result.p == pytest.approx(0.375, abs=0.001)


def williams_by_matrices(r_a, r_b, r_ab, n):
    """The same test from the determinant of the correlation matrix and scipy's t distribution."""
    matrix = np.array([[1, r_a, r_b], [r_a, 1, r_ab], [r_b, r_ab, 1]])
    mean = (r_a + r_b) / 2
    noise = 2 * (n - 1) / (n - 3) * np.linalg.det(matrix) + mean**2 * (1 - r_ab) ** 3
    t = (r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / noise)
    return t, 2 * stats.t.sf(abs(t), n - 3)


@given(st.integers(0, 2**32 - 1), st.integers(5, 3000))
@settings(deadline=None, max_examples=50)
def test_williams_against_a_formula_by_matrices(seed, n):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((6, 3)) @ rng.standard_normal((3, 3))
    r = np.corrcoef(columns.T)
    t, p = williams_by_matrices(r[0, 1], r[0, 2], r[1, 2], n)
    result = williams(r[0, 1], r[0, 2], a_b=r[1, 2], n=n)
    assert result.t == pytest.approx(t, rel=1e-6)
    assert result.p == pytest.approx(p, rel=1e-5, abs=1e-12)


def test_williams_without_noise_or_difference():
    assert williams(0.7, 0.7, a_b=1.0, n=50).p == 1.0
    assert williams(1.0, -1.0, a_b=-1.0, n=50).p == 0.0
    with pytest.raises(ValueError, match="at least 4"):
        williams(0.1, 0.2, a_b=0.3, n=3)


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


def test_randomisation_p_is_never_zero():
    assert randomisation_p(0, 999) == pytest.approx(0.001)
    assert randomisation_p(999, 999) == 1.0
    with pytest.raises(ValueError, match="extreme"):
        randomisation_p(5, 4)
