"""Fleiss' kappa against published examples and statsmodels; other tests of difference against it too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.analysis.human.score import fleiss_kappa, label_counts, weighted_kappas
from gluebench.scoring.intervals import holm

FOURTEEN = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def test_a_published_worked_example() -> None:
    """Fourteen raters, ten subjects, five categories: .210, the example of statsmodels' own tests."""
    assert fleiss_kappa(FOURTEEN) == pytest.approx(0.210, abs=0.0005)


def test_worked_by_hand() -> None:
    """Two raters, three items: they agree on two, and give each label three times: (2/3 - 1/2) / (1/2)."""
    assert fleiss_kappa([[2, 0], [0, 2], [1, 1]]) == pytest.approx(1 / 3)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(2, 9), st.integers(2, 6))
@settings(deadline=None, max_examples=80)
def test_it_is_statsmodels_kappa(seed: int, items: int, raters: int, classes: int) -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, (raters, items))
    counts = label_counts(labels, classes=classes)
    assert counts.sum() == raters * items
    if (counts.sum(axis=0) > 0).sum() > 1:
        assert fleiss_kappa(counts) == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-10)


def test_a_weight_is_an_item_that_often() -> None:
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, (20, 10))
    repeated = [fleiss_kappa(np.repeat(FOURTEEN, row, axis=0)) for row in times]
    assert weighted_kappas(FOURTEEN, times) == pytest.approx(repeated, abs=1e-12)


def test_one_label_throughout_is_agreement() -> None:
    assert fleiss_kappa([[3, 0], [3, 0]]) == 1.0


@pytest.mark.parametrize("counts", [[[2, 1], [1, 1]], [[1, 0], [0, 1]], [], [2, 1], [[3, -1], [1, 1]]])
def test_what_is_no_table_of_agreement_is_refused(counts: list[object]) -> None:
    with pytest.raises(ValueError, match=r"expected a table|every item needs"):
        fleiss_kappa(counts)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=15))
@settings(deadline=None, max_examples=25)
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(expected, abs=1e-12)
