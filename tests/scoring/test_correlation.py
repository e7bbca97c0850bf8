"""Correlations against exact arithmetic, at every offset and scale that floats have."""

from __future__ import annotations

import math
import sys
from array import array

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from gluebench.scoring.metrics.numbers import pearson_of, ranks, spearman_of, standardized
from gluebench.submission import Column

ACCURACY = 2e-15
"""What the module promises for Pearson's r."""
LARGEST = sys.float_info.max


def constant(values) -> bool:
    """Whether the metrics take the column as constant."""
    return Column((), array("d", values)).constant


finite = st.floats(allow_nan=False, allow_infinity=False)
plain = st.floats(-10, 10)
"""Spread about 1, before an offset or a scale."""


def exact_centered(values):
    with mpmath.workdps(400):
        numbers = [mpmath.mpf(value) for value in values]
        mean = mpmath.fsum(numbers) / len(numbers)
        return [number - mean for number in numbers]


def exact_pearson(first, second):
    """Pearson's r of the floats as they are, with 400 digits."""
    with mpmath.workdps(400):
        x, y = exact_centered(first), exact_centered(second)
        spread = mpmath.fsum(v * v for v in x) * mpmath.fsum(v * v for v in y)
        if min(first) == max(first) or min(second) == max(second):
            return mpmath.mpf(0)
        return mpmath.fsum(a * b for a, b in zip(x, y, strict=True)) / mpmath.sqrt(spread)


def assert_exact(first, second):
    """Both correlations, of the values and of their ranks."""
    assert abs(pearson_of(first, second) - exact_pearson(first, second)) <= ACCURACY
    mid_ranks = [stats.rankdata(column).tolist() for column in (first, second)]
    assert abs(spearman_of(first, second) - exact_pearson(*mid_ranks)) <= ACCURACY


@st.composite
def two_columns(draw, values):
    n = draw(st.integers(1, 30))
    return [draw(st.lists(values, min_size=n, max_size=n)) for _ in range(2)]


@st.composite
def related_columns(draw):
    """The second column is the first, half as large, plus a part that is from 0 to 1 times as large."""
    first, other = draw(two_columns(plain))
    share = draw(st.sampled_from([0.0, 1e-12, 1e-6, 0.1, 1.0]))
    return first, [0.5 * a + share * b for a, b in zip(first, other, strict=True)]


# --- regressions ---


def test_predictions_of_1e308_do_not_overflow():
    assert pearson_of([1.0, 2.0, 3.0], [1e308, 1e308, 1e308]) == 0.0
    assert_exact([1.0, 2.0, 3.0, 4.0], [1e308, 1e308, -1e308, 1.7e308])
    assert pearson_of([LARGEST, -LARGEST] * 50, [1.0, 0.0] * 50) == 1.0


@pytest.mark.parametrize("offset", [1e12, 1e14, 1e15, -1e15, 4e15])
def test_an_offset_leaves_a_correlation_of_one(offset):
    column = [float(value) for value in range(40)]
    assert pearson_of(column, [offset + value for value in column]) == 1.0
    assert pearson_of([offset + value for value in column], [-value for value in column]) == -1.0


def test_values_around_1e16_have_the_correlation_of_their_floats():
    rng = np.random.default_rng(0)
    gold = rng.uniform(0, 5, 300)
    predicted = (1e16 + (gold + rng.normal(size=300)) * 3).tolist()
    assert len(set(predicted)) > 5
    assert pearson_of(gold.tolist(), predicted) > 0.5
    assert_exact(gold.tolist(), predicted)


def test_a_column_that_differs_in_its_last_bit_is_not_constant():
    nearly = [0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2]
    assert not constant(nearly)
    assert pearson_of([0.0, 1.0, 0.0, 1.0], nearly) == 1.0


def test_subnormal_numbers_do_not_vanish():
    tiny = [0.0, 5e-324, 1e-323, 2e-323]
    assert pearson_of([0.0, 1.0, 2.0, 4.0], tiny) == 1.0
    assert_exact([3.0, 1.0, 2.0, 4.0], tiny)


# --- conventions ---


def test_single_rows_and_constant_columns_give_zero():
    assert pearson_of([1e308], [3.0]) == spearman_of([1e308], [3.0]) == 0.0
    assert pearson_of([], []) == spearman_of([], []) == 0.0
    assert pearson_of([0.1] * 10, list(range(10))) == spearman_of(list(range(10)), [0.1] * 10) == 0.0
    assert constant([0.1] * 7)
    assert constant([-0.0, 0.0])
    assert constant([])
    assert not constant([0.0, 5e-324])


def test_ties_share_their_mean_rank():
    assert ranks([3.0, 1.0, 3.0, -0.0, 0.0]) == [4.5, 3.0, 4.5, 1.5, 1.5]


# --- agreement with exact arithmetic ---


@given(two_columns(finite))
@settings(deadline=None)
def test_any_finite_columns(columns):
    assert_exact(*columns)


