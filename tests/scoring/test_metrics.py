"""The plain functions against scipy and scikit-learn, by hand, and at their degenerate ends."""

from __future__ import annotations

import math
import warnings
from array import array
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd  # noqa: TID251
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scoring.columns import ACCURACY, F1, MCC, labels
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric, UnknownNameError
from gluebench.scoring import accuracy, f1, matthews_correlation, pearson, r_k, spearman
from gluebench.scoring.influence import influence_of
from gluebench.scoring.metrics import METRICS, is_proportion, measure, metric_function, point
from gluebench.scoring.metrics.counts import COUNT_METRICS
from gluebench.scoring.pairs import Pairs, join_by_index
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


@settings(max_examples=100)
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
    with pytest.raises(ValueError, match="predictions: nan at position 1"):
        function([1, 0], [1, float("nan")])
    with pytest.raises(ValueError, match="gold: None at position 0"):
        function([None, 0], [1, 0])


def test_words_against_numbers_are_not_silently_all_wrong() -> None:
    with pytest.raises(ValueError, match="mix label words and numbers"):
        accuracy(["0", "1"], [0, 1])
    with pytest.raises(ValueError, match="gold: inf at position 0"):
        pearson([float("inf"), 1], [1, 2])
    with pytest.raises(ValueError, match="takes two labels"):
        matthews_correlation(list("abc"), list("abc"))


def test_arrays_are_taken_as_plain_numbers() -> None:
    gold, predicted = [1, 2, 3, 4], [1, 3, 2, 4]
    assert pearson(np.array(gold), predicted) == pytest.approx(0.8)
    assert accuracy(np.array(gold), predicted) == 0.5


def test_arrays_series_and_columns_are_taken() -> None:
    gold, predicted = [1, 0, 1, 1], [1, 1, 1, 0]
    for kind in (list, tuple, np.array, pd.Series, iter):
        assert accuracy(kind(gold), kind(predicted)) == 0.5
    words = Column(("a", "b"), bytes(gold)), Column(("a", "b"), bytes(predicted))
    assert accuracy(*words) == 0.5
    assert f1(*words, positive="b") == f1(np.array(gold), np.array(predicted), positive=1)


def test_arrays_and_pairs_within_answers_are_taken() -> None:
    arcs = [(2, "nsubj"), (0, "root")]
    for kind in (list, tuple, pd.Series):
        assert measure("uas", kind([["2:nsubj", "0:root"]]), kind([arcs])) == 1
        assert measure("las", [np.array(["2:obj", "0:root"])], kind([arcs])) == 0.5
    shares = [np.array([0.5, 0.5]), np.array([0.25, 0.75])]
    assert measure("neg_manhattan", shares, [[1, 0], np.float32([0.25, 0.75])]) == -0.5
    assert measure("token_f1", [np.array(["a cat", "blue"])], ["blue"]) == 1


@pytest.mark.parametrize(
    ("name", "gold", "predicted"),
    [
        ("map", ["d1", "d1"], ["d1"]),
        ("ndcg", [("d1", 2), ("d1", 1)], ["d1"]),
        ("uas", ["2:nsubj"], ["nsubj"]),
        ("uas", [(-1, "nsubj")], ["0:nsubj"]),
    ],
)
def test_answers_that_no_file_has_are_refused(name: str, gold: list[Any], predicted: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"at position 0 .*; expected "):
        measure(name, [gold], [predicted])


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
    words = tuple(map(str, range(classes)))
    gold, predicted = (Column(words, bytes(column)) for column in zip(*pairs, strict=True))
    assert Pairs(gold, predicted).table == expected


def test_a_formula_gives_the_same_on_ints_and_on_arrays() -> None:
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 4, size=(3, 3, 200)) * rng.integers(0, 2, size=(3, 3, 200))
    tables[..., 0] = 0  # no example at all
    for metric in COUNT_METRICS:
        together = metric.of(tables.astype(float), 1)
        alone = [metric.of(tables[..., at].tolist(), 1) for at in range(tables.shape[2])]
        np.testing.assert_allclose(together, alone, atol=1e-15)


