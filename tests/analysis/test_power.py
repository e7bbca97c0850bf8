"""Power of a paired comparison: against a value worked by hand, and against simulated test sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.analysis.lint.labels import examples_needed, smallest_difference
from gluebench.scoring.inference import mcnemar


def test_a_value_worked_by_hand() -> None:
    """d = 0.2, x = 0.1: (1.959964 * 0.447214 + 0.841621 * 0.435890)^2 / 0.01 = 1.243375^2 / 0.01 = 154.6."""
    assert examples_needed(0.1, 0.2) == 155


@given(st.integers(30, 500_000), st.floats(0.01, 1.0))
def test_the_two_figures_are_each_others_inverse(examples: int, disagreement: float) -> None:
    difference = smallest_difference(examples, disagreement)
    if difference is None:
        # even the largest possible difference needs more rows
        assert examples_needed(disagreement, disagreement) >= examples
    else:
        assert abs(examples_needed(difference, disagreement) - examples) <= 1


@given(st.floats(0.001, 0.2), st.floats(0.2, 1.0))
def test_more_disagreement_and_a_smaller_difference_need_more_rows(
    difference: float, disagreement: float
) -> None:
    needed = examples_needed(difference, disagreement)
    assert examples_needed(difference / 2, disagreement) > needed
    assert examples_needed(difference, difference) <= needed


@pytest.mark.parametrize(("difference", "disagreement"), [(0, 0.1), (0.2, 0.1), (0.1, 1.5), (-0.1, 0.2)])
def test_what_cannot_be_is_refused(difference: float, disagreement: float) -> None:
    with pytest.raises(ValueError, match="expected 0 <"):
        examples_needed(difference, disagreement)


def simulated(examples: int, difference: float, disagreement: float, *, exact: bool) -> float:
    """Share of 3,000 drawn test sets on which McNemar's test tells the two systems apart at 5 %."""
    rng = np.random.default_rng(7)
    wins, losses = (disagreement + difference) / 2, (disagreement - difference) / 2
    drawn = rng.multinomial(examples, [wins, losses, 1 - disagreement], size=3000)[:, :2]
    if exact:
        return float(np.mean([mcnemar(int(a), int(b)) < 0.05 for a, b in drawn]))
    a, b = drawn.T.astype(float)
    return float(np.mean((a - b) ** 2 > 1.959964**2 * (a + b)))


@pytest.mark.parametrize(
    ("difference", "disagreement"), [(0.1, 0.2), (0.05, 0.2), (0.03, 0.1), (0.02, 0.05), (0.01, 0.1)]
)
def test_so_many_rows_have_the_power_that_is_said(difference: float, disagreement: float) -> None:
    examples = examples_needed(difference, disagreement)
    assert simulated(examples, difference, disagreement, exact=False) == pytest.approx(0.8, abs=0.035)


@pytest.mark.parametrize("examples", [300, 1000, 5000])
@pytest.mark.parametrize("disagreement", [0.1, 0.2])
def test_the_exact_test_of_compare_has_nearly_that_power(examples: int, disagreement: float) -> None:
    difference = smallest_difference(examples, disagreement)
    assert difference is not None
    assert 0.75 < simulated(examples, difference, disagreement, exact=True) < 0.84


def test_a_tiny_test_set_shows_nothing_where_systems_hardly_disagree() -> None:
    assert smallest_difference(50, 0.05) is None
    assert smallest_difference(50, 1.0) == pytest.approx(0.39, abs=0.02)
    assert math.isclose(smallest_difference(10**9, 0.1) or 0, 2.8016 * math.sqrt(0.1 / 1e9), rel_tol=1e-3)


@pytest.mark.parametrize(
    ("examples", "expected"),
    [(1063, 2.71), (1821, 2.07), (1725, 2.13), (390_965, 0.14), (9796, 0.90), (5463, 1.20), (3000, 1.62),
     (146, 7.27), (1104, 2.66)],
)  # fmt: skip
def test_what_glues_test_sets_can_show(examples: int, expected: float) -> None:
    """Worked out by another program when the project was planned, for a disagreement of one in ten."""
    assert 100 * (smallest_difference(examples, 0.1) or 0) == pytest.approx(expected, abs=0.0051)


def test_the_general_figure_is_that_of_an_accuracy() -> None:
    """A standard error of sqrt(d / n), which an accuracy's difference has when it is small."""
    error = (0.1 / 10_000) ** 0.5
    assert 2.8016 * error == pytest.approx(smallest_difference(10_000, 0.1), rel=0.01)
    assert smallest_difference(1000, 0.0) is None