@given(related_columns(), st.floats(0, 15), st.sampled_from([-1, 1]))
@settings(deadline=None)
def test_offsets_to_1e15(columns, power, sign):
    first, second = columns
    assert_exact(first, [value + sign * 10**power for value in second])


@given(related_columns(), st.floats(-308, 307), st.floats(-308, 307))
@settings(deadline=None)
def test_scales_from_1e_minus_308_to_1e308(columns, power, other):
    first, second = columns
    assert_exact([value * 10**power for value in first], [value * 10**other for value in second])


@given(two_columns(st.sampled_from([0.0, 1.0, 1.0 + sys.float_info.epsilon, 1e16, -1e16, LARGEST, 5e-324])))
@settings(deadline=None)
def test_columns_with_ties_are_exact(columns):
    assert_exact(*columns)


@pytest.mark.parametrize("n", [1379, 5000])
def test_long_columns_with_an_outlier(n):
    rng = np.random.default_rng(n)
    gold = rng.normal(size=n)
    predicted = 1e9 + gold + rng.normal(size=n)
    predicted[0] = 1e14
    assert_exact(gold.tolist(), predicted.tolist())


# --- invariance ---


@given(finite, finite, finite, finite)
@settings(deadline=None)
def test_two_rows_are_exactly_plus_or_minus_one(a, b, c, d):
    expected = float((a > b) - (a < b)) * ((c > d) - (c < d))
    assert pearson_of([a, b], [c, d]) == expected
    assert spearman_of([a, b], [c, d]) == expected


@given(st.lists(finite, min_size=2, max_size=30))
@settings(deadline=None)
def test_a_column_correlates_exactly_with_itself(column):
    expected = 0.0 if constant(column) else 1.0
    negative = [-value for value in column]
    assert pearson_of(column, column) == spearman_of(column, column) == expected
    assert pearson_of(column, negative) == spearman_of(column, negative) == -expected


@given(two_columns(finite), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_the_rows_changes_no_bit(columns, rng):
    first, second = columns
    rows = list(zip(first, second, strict=True))
    rng.shuffle(rows)
    shuffled = [list(column) for column in zip(*rows, strict=True)]
    assert pearson_of(*shuffled) == pearson_of(first, second)
    assert spearman_of(*shuffled) == spearman_of(first, second)
    assert pearson_of(second, first) == pearson_of(first, second)


@given(two_columns(finite), st.integers(-600, 600))
@settings(deadline=None)
def test_a_power_of_two_changes_no_bit(columns, power):
    first, second = columns
    scaled = [value * 2.0**power for value in second]
    assume(all(math.isfinite(value) for value in scaled))
    assume([value / 2.0**power for value in scaled] == second)  # nothing rounded near zero
    assert pearson_of(first, scaled) == pearson_of(first, second)
    assert standardized(scaled) == standardized(second)


@given(two_columns(st.integers(-1000, 1000).map(float)), st.integers(0, 52))
@settings(deadline=None)
def test_an_exact_offset_changes_nothing_beyond_rounding(columns, power):
    first, second = columns
    moved = [value + 2.0**power for value in second]
    assert pearson_of(first, moved) == pytest.approx(pearson_of(first, second), abs=ACCURACY)
    assert spearman_of(first, moved) == spearman_of(first, second)


# --- standardized columns ---


def assert_standardized(column):
    found = standardized(column)
    assert math.fsum(found) == pytest.approx(0, abs=1e-15 * len(column))
    assert math.fsum(value * value for value in found) / len(found) == pytest.approx(1, abs=1e-15)
    with mpmath.workdps(400):
        expected = exact_centered(column)
        root_mean_square = mpmath.sqrt(mpmath.fsum(v * v for v in expected) / len(expected))
        squares = [(a - b / root_mean_square) ** 2 for a, b in zip(found, expected, strict=True)]
        assert mpmath.sqrt(mpmath.fsum(squares) / len(squares)) < 1e-15


@given(st.lists(finite, min_size=2, max_size=30), st.sampled_from([0.0, 1e15]))
@settings(deadline=None)
def test_standardized_agrees_with_exact_arithmetic(column, offset):
    column = [value + offset for value in column]
    if constant(column):
        assert standardized(column) == [0.0] * len(column)
    else:
        assert_standardized(column)


@pytest.mark.parametrize("bulk", [0.1, 3.3, 1e12 + 0.1])
def test_one_outlier_does_not_shift_a_standardized_column(bulk):
    assert_standardized([bulk] * 2_000 + [bulk + 1.3])


def test_standardized_constants_single_rows_and_no_rows_are_zero():
    assert standardized([]) == []
    assert standardized([1e308]) == [0.0]
    assert standardized([0.1] * 7) == [0.0] * 7


@given(two_columns(finite))
@settings(deadline=None)
def test_the_mean_product_of_standardized_columns_is_pearsons_r(columns):
    first, second = map(standardized, columns)
    mean_product = math.fsum(a * b for a, b in zip(first, second, strict=True)) / len(first)
    assert mean_product == pytest.approx(pearson_of(*columns), abs=ACCURACY)
