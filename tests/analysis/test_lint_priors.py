"""The test of prior shift, against scipy."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from gluebench.analysis.lint.labels import chi_squared_tail, shift

COUNTS = st.lists(st.tuples(st.integers(20, 5000), st.integers(20, 5000)), min_size=2, max_size=8)


@given(st.floats(1e-6, 2000), st.integers(1, 120))
def test_the_tail_is_scipys(value: float, df: int) -> None:
    expected = stats.chi2.sf(value, df)
    assert chi_squared_tail(value, df) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@given(COUNTS)
def test_statistic_and_p_are_scipys(counts: list[tuple[int, int]]) -> None:
    one, other = zip(*counts, strict=True)
    found = shift(one, other)
    expected = stats.chi2_contingency([one, other], correction=False)
    assume(expected.expected_freq.min() >= 5)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("table", [[[8, 2], [1, 5]], [[40, 3], [20, 6]], [[3, 0], [0, 3]], [[7, 3], [7, 3]]])
def test_few_labels_are_tested_by_draws_as_by_fishers_test(table: list[list[int]]) -> None:
    """Two labels with fixed margins have one free count, so the exact p-value can be summed by hand."""
    (a, b), (c, d) = table
    law = stats.hypergeom(a + b + c + d, a + c, a + b)
    middle = (a + b) * (a + c) / (a + b + c + d)
    exact = sum(law.pmf(k) for k in range(a + b + 1) if abs(k - middle) >= abs(a - middle) - 1e-9)
    assert shift(*table).p == pytest.approx(exact, abs=0.015)


def test_labels_that_neither_has_do_not_count() -> None:
    assert shift([30, 0, 70], [50, 0, 50]) == shift([30, 70], [50, 50])
    assert shift([30, 70], [50, 50]).largest == pytest.approx(0.2)
    assert shift([30, 0], [50, 0]).p == 1
    with pytest.raises(ValueError, match="without labels"):
        shift([0, 0], [1, 2])
