"""Two systems of answers that are neither labels nor numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gluebench.analysis.compare.scores import file_tests
from gluebench.benchmark import Metric
from gluebench.scoring.metrics.plain import pairs_of

WORDS = ("joy", "fear", "anger")


def test_the_test_of_two_systems_turns_with_them() -> None:
    rng = np.random.default_rng(0)
    gold = rng.random((200, 3)) < 0.4
    columns = [
        [[word for word, there in zip(WORDS, row, strict=True) if there] for row in table]
        for table in (gold, gold ^ (rng.random((200, 3)) < 0.1), gold ^ (rng.random((200, 3)) < 0.2))
    ]
    a, b = (pairs_of("sets", columns[0], each) for each in columns[1:])
    metrics = [Metric(name, name, name, "F", None, WORDS) for name in ("sets_macro_f1", "sets_jaccard")]
    there, back = (
        file_tests(metrics, [[x], [y]], resamples=999, seed=0, name="F") for x, y in ((a, b), (b, a))
    )
    assert [each.test.p for each in there] == [each.test.p for each in back]
    assert all(each.test.p < 0.01 for each in there)
    for ours, theirs in zip(there, back, strict=True):
        assert ours.test.difference == pytest.approx(-theirs.test.difference)
        assert ours.test.difference > 0


def test_probabilities_have_gold_labels_and_are_no_label_column() -> None:
    rng = np.random.default_rng(1)
    gold = rng.choice(WORDS, 100).tolist()
    shares = [rng.dirichlet(np.ones(3), 100) for _ in range(2)]
    sides = [[pairs_of("probabilities", gold, each, labels=WORDS)] for each in shares]
    (tested,) = file_tests([Metric("x", "neg_log_loss", "x", "F")], sides, resamples=99, seed=0, name="F")
    at = [WORDS.index(word) for word in gold]
    losses = [np.log(each[np.arange(100), at]) for each in shares]
    assert tested.test.difference == pytest.approx(np.mean(losses[0]) - np.mean(losses[1]))
