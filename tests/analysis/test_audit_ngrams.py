"""The classifier of n-grams against a plain loop of the same steps, and on labels that it must find."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.analysis.audit.learners import Bags, NGrams, Vocabulary

TEXTS = st.lists(st.text("ab .", max_size=8), min_size=1, max_size=6)


def rows(bags: Bags) -> list[list[int]]:
    starts = bags.starts.tolist()
    return [bags.features[start:stop].tolist() for start, stop in pairwise(starts)]


def test_a_text_is_its_start_its_words_and_the_pairs_of_neighbours() -> None:
    vocabulary = Vocabulary(bits=16)
    first, empty, again = rows(vocabulary.bags(["The cat", "", "cat cat"], grow=True))
    the, cat = 1, 2
    assert first[:2] == [0, the]
    assert first[3] == cat
    assert empty == [0]
    assert again[1] == again[3] == cat
    pairs = {first[2], first[4], again[2], again[4]}
    assert len(pairs) == 4, "start-the, the-cat, start-cat and cat-cat differ"
    assert all(cat < pair < vocabulary.width for pair in pairs)


def test_unknown_words_and_their_pairs_are_left_out() -> None:
    vocabulary = Vocabulary(bits=16)
    (learnt,) = rows(vocabulary.bags(["a b"], grow=True))
    assert rows(vocabulary.bags(["a new b", "new", "a b"])) == [
        [0, learnt[1], learnt[2], learnt[3]],
        [0],
        learnt,
    ]


@given(TEXTS)
def test_what_was_learnt_is_known_text_by_text(texts: list[str]) -> None:
    vocabulary = Vocabulary(bits=12)
    learnt = rows(vocabulary.bags(texts, grow=True))
    assert rows(vocabulary.bags(texts)) == learnt
    assert [rows(vocabulary.bags([text]))[0] for text in texts] == learnt
    assert all(len(row) % 2 == 1 and row[0] == 0 for row in learnt)


def stepped(
    learnt: Sequence[list[int]],
    asked: Sequence[list[int]],
    codes: Sequence[int],
    classes: int,
    *,
    epochs: int,
    rate: float,
    batch: int,
    seed: int,
) -> list[list[float]]:
    """The same descent with a table for every class, feature by feature."""
    tables: list[dict[int, float]] = [{} for _ in range(classes)]

    def scores(row: list[int]) -> list[float]:
        return [sum(table.get(feature, 0.0) for feature in row) / len(row) for table in tables]

    order = np.random.default_rng(seed).permutation(len(learnt)).tolist()
    batches = [order[at : at + batch] for at in range(0, len(order), batch)]
    for step in range(epochs * len(batches)):
        falling = rate * (1 - step / (epochs * len(batches)))
        changes = []
        for text in batches[step % len(batches)]:
            powers = [math.exp(score) for score in scores(learnt[text])]
            for label in range(classes):
                error = (codes[text] == label) - powers[label] / sum(powers)
                changes += [(label, each, falling * error / len(learnt[text])) for each in learnt[text]]
        for label, feature, change in changes:
            tables[label][feature] = tables[label].get(feature, 0.0) + change
    return [scores(row) for row in asked]


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_scores_are_those_of_a_plain_loop(classes: int) -> None:
    rng = random.Random(classes)
    texts = [" ".join(rng.choices("abcdefg", k=rng.randrange(7))) for _ in range(53)]
    codes = [rng.randrange(classes) for _ in texts]
    asked = [*texts[:10], "a z b", ""]
    model = NGrams(epochs=3, rate=4.0, batch=8, seed=7)
    model.fit(texts, codes, classes)
    vocabulary = Vocabulary(bits=20)
    learnt = rows(vocabulary.bags(texts, grow=True))
    wanted = stepped(
        learnt, rows(vocabulary.bags(asked)), codes, classes, epochs=3, rate=4.0, batch=8, seed=7
    )
    np.testing.assert_allclose(model.scores(asked).T, wanted, atol=1e-12)
    assert model.scores(asked).argmax(axis=0).tolist() == np.argmax(wanted, axis=1).tolist()


def test_labels_that_hang_on_the_order_of_two_words_are_learnt_from_their_pairs() -> None:
    texts = ["left right", "right left"] * 40
    codes = [0, 1] * 40
    model = NGrams(epochs=20)
    model.fit(texts, codes, 2)
    assert model.scores(["left right", "right left"]).argmax(axis=0).tolist() == [0, 1]


def test_every_run_gives_the_same_bits() -> None:
    rng = random.Random(1)
    texts = [" ".join(rng.choices("abcdefg", k=6)) for _ in range(500)]
    codes = [rng.randrange(3) for _ in texts]
    found = []
    for seed in (0, 0, 1):
        model = NGrams(seed=seed)
        model.fit(texts, codes, 3)
        found.append(model.scores(texts).tobytes())
    assert found[0] == found[1] != found[2]


def test_a_text_without_known_words_gets_the_class_of_the_start_alone() -> None:
    model = NGrams()
    model.fit(["a", "b", "c", "d"] * 10, [0, 1, 1, 1] * 10, 2)
    assert model.scores(["", "unheard of"]).argmax(axis=0).tolist() == [1, 1]
    assert model.scores([]).shape == (2, 0)


def test_one_class_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to tell apart"):
        NGrams().fit(["a"], [0], 1)