@pytest.mark.parametrize("name", [metric.name for metric in COUNT_METRICS])
def test_counts_too_large_for_an_array_are_exact(name: str) -> None:
    table = [[10**12, 3 * 10**11], [2 * 10**11, 5 * 10**11]]
    scaled = [[cell // 10**9 for cell in row] for row in table]
    assert METRICS[name].of(table, 1) == pytest.approx(METRICS[name].of(scaled, 1), rel=1e-15)


class TestMetricTable:
    """Metrics by their name in a manifest."""

    LABELS = Column(("no", "yes"), bytes([0, 1, 1, 0]))

    @pytest.fixture
    def offered(self, monkeypatch):
        """Metrics as packages offer them; the names of the groups that were looked up."""

        class Offered(dict):
            names = property(lambda self: set(self))

        functions = {
            "last": lambda gold, predicted: float(gold[-1] == predicted[-1]) + len(gold),
            "broken": lambda gold, predicted: math.inf,
        }
        points = Offered((name, SimpleNamespace(load=lambda of=of: of)) for name, of in functions.items())
        groups = []
        monkeypatch.setattr(metadata, "entry_points", lambda group: (groups.append(group), points)[1])
        return groups

    def test_a_name_is_built_in_or_offered(self, offered) -> None:
        assert metric_function("f1") is METRICS["f1"]
        assert offered == []
        function = metric_function("last")
        assert offered == ["gluebench.metrics"]
        assert (function.name, function.bounds) == ("last", (-math.inf, math.inf))
        with pytest.raises(UnknownNameError) as caught:
            metric_function("bleu")
        assert str(caught.value).startswith("no metric is called 'bleu'.")
        assert list(caught.value.valid) == [*METRICS, "broken", "last"]
        assert not is_proportion(Metric("last", "last", "last", "F"))
        assert [name for name in METRICS if is_proportion(Metric(name, name, name, "F"))] == ["accuracy"]

    def test_columns_are_measured_by_the_name_of_the_metric(self, offered) -> None:
        gold, predicted = ["no", "yes", "yes"], ["no", "no", "yes"]
        assert measure("f1", gold, predicted, positive="yes") == pytest.approx(2 / 3)
        assert measure("accuracy", gold, predicted) == pytest.approx(2 / 3)
        assert measure("spearman", [1, 2, 3], [10, 20, 15]) == pytest.approx(0.5)
        assert measure("last", gold, predicted) == 4.0
        with pytest.raises(ValueError, match="the metric broken gave inf; expected a finite number"):
            measure("broken", gold, predicted)
        with pytest.raises(ValueError, match="accuracy is not of one label; expected no positive='yes'"):
            measure("accuracy", gold, predicted, positive="yes")
        with pytest.raises(ValueError, match="positive=None is none of the labels that occur: 'no', 'yes'"):
            measure("f1", gold, predicted)

    def test_a_metric_from_elsewhere_takes_words_or_numbers(self, offered) -> None:
        metric = Metric("last", "last", "last", "F")
        assert point(metric, Pairs(self.LABELS, self.LABELS)) == (5.0, None)
        column = Column((), array("d", [1.0, 2.5]))
        assert point(metric, Pairs(column, column)) == (3.0, None)
        with pytest.raises(ValueError, match="broken") as caught:
            point(Metric("b", "broken", "b", "F"), Pairs(column, column))
        assert str(caught.value) == "the metric broken gave inf on F; expected a finite number"

    def test_what_is_not_defined_says_why(self) -> None:
        none, half = Column(("no", "yes"), bytes(4)), self.LABELS
        f1_of = Metric("f1", "f1", "F1", "F", "yes")
        assert point(f1_of, Pairs(none, none)) == (
            0.0, "neither gold nor predictions have the positive label",
        )  # fmt: skip
        assert point(f1_of, Pairs(half, none)) == point(f1_of, Pairs(none, half)) == (0.0, None)
        mcc = Metric("m", "matthews_correlation", "m", "F")
        assert point(mcc, Pairs(half, none)) == (0.0, "the predictions are all the same")
        assert point(mcc, Pairs(none, half)) == (0.0, "the gold labels are all the same")
        assert point(mcc, Pairs(half, Column(("no", "yes"), bytes([0, 1, 0, 1])))) == (0.0, None)
        accuracy_of = Metric("a", "accuracy", "a", "F")
        assert point(accuracy_of, Pairs(none, Column(("no", "yes"), bytes([1] * 4)))) == (0.0, None)
        same, other = (Column((), array("d", values)) for values in ([2.0] * 3, [1.0, 2.0, 4.0]))
        for name in ("pearson", "spearman"):
            metric = Metric(name, name, name, "F")
            assert point(metric, Pairs(other, same)) == (0.0, "the predictions are all the same")
            assert point(metric, Pairs(same, other)) == (0.0, "the gold scores are all the same")
            assert point(metric, Pairs(other, other)) == (pytest.approx(1.0), None)

    def test_messages_in_full(self) -> None:
        for function, arguments, message in (
            (accuracy, ([1, 0], [1]), "gold has 2 values and predictions 1; expected one per example"),
            (accuracy, ([], []), "there are no examples; expected at least one"),
            (accuracy, ([1], [None]),
             "predictions: None at position 0 (counted from 0); expected a label or a number"),
            (accuracy, (["a"], [(1,)]),
             "found tuple (1,) at position 0; expected one label or number for each example"),
            (accuracy, (["a"], [1]),
             "gold and predictions mix label words and numbers; give both in the same form"),
            (pearson, ([1, 2], [1, "x"]),
             "predictions: 'x' at position 1 (counted from 0); expected a finite number"),
            (pearson, ([math.inf, 2], [1, 2]),
             "gold: inf at position 0 (counted from 0); expected a finite number"),
            (matthews_correlation, (list("ab"), list("ac")),
             "matthews_correlation takes two labels, but these occur: 'a', 'b', 'c'; "
             "use r_k for more than two"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"expected|form|takes") as caught:
                function(*arguments)
            assert str(caught.value) == message
        assert f1(["a"], ["a"], positive="b") == 0.0, "a single label may be the negative one"


class TestPairs:
    """Gold and predictions joined, and some of their rows."""

    @pytest.mark.parametrize("classes", [2, 3, 16, 17])
    def test_some_rows_are_counted_like_all(self, classes: int) -> None:
        rng = np.random.default_rng(0)
        words = tuple(map(str, range(classes)))
        gold, predicted = (Column(words, bytes(row)) for row in rng.integers(0, classes, (2, 50)).tolist())
        pairs = Pairs(gold, predicted, tuple(range(50)))
        rows = [3, 3, 9, 40, 0]
        some = pairs.subset(rows)
        assert (len(some), some.groups, some.covered) == (5, (3, 3, 9, 40, 0), None)
        expected = np.zeros((classes, classes), int)
        np.add.at(expected, ([gold.codes[at] for at in rows], [predicted.codes[at] for at in rows]), 1)
        assert pairs.table_of(rows) == some.table == expected.tolist()
        assert Pairs(gold, predicted).subset(rows).groups is None
        assert (pairs.code(None), pairs.code("1")) == (0, 1)

    def test_columns_of_many_labels_and_two_lengths_are_refused(self) -> None:
        words = tuple(map(str, range(19)))
        with pytest.raises(ValueError, match="shorter"):
            _ = Pairs(Column(words, bytes([0, 18])), Column(words, bytes([0]))).table

    def test_gold_of_some_rows_takes_their_predictions(self) -> None:
        predicted = Column(("a", "b"), bytes([0, 1, 1, 0]))
        some = Column(("a", "b"), bytes([1, 1]), indices=array("q", [1, 3]))
        pairs = join_by_index(some, predicted, groups=(4, 4), size=4)
        assert (bytes(pairs.predicted.codes), pairs.groups, pairs.covered) == (bytes([1, 0]), (4, 4), 0.5)
        whole = join_by_index(predicted, predicted, groups=None, size=4)
        assert whole == Pairs(predicted, predicted, None, None)


def test_a_column_that_does_not_vary_has_no_influence() -> None:
    """Nor do the answers of the other systems notice it."""
    gold, constant, varied = [1.0, 2.0, 3.0, 5.0], [2.5] * 4, [1.0, 3.0, 2.0, 2.0]
    for name in ("pearson", "spearman"):
        metric = METRICS[name]
        both = metric.evaluated(metric.prepared([gold]), metric.prepared([constant, varied]))
        alone = metric.evaluated(metric.prepared([gold]), metric.prepared([varied]))
        assert both.values == pytest.approx([0.0, metric.of(gold, varied)], abs=1e-12)
        assert not both.influence[0].any()
        assert both.influence[1] == pytest.approx(alone.influence[0])
        against = metric.evaluated(metric.prepared([constant]), metric.prepared([varied]))
        assert not against.values.any()
        assert not against.influence.any()


def test_influences_of_labels_by_hand() -> None:
    """20 of each gold label, 15 of them right: accuracy .75, F1 .75, and Matthews correlation .5.

    Many copies of them have the influence functions; F1 is 2 tp / (gold + predicted), each half of the
    examples, and the Matthews correlation a mean of products of z-scores, -1 or 1.
    """
    gold, predicted = [0] * 20 + [1] * 20, [0] * 15 + [1] * 5 + [0] * 5 + [1] * 15
    (pairs,) = labels(gold * 1000, predicted * 1000)
    for metric, expected in (
        (ACCURACY, [0.25, -0.75, -0.75, 0.25]),
        (F1, [0.0, -0.75, -0.75, 0.5]),
        (MCC, [0.5, -1.5, -1.5, 0.5]),
    ):
        assert influence_of([metric], pairs).by_kind[0] == pytest.approx(expected, abs=1e-3)
    for metric, undefined in ((MCC, labels([0, 0, 1], [0, 0, 0])), (F1, labels([0] * 3, [0] * 3))):
        assert not influence_of([metric], undefined[0]).by_kind.any()


LABELS_OF_ALL = {
    "macro_f1_all": lambda gold, predicted, words: sk.f1_score(
        gold, predicted, labels=words, average="macro", zero_division=0
    ),
    "macro_f1_all_one": lambda gold, predicted, words: sk.f1_score(
        gold, predicted, labels=words, average="macro", zero_division=1
    ),
    "linear_kappa": lambda gold, predicted, words: sk.cohen_kappa_score(
        gold, predicted, labels=words, weights="linear"
    ),
    "quadratic_kappa": lambda gold, predicted, words: sk.cohen_kappa_score(
        gold, predicted, labels=words, weights="quadratic"
    ),
    "accuracy": lambda gold, predicted, words: sk.accuracy_score(gold, predicted),
}
ORDINAL = (["lo", "mid", "hi", "hi"], ["lo", "hi", "hi", "mid"])


@pytest.mark.parametrize(
    "name", ["accuracy", "f1", "macro_f1", "kappa", "matthews_correlation", "icm", "group_exact_match"]
)
def test_probabilities_are_no_labels(name: str) -> None:
    positive = 1 if name == "f1" else None
    groups = [0, 0, 1, 1] if name == "group_exact_match" else None
    with pytest.raises(ValueError, match=r"predictions: 0.2 at position 0 .*the one with the highest"):
        measure(name, [0, 1, 1, 0], [0.2, 0.9, 0.7, 0.1], positive=positive, groups=groups)
    assert measure("accuracy", [0.5, 1.0], [0.5, 0.5], labels=[0.5, 1.0]) == 0.5


def test_correlations_of_large_integers_are_exact() -> None:
    large = np.array([2**62, 2**62 + 1, 2**62 + 2])
    for name in ("pearson", "spearman", "kendall"):
        assert measure(name, [1, 2, 3], large) == pytest.approx(1)
        assert measure(name, large, [3, 2, 1]) == pytest.approx(-1)


class TestLabelsOfMeasure:
    """`labels` are all labels of the task, in its order."""

    @pytest.mark.parametrize("name", LABELS_OF_ALL)
    def test_values_are_scikit_learns_on_these_labels(self, name: str) -> None:
        rng = np.random.default_rng(0)
        words = ["lo", "mid", "hi", "top", "none"]  # the last one never occurs
        for _ in range(20):
            gold, predicted = (rng.choice(words[:4], 30).tolist() for _ in range(2))
            value = measure(name, gold, predicted, labels=words)
            assert value == pytest.approx(LABELS_OF_ALL[name](gold, predicted, words), abs=1e-12)

    def test_the_order_of_words_is_not_that_of_the_task(self) -> None:
        words = ["lo", "mid", "hi"]
        expected = sk.cohen_kappa_score(*ORDINAL, labels=words, weights="quadratic")
        assert measure("quadratic_kappa", *ORDINAL, labels=words) == pytest.approx(expected)
        with pytest.raises(ValueError, match="needs the order of the labels; give all of them with labels="):
            measure("quadratic_kappa", *ORDINAL)

    @pytest.mark.parametrize("name", ["accuracy", "icm", "group_exact_match"])
    def test_an_unknown_label_is_named(self, name: str) -> None:
        with pytest.raises(ValueError, match="'hi'; expected only the labels 'lo', 'mid'"):
            measure(name, *ORDINAL, labels=["lo", "mid"], groups=[0] * 4)


@pytest.mark.parametrize(
    ("name", "gold", "predicted", "more", "message"),
    [
        ("neg_log_loss", ["a", "b"], [[9, 1], [0.5, 0.5]], {}, "at position 0 .*; expected "),
        ("neg_log_loss", ["a", "b"], [[4, -5], [0.5, 0.5]], {}, "at position 0 .*; expected "),
        ("neg_ece", ["a", "b"], [[1.2, -0.2], [0.5, 0.5]], {}, "at position 0 .*; expected "),
        ("map", [[("d", math.nan)]], [["d"]], {}, "at position 0 .*; expected "),
        ("ndcg", [{"d": math.inf}], [["d"]], {}, "expected ids"),
        ("precision_at", [["d"]], [["d"]], {"positive": 0}, "expected 1, 2, 3 or more"),
        ("precision_at", [["d"]], [["d"]], {"positive": 2.5}, "expected 1, 2, 3 or more"),
        ("neg_log_loss", ["1"], [[5.0, -4.0]], {"labels": ["0", "1"]}, "expected 2 plain decimals"),
        ("neg_brier", ["a", "b"], [[0.9, 0.9], [0, 1]], {}, "expected 2 plain decimals that sum to 1"),
        ("ndcg", [[("a", 3), ("b", -1)]], [["a"]], {}, "gold: .*; expected ids without commas"),
        ("mrr", [["a"]], [["b", "b", "a"]], {}, "predictions: .*; expected ids with blanks"),
        ("span_iou", [[(5, 0)]], [[(5, 0)]], {}, "gold: .*; expected spans as"),
        ("span_iou", [[(0, 5)]], [[(0.7, 5.2)]], {}, "predictions: .*; expected spans as"),
        ("neg_rmse", [1.0], [math.inf], {}, "predictions: inf .*; expected a finite number"),
        ("neg_mae", [1], [2**60 + 1], {}, "1152921504606846977 at position 0 .* expected integers up to 2"),
        ("f1_from", [1.0], [2.0], {"positive": math.nan}, "is not a finite number"),
        ("neg_rmse", [1e308, -1e308], [-1e308, 1e308], {}, "expected numbers up to 1e.150"),
        ("r2", [1e308, -1e308, 0.0], [0.0, 1e308, 1.0], {}, "expected numbers up to 1e.150"),
        ("concordance", [1e308, 0.9e308], [1e308, 0.8e308], {}, "expected numbers up to 1e.150"),
    ],
)
def test_measure_refuses_what_has_no_value(name: str, gold, predicted, more, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(name, gold, predicted, **more)
