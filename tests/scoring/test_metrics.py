"""The plain functions against scipy and scikit-learn, by hand, and at their degenerate ends."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk  # noqa: TID251

from gluebench.scoring import accuracy, f1, matthews_correlation, pearson, r_k, spearman
from gluebench.scoring.counts import COUNT_METRICS, confusion
from gluebench.submission import Column

EXACT = 1e-12
LABELS = ("entailment", "neutral", "contradiction")


def columns(labels, most: int = 60):
    """Two columns of one length, often degenerate because they are short."""
    return st.lists(
        st.tuples(st.sampled_from(labels), st.sampled_from(labels)), min_size=1, max_size=most
    ).map(lambda pairs: ([gold for gold, _ in pairs], [predicted for _, predicted in pairs]))


def quietly(function, *arguments, **options) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*arguments, **options))


@given(columns("01"))
def test_binary_metrics_are_those_of_scikit_learn(pair) -> None:
    gold, predicted = pair
    assert accuracy(gold, predicted) == pytest.approx(sk.accuracy_score(gold, predicted), abs=EXACT)
    expected = quietly(sk.f1_score, gold, predicted, labels=["1"], average="macro", zero_division=0.0)
    if len({*gold, *predicted}) == 2 or "1" in gold:
        assert f1(gold, predicted, positive="1") == pytest.approx(expected, abs=EXACT)
    expected = quietly(sk.matthews_corrcoef, gold, predicted)
    assert matthews_correlation(gold, predicted) == pytest.approx(expected, abs=EXACT)
    assert r_k(gold, predicted) == pytest.approx(expected, abs=EXACT)


@given(st.integers(2, 20).flatmap(lambda classes: columns(range(classes))))
def test_r_k_is_scikit_learns_matthews_of_any_number_of_labels(pair) -> None:
    gold, predicted = pair
    assert r_k(gold, predicted) == pytest.approx(quietly(sk.matthews_corrcoef, gold, predicted), abs=EXACT)


numbers = st.one_of(st.sampled_from([0.0, 2.5, 5.0]), st.floats(-5, 5).map(lambda value: round(value, 3)))


@settings(max_examples=300)
@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=50))
def test_correlations_are_those_of_scipy_with_ties_and_without(pairs) -> None:
    gold, predicted = (list(column) for column in zip(*pairs, strict=True))
    if len(set(gold)) == 1 or len(set(predicted)) == 1:
        assert pearson(gold, predicted) == spearman(gold, predicted) == 0.0
        return
    assert pearson(gold, predicted) == pytest.approx(
        quietly(lambda: stats.pearsonr(gold, predicted)[0]), abs=EXACT
    )
    assert spearman(gold, predicted) == pytest.approx(
        quietly(lambda: stats.spearmanr(gold, predicted)[0]), abs=EXACT
    )


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1.0, -3.0])
def test_a_correlation_does_not_depend_on_scale_nor_offset(scale: float, offset: float) -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=200)
    predicted = gold + rng.normal(size=200)
    expected = stats.pearsonr(gold, predicted)[0]
    assert pearson(gold * scale, (predicted + offset) * scale) == pytest.approx(expected, abs=EXACT)
    assert spearman(gold * scale, predicted) == pytest.approx(stats.spearmanr(gold, predicted)[0], abs=EXACT)


def test_a_constant_column_is_constant_in_spite_of_rounding() -> None:
    assert pearson([0.1] * 10, list(range(10))) == 0.0
    assert pearson([1, 2, 3], [0.1 + 0.2, 0.3, 0.1 + 0.2]) == 0.0


def test_values_worked_by_hand() -> None:
    gold = list("1111000000")
    predicted = list("1110100000")  # 3 true positives, 1 false negative, 1 false positive, 5 true negatives
    assert accuracy(gold, predicted) == 8 / 10
    assert f1(gold, predicted, positive="1") == 6 / 8
    assert f1(gold, predicted, positive="0") == 10 / 12
    assert matthews_correlation(gold, predicted) == pytest.approx((3 * 5 - 1 * 1) / math.sqrt(4 * 4 * 6 * 6))
    # Gorodkin's R_K on [[2, 1, 0], [0, 2, 0], [0, 0, 1]]: 5 of 6 right, margins 3 2 1 and 2 3 1
    gold, predicted = list("aaabbc"), list("aabbbc")
    assert r_k(gold, predicted) == pytest.approx((5 * 6 - (6 + 6 + 1)) / math.sqrt((36 - 14) * (36 - 14)))
    assert pearson([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert spearman([1, 2, 3, 4], [10, 1000, 100, 10000]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("1111", "1111", 0.0),  # one class, all right: scikit-learn says 0, others 1
        ("1111", "0000", 0.0),
        ("1010", "1111", 0.0),
        ("1111", "1010", 0.0),
        ("1010", "1010", 1.0),
        ("1010", "0101", -1.0),
    ],
)
def test_degenerate_correlations_of_labels_are_zero(gold: str, predicted: str, expected: float) -> None:
    assert matthews_correlation(list(gold), list(predicted)) == expected == r_k(list(gold), list(predicted))


def test_f1_without_positives_is_zero_and_a_mistyped_positive_is_not() -> None:
    assert f1(list("0000"), list("0000"), positive="1") == 0.0
    assert f1(list("0001"), list("0010"), positive="1") == 0.0
    with pytest.raises(ValueError, match="positive='yes' is none of the labels that occur: '0', '1'"):
        f1(list("0011"), list("0011"), positive="yes")


@pytest.mark.parametrize("function", [accuracy, matthews_correlation, r_k, pearson, spearman])
def test_what_cannot_be_scored_is_refused_with_the_reason(function) -> None:
    with pytest.raises(ValueError, match="gold has 2 values and predictions 3"):
        function([1, 0], [1, 0, 1])
    with pytest.raises(ValueError, match="no examples"):
        function([], [])
    with pytest.raises(ValueError, match="predictions hold nan at position 1"):
        function([1, 0], [1, float("nan")])
    with pytest.raises(ValueError, match="gold hold None at position 0"):
        function([None, 0], [1, 0])


def test_words_against_numbers_are_not_silently_all_wrong() -> None:
    with pytest.raises(ValueError, match="mix label words and numbers"):
        accuracy(["0", "1"], [0, 1])
    with pytest.raises(ValueError, match="hold inf at position 0"):
        pearson([float("inf"), 1], [1, 2])
    with pytest.raises(ValueError, match="takes two labels"):
        matthews_correlation(list("abc"), list("abc"))


def test_arrays_series_and_columns_are_taken() -> None:
    pd = pytest.importorskip("pandas")
    gold, predicted = [1, 0, 1, 1], [1, 1, 1, 0]
    for kind in (list, tuple, np.array, pd.Series, iter):
        assert accuracy(kind(gold), kind(predicted)) == 0.5
    words = Column(("a", "b"), bytes(gold)), Column(("a", "b"), bytes(predicted))
    assert accuracy(*words) == 0.5
    assert f1(*words, positive="b") == f1(np.array(gold), np.array(predicted), positive=1)


@given(
    st.integers(2, 20).flatmap(
        lambda classes: st.tuples(
            st.just(classes),
            st.lists(st.tuples(*[st.integers(0, classes - 1)] * 2), min_size=1, max_size=300),
        )
    )
)
def test_counting_at_the_speed_of_memory_is_counting(case) -> None:
    classes, pairs = case
    expected = [[pairs.count((gold, predicted)) for predicted in range(classes)] for gold in range(classes)]
    gold, predicted = (bytes(column) for column in zip(*pairs, strict=True))
    assert confusion(gold, predicted, classes=classes) == expected


def test_a_formula_gives_the_same_on_ints_and_on_arrays() -> None:
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 4, size=(3, 3, 200)) * rng.integers(0, 2, size=(3, 3, 200))
    tables[..., 0] = 0  # no example at all
    for metric in COUNT_METRICS.values():
        together = metric.of(tables.astype(float), 1)
        alone = [metric.of(tables[..., at].tolist(), 1) for at in range(tables.shape[2])]
        np.testing.assert_allclose(together, alone, atol=1e-15)


@pytest.mark.parametrize("name", sorted(COUNT_METRICS))
def test_counts_too_large_for_an_array_are_exact(name: str) -> None:
    table = [[10**12, 3 * 10**11], [2 * 10**11, 5 * 10**11]]
    scaled = [[cell // 10**9 for cell in row] for row in table]
    assert COUNT_METRICS[name].of(table, 1) == pytest.approx(COUNT_METRICS[name].of(scaled, 1), rel=1e-15)
