"""Precision, recall and F1 of each class: scikit-learn's of labels and sets, a loop's of entities."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring.metrics.test_sequences import strict_entities
from sklearn.metrics import precision_recall_fscore_support  # noqa: TID251 the oracle
from sklearn.preprocessing import MultiLabelBinarizer  # noqa: TID251 the oracle

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import ClassScore, Report, grade

ROWS = 8
WORDS = ("joy", "fear", "anger", "none")
TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
MANIFEST = f"""
[benchmark]
name = "classes"
title = "Classes"

[tasks.Topic]
labels = {{ joy = "1", fear = "2", anger = "3", none = "4" }}
metrics = [
  {{ name = "one", function = "accuracy", file = "Topic-1" }},
  {{ name = "two", function = "group_exact_match", file = "Topic-2" }},
]
files = [{{ name = "Topic-1", test = "test_1" }}, {{ name = "Topic-2", test = "test_2" }}]
columns = ["sentence"]
splits.test_1.size = {ROWS}
splits.test_2.size = {ROWS}

[tasks.Emotions]
form = "sets"
labels = {{ joy = "1", fear = "2", anger = "3", none = "4" }}
metrics = [{{ name = "sets_jaccard" }}]
columns = ["sentence"]
splits.test.size = {ROWS}

[tasks.Names]
form = "tokens"
labels = {{ O = "O", B-PER = "1", I-PER = "2", B-LOC = "3", I-LOC = "4" }}
metrics = [{{ name = "token_accuracy" }}, {{ name = "entity_f1" }}]
columns = ["sentence"]
splits.test.size = {ROWS}

[tasks.Lemmas]
form = "tokens"
metrics = [{{ name = "token_label_macro_f1" }}]
columns = ["sentence"]
splits.test.size = {ROWS}

[tasks.Likeness]
score_range = [0.0, 5.0]
metrics = [{{ name = "pearson" }}]
columns = ["sentence"]
splits.test.size = {ROWS}
"""
LABELS = st.lists(st.sampled_from(WORDS[:3]), min_size=ROWS, max_size=ROWS)
"""No example has the fourth label: its scores are undefined unless it is predicted."""
ANSWERS = st.lists(st.sampled_from(WORDS), min_size=ROWS, max_size=ROWS)
SETS = st.lists(st.lists(st.sampled_from(WORDS), unique=True), min_size=ROWS, max_size=ROWS)
SENTENCES = st.lists(st.lists(st.sampled_from(TAGS), min_size=4, max_size=4), min_size=ROWS, max_size=ROWS)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    path = tmp_path_factory.mktemp("classes") / "classes.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


def graded(benchmark: Benchmark, file: str, gold: object, predicted: object, **more: object) -> Report:
    return grade({file: predicted}, {file: gold, **more}, benchmark=benchmark, intervals=False)


def columns(scores: dict[str, ClassScore]) -> list[list[float]]:
    """The columns that scikit-learn gives with `zero_division=0`; undefined scores as 0."""
    values = scores.values()
    shares = [[getattr(score, name) or 0.0 for score in values] for name in ("precision", "recall", "f1")]
    return [*shares, [score.support for score in values]]


@settings(deadline=None, max_examples=40)
@given(LABELS, ANSWERS)
def test_classes_of_labels_are_scikit_learns(
    benchmark: Benchmark, gold: list[str], answers: list[str]
) -> None:
    scores = graded(benchmark, "Topic-1", gold, answers).classes["Topic-1"]
    assert tuple(scores) == WORDS
    expected = precision_recall_fscore_support(gold, answers, labels=WORDS, zero_division=0)
    assert columns(scores) == [pytest.approx(column) for column in expected]
    assert {name: score.predicted for name, score in scores.items()} == {
        name: answers.count(name) for name in WORDS
    }


@settings(deadline=None, max_examples=40)
@given(SETS, SETS)
def test_classes_of_sets_are_scikit_learns(benchmark: Benchmark, gold: list, answers: list) -> None:
    scores = graded(benchmark, "Emotions", gold, answers).classes["Emotions"]
    assert tuple(scores) == WORDS
    indicators = MultiLabelBinarizer(classes=WORDS)
    tables = [indicators.fit_transform(side) for side in (gold, answers)]
    expected = precision_recall_fscore_support(*tables, zero_division=0)
    assert columns(scores) == [pytest.approx(column) for column in expected]
    assert [score.predicted for score in scores.values()] == tables[1].sum(axis=0).tolist()


@settings(deadline=None, max_examples=40)
@given(SENTENCES, SENTENCES)
def test_classes_of_entities_are_their_types(benchmark: Benchmark, gold: list, answers: list) -> None:
    scores = graded(benchmark, "Names", gold, answers).classes["Names"]
    assert tuple(scores) == ("PER", "LOC")
    hits, support, predicted = Counter(), Counter(), Counter()
    for first, second in zip(gold, answers, strict=True):
        of_gold, of_answers = {*strict_entities(first)}, {*strict_entities(second)}
        hits.update(entity[-1] for entity in of_gold & of_answers)
        support.update(entity[-1] for entity in of_gold)
        predicted.update(entity[-1] for entity in of_answers)
    for name, score in scores.items():
        assert score == ClassScore.of(hits[name], support[name], predicted[name])


def test_a_class_by_hand_and_one_that_is_undefined() -> None:
    assert ClassScore.of(3, 4, 6) == ClassScore(0.5, 0.75, 0.6, 4, 6)
    assert ClassScore.of(0, 4, 0) == ClassScore(None, 0.0, 0.0, 4, 0)
    assert ClassScore.of(0, 0, 2) == ClassScore(0.0, None, 0.0, 0, 2)
    assert ClassScore.of(0, 0, 0) == ClassScore(None, None, None, 0, 0)


def test_labels_have_classes_whatever_their_metric_and_numbers_have_none(benchmark: Benchmark) -> None:
    answers = [*WORDS] * 2
    report = graded(benchmark, "Topic-2", answers, answers, **{"Topic-2.groups": [0, 1] * 4})
    assert {score.f1 for score in report.classes["Topic-2"].values()} == {1.0}
    with pytest.raises(KeyError, match="no class of Topic-2 is called 'joi'"):
        _ = report.classes["Topic-2"]["joi"]
    with pytest.raises(KeyError, match="no test file with classes is called 'Topic'"):
        _ = report.classes["Topic"]
    numbers = [float(row % 3) for row in range(ROWS)]
    assert graded(benchmark, "Likeness", numbers, numbers).classes == {}


def test_a_file_of_very_many_classes_is_left_out(benchmark: Benchmark) -> None:
    for count in (1000, 1001):
        sentence = [f"word{at}" for at in range(count)]
        rows = [sentence, *[["word0"]] * (ROWS - 1)]
        classes = graded(benchmark, "Lemmas", rows, rows).classes
        assert len(classes.get("Lemmas", ())) == (count if count == 1000 else 0)
