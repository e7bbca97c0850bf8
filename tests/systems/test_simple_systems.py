"""The simple systems: right arithmetic, and on the sample benchmark an order as on GLUE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: TID251 the oracle
from sklearn.metrics import matthews_corrcoef  # noqa: TID251 the oracle

from gluebench.benchmark import Benchmark, Task
from gluebench.data import Example, load_split
from gluebench.systems import SYSTEMS, Predictor
from gluebench.systems.bag import BagOfWords, HypothesisOnly, last_only, matrix, vocabulary, whole
from gluebench.systems.linear import Sparse, fit_logistic, fit_ridge, softmax
from gluebench.systems.mlp import Aligner, Perceptron, SparseBinaryMatrix, Weights, _gradients, _scores, stem
from gluebench.systems.natural_logic import NaturalLogic, edits_or_words
from gluebench.systems.overlap import Majority, WordOverlap


class Tried:
    """Fits systems on tasks and scores them on the test split, each once."""

    def __init__(self, sample: Benchmark, folder: Path) -> None:
        self.sample = sample
        self.folder = folder
        self.known: dict[tuple[str, str], float] = {}
        self._fitted: dict[tuple[str, str], Any] = {}

    def __call__(self, name: str, file: str) -> float:
        if (name, file) not in self.known:
            self.known[name, file] = self.score(name, file)
        return self.known[name, file]

    def score(self, name: str, file: str) -> float:
        record = self.sample.file(file)
        task = self.sample.task(record.task)
        system = self.fitted(name, task)
        gold = [
            line.split("\t")[1]
            for line in (self.folder / "gold" / f"{file}.tsv").read_text().splitlines()[1:]
        ]
        predicted = system.predict(task, self.split(task, record.splits["test"].name))
        if not task.labels:
            return float(np.corrcoef(np.array(predicted, dtype=float), np.array(gold, dtype=float))[0, 1])
        if file == "CoLA":
            return float(matthews_corrcoef(gold, predicted))
        return float(np.mean([one == two for one, two in zip(predicted, gold, strict=True)]))

    def fitted(self, name: str, task: Task) -> Any:
        """The system by that name; one fit serves all test files of a task."""
        if (name, task.name) not in self._fitted:
            system = self._fitted[name, task.name] = SYSTEMS[name].make()
            dev = next(split for split in task.splits if split.startswith("dev"))
            system.fit(task, self.split(task, "train"), self.split(task, dev))
        return self._fitted[name, task.name]

    def split(self, task: Task, name: str) -> list[Example]:
        return load_split(self.folder, self.sample, task.name, name)


@pytest.fixture(scope="module")
def tried(sample: Benchmark, sample_folder: Path) -> Tried:
    return Tried(sample, sample_folder)


def test_each_system_adds_to_what_a_simpler_one_can(tried: Tried) -> None:
    """As on GLUE: the majority, then one text, then both, then which of their words are the same."""
    assert tried("majority", "SST-2") + 0.1 < tried("bag-of-words", "SST-2")
    assert tried("majority", "CoLA") == 0 < tried("bag-of-words", "CoLA")
    assert (
        tried("hypothesis-only", "STS-B") + 0.3 < tried("overlap", "STS-B") < tried("bag-of-words", "STS-B")
    )
    assert 0.5 < tried("overlap", "RTE") < 0.75
    assert 0.68 < tried("overlap", "MRPC") < 0.8
    assert max(tried.known.values()) < 0.95, "no task is solved by words alone"


@pytest.mark.slow
def test_word_order_and_alignment_lift_the_large_tasks(tried: Tried) -> None:
    for file in ("MNLI-m", "MNLI-mm", "QNLI"):
        assert tried("majority", file) + 0.05 < tried("hypothesis-only", file)
        assert tried("hypothesis-only", file) + 0.05 < tried("bag-of-words", file)
    for file in ("QQP", "MNLI-m", "MNLI-mm", "QNLI"):
        assert tried("bag-of-words", file) + 0.05 < tried("mlp", file) < 0.95
    assert tried("bag-of-words", "CoLA") + 0.05 < tried("mlp", "CoLA")


# ---------------------------------------------------------------- the parts, on examples by hand


@pytest.fixture
def pairs_task(sample: Benchmark) -> Task:
    return sample.task("RTE")


def example(first: str, second: str, label: str | float | None = None, index: int = 0) -> Example:
    return Example(index, {"premise": first, "hypothesis": second}, label)


def test_majority_takes_the_most_frequent_label_and_the_mean(sample: Benchmark, pairs_task: Task) -> None:
    system = Majority()
    system.fit(
        pairs_task,
        [example("a", "b", label) for label in ("not_entailment", "entailment", "not_entailment")],
        [],
    )
    assert system.predict(pairs_task, [example("x", "y")] * 2) == ["not_entailment"] * 2
    system.fit(pairs_task, [example("a", "b", label) for label in ("not_entailment", "entailment")], [])
    assert system.predict(pairs_task, [example("x", "y")]) == ["entailment"]
    scores = sample.task("STS-B")
    system.fit(scores, [example("a", "b", 1.0), example("a", "b", 4.0)], [])
    assert system.predict(scores, [example("x", "y")]) == [2.5]
    assert system.parameters() == 2


def test_overlap_is_the_share_of_common_words_and_length_for_one_text(pairs_task: Task) -> None:
    assert WordOverlap().feature(example("The cat sat.", "the CAT slept")) == 2 / 4
    assert WordOverlap().feature(example("", "")) == 0
    assert WordOverlap().feature(Example(0, {"sentence": "It isn't far, is it?"}, None)) == 5
    system = WordOverlap()
    near, far = example("a b c d", "a b c d", "entailment"), example("a b c d", "w x y z", "not_entailment")
    system.fit(pairs_task, [near, far] * 6, [])
    assert system.predict(pairs_task, [far, near]) == ["not_entailment", "entailment"]
    system.fit(pairs_task, [near] * 3, [])
    assert system.predict(pairs_task, [far, near]) == ["entailment", "entailment"]


def test_features_name_what_is_in_each_text_in_both_and_in_one_alone() -> None:
    names = set(whole(example("A dog ran", "a dog")))
    assert {"1 dog", "2 dog", "both dog", "both a dog", "only 1 ran", "1 dog ran", "2 ^ a"} <= names
    assert not {"only 2 dog", "2 ran"} & names
    assert set(last_only(example("A dog ran", "a cat"))) == {"a", "cat", "^ a", "a cat"}


def test_the_last_text_alone_decides_for_hypothesis_only(pairs_task: Task) -> None:
    train = [
        example(f"w{number}", "yes" if number % 2 else "no", ("entailment", "not_entailment")[number % 2])
        for number in range(20)
    ]
    system = HypothesisOnly()
    system.fit(pairs_task, train, train)
    assert system.predict(pairs_task, [example("no", "yes"), example("yes", "no")]) == [
        "not_entailment",
        "entailment",
    ]


def drawn(count: int = 60, width: int = 12) -> tuple[Sparse, np.ndarray]:
    random = np.random.default_rng(3)
    present = random.random((count, width)) < 0.3
    present[:, 0] = True
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.intp)
    values = present.sum(axis=1) ** -0.5
    rows = Sparse(starts, np.nonzero(present)[1], values, width)
    return rows, present * values[:, None]


def test_sparse_products_are_those_of_the_dense_matrix() -> None:
    rows, dense = drawn()
    weights = np.random.default_rng(5).normal(size=(12, 3))
    np.testing.assert_allclose(rows @ weights, dense @ weights, atol=1e-12)
    errors = np.random.default_rng(6).normal(size=(60, 3))
    np.testing.assert_allclose(rows.multiply_transposed(errors), dense.T @ errors, atol=1e-12)


def test_rows_have_length_one_and_unknown_words_are_left_out() -> None:
    seen = [example("a b", "b c"), example("a b", "b c")]
    known = vocabulary([list(whole(pair)) for pair in seen])
    rows = matrix(map(whole, [*seen, example("z", "z")]), known)
    squares = rows @ np.ones((rows.width, 1))
    assert rows.width == len(known) + 1
    np.testing.assert_allclose(np.diff(rows.starts) * rows.values**2, 1)
    assert squares[2, 0] == pytest.approx(1)


def test_logistic_and_ridge_regression_agree_with_scikit_learn() -> None:
    rows, dense = drawn()
    random = np.random.default_rng(8)
    codes = random.integers(0, 3, 60)
    penalty = 0.05
    ours = softmax(rows @ fit_logistic(rows, codes.tolist(), 3, penalties=[1, penalty])[1])
    theirs = LogisticRegression(C=1 / (penalty * 60), fit_intercept=False, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(ours, theirs.fit(dense, codes).predict_proba(dense), atol=2e-4)
    binary = (codes > 0).astype(int)
    ours = softmax(rows @ fit_logistic(rows, binary.tolist(), 2, penalties=[penalty])[0])
    # both columns are penalized here, the one of the other library alone there
    theirs = LogisticRegression(C=2 / (penalty * 60), fit_intercept=False, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(ours, theirs.fit(dense, binary).predict_proba(dense), atol=2e-4)
    scores = random.normal(size=60)
    ridge = Ridge(alpha=penalty * 60, fit_intercept=False).fit(dense, scores)
    np.testing.assert_allclose(
        (rows @ fit_ridge(rows, scores.tolist(), penalties=[penalty])[0])[:, 0],
        ridge.predict(dense),
        atol=2e-4,
    )


def predictions(system: Predictor, task: Task, examples: Sequence[Example]) -> list[str | float]:
    return list(system.predict(task, examples))


def test_the_network_is_the_same_each_time_and_needs_no_dev_split(tried: Tried, sample: Benchmark) -> None:
    task = sample.task("WNLI")
    train, test = tried.split(task, "train"), tried.split(task, "test")
    first, second = Perceptron(), Perceptron()
    first.fit(task, train, [])
    second.fit(sample.task("RTE"), tried.split(sample.task("RTE"), "train"), [])
    second.fit(task, train, [])
    assert predictions(first, task, test) == predictions(second, task, test)
    assert 1000 < first.parameters() < second.parameters()


def test_the_gradients_of_the_network_are_those_of_its_loss() -> None:
    random = np.random.default_rng(2)
    rows = SparseBinaryMatrix(
        [np.array([0, 2]), np.array([1, 2, 3]), np.array([], dtype=np.intp)], np.array([0.7, 0.6, 1])
    )
    weights = Weights(
        random.normal(size=(4, 5)), random.normal(size=5), random.normal(size=(5, 3)), np.zeros(3)
    )
    wanted = np.eye(3)
    found = _gradients(weights, rows, wanted)
    for part, gradient in zip(weights, found, strict=True):
        for place in np.ndindex(part.shape):
            kept, losses = part[place], []
            for step in (1e-5, -1e-5):
                part[place] = kept + step
                losses.append(-np.mean(np.log(softmax(_scores(rows, weights))[wanted > 0])))
            part[place] = kept
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-8)


def test_pointers_stand_for_the_rarer_words_that_the_other_text_has() -> None:
    common = [example("the dog saw the cat", "the cat ran") for _ in range(3)]
    names = set(Aligner(common)(example("the owls chased Anna", "Anna saw an owl")))
    assert {"1 @2 chased @1", "@2 << @1", "chased < @1", "2 @2 saw an", "1 owls", "common 2"} <= names
    assert not {"common 3", "1 the owls"} & names
    assert [stem(word) for word in ("owls", "scarves", "ferries", "buses", "glass", "is")] == [
        *("owl", "scarve", "ferry", "bus", "glass", "is")
    ]


def test_fitting_twice_gives_the_same_predictions(tried: Tried, sample: Benchmark) -> None:
    task = sample.task("RTE")
    train, test = tried.split(task, "train"), tried.split(task, "test")
    first, second = BagOfWords(), BagOfWords()
    first.fit(task, train, [])
    second.fit(task, train, [])
    second.fit(task, train, [])
    assert predictions(first, task, test) == predictions(second, task, test)
    assert first.parameters() == second.parameters() > 100


def test_scores_stay_in_the_range_of_the_task(sample: Benchmark) -> None:
    task = sample.task("STS-B")
    train = [
        example("a b", "a b", 5.0),
        example("c d", "c d", 5.0),
        example("e f", "x y", 0.0),
        example("e f", "x y", 0.0),
    ]
    system = BagOfWords()
    system.fit(task, train * 5, train)
    values = [float(value) for value in system.predict(task, [*train, example("c a b d", "a b c d")])]
    assert all(0 <= value <= 5 for value in values)
    assert values[0] > 3 > values[2]


def test_a_training_example_without_a_label_is_told(pairs_task: Task) -> None:
    for entry in SYSTEMS.values():
        with pytest.raises(ValueError, match="RTE: 2 training examples, 1 of them with a label"):
            entry.make().fit(pairs_task, [example("a", "b", "entailment"), example("a", "b")], [])


def test_an_edit_is_downward_where_an_odd_number_of_words_reverses_entailment() -> None:
    def edits(first: str, second: str) -> set[str]:
        names = edits_or_words(example(first, second))
        return {name for name in names if name in {"remove up", "remove down", "add up", "add down"}}

    assert edits("They sell rye bread.", "They sell bread.") == {"remove up"}
    assert edits("They sell no rye bread.", "They sell no bread.") == {"remove down"}
    assert edits("They don't sell bread.", "They don't sell rye bread.") == {"add down"}
    assert edits("Nobody sells no bread.", "Nobody sells no rye bread.") == {"add up"}
    assert edits("Every black dog barked.", "Every dog barked.") == {"remove down"}
    assert edits("Every dog barked loudly.", "Every dog barked.") == {"remove up"}


def test_natural_logic_learns_monotonicity_on_some_words_and_applies_it_to_others(sample: Benchmark) -> None:
    def pairs(nouns: str, adjectives: str) -> list[Example]:
        rows = []
        for noun, adjective in zip(nouns.split(), adjectives.split(), strict=True):
            more, less = f"{adjective} {noun}", noun
            for start, (first, second) in (("We saw a", (more, less)), ("We never saw a", (less, more))):
                rows.append(example(f"{start} {first}.", f"{start} {second}.", "entailment", len(rows)))
                rows.append(example(f"{start} {second}.", f"{start} {first}.", "not_entailment", len(rows)))
        return rows

    system, task = NaturalLogic(), sample.task("RTE")
    system.fit(task, pairs("dog tree house car", "black tall old fast"), [])
    unseen = pairs("ship hat lamp", "slow green bright")
    assert system.predict(task, unseen) == [pair.label for pair in unseen]
