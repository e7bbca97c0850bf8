"""Attackers that see both texts: scikit-learn's figures, shortcuts that only one of them sees, and none."""

from __future__ import annotations

from difflib import SequenceMatcher
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real import REAL, needs_real

from gluebench.analysis.audit import PairSet, ShortcutAccuracy, audit
from gluebench.analysis.audit import pairs as attackers
from gluebench.analysis.audit.pairs import longest, shallow, unshared
from gluebench.benchmark import load_benchmark
from gluebench.data import Example

GLUE = load_benchmark("glue")
RTE, COLA = GLUE.task("RTE"), GLUE.task("CoLA")
YES, NO = RTE.words
WORDS = [f"w{number}" for number in range(60)]
Rows = list[tuple[str, str, str]]


def pairs(name: str, rows: Rows) -> PairSet:
    return PairSet(name, RTE, [example(number, *row) for number, row in enumerate(rows)])


def example(number: int, first: str, second: str, label: str) -> Example:
    return Example(number, {"premise": first, "hypothesis": second}, label)


def audited(make, *see: str) -> dict[str, ShortcutAccuracy]:
    """Figures of those attackers on pairs that the function makes from a random generator and a label."""
    rng = Random(0)
    train, test = (
        pairs(name, [(*make(rng, label), label) for label in (YES, NO) * (size // 2)])
        for name, size in (("train", 300), ("test", 200))
    )
    return {each.sees: each for each in audit([train], [test], see=see, shown=0).measured}


def telling(found: dict[str, ShortcutAccuracy]) -> set[str]:
    return {name for name, each in found.items() if each.accuracy > 0.75}


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_the_longest_common_substring_is_difflibs(one: list[str], two: list[str]) -> None:
    substring, subsequence = longest(one, two)
    assert substring == SequenceMatcher(None, one, two, autojunk=False).find_longest_match().size
    below = {()}
    for word in one:
        below |= {(*each, word) for each in below}
    above = {()}
    for word in two:
        above |= {(*each, word) for each in above}
    assert subsequence == max(map(len, below & above))


# ---------------------------------------------------------------- planted shortcuts


def test_pairs_without_any_shortcut_have_none() -> None:
    found = audited(lambda rng, _: (" ".join(rng.choices(WORDS, k=9)), " ".join(rng.choices(WORDS, k=5))))
    assert set(found) >= {"trees", "neighbors", "unshared", "cross", "stacked"}
    assert {name: each.verdict for name, each in found.items() if each.low and each.low > 0.53} == {}


def test_a_run_of_words_is_seen_by_trees() -> None:
    """The same bags of words: in one class as a run of the first text, in the other turned round."""

    def make(rng: Random, label: str) -> tuple[str, str]:
        first = rng.sample(WORDS, 9)
        run = first[2:7] if label == YES else first[2:7][::-1]
        return " ".join(first), " ".join(run)

    found = audited(make, "hypothesis", "length", "overlap", "trees")
    assert telling(found) == {"trees"}
    assert found["trees"].verdict == "above majority"


def test_which_text_is_longer_is_seen_by_trees_alone() -> None:
    def make(rng: Random, label: str) -> tuple[str, str]:
        size = rng.randrange(4, 16)
        texts = (rng.choices(WORDS, k=size), rng.choices(WORDS, k=size + (1 if label == YES else -1)))
        return " ".join(texts[0]), " ".join(texts[1])

    see = ("hypothesis", "premise", "length", "overlap", "trees", "neighbors", "unshared", "cross")
    assert telling(audited(make, *see)) == {"trees"}


def test_a_word_on_one_side_is_seen_by_what_marks_words() -> None:
    """Both texts have the same color or different ones: neither text alone is enough."""

    def make(rng: Random, label: str) -> tuple[str, str]:
        mark = rng.choice(["red", "blue"])
        marks = (mark, mark if label == YES else {"red": "blue", "blue": "red"}[mark])
        first, second = ([mark, *rng.choices(WORDS, k=4)] for mark in marks)
        return " ".join(rng.sample(first, 5)), " ".join(rng.sample(second, 5))

    found = audited(make, "hypothesis", "premise", "length", "cross")
    assert telling(found) == {"cross"}


def test_what_recurs_is_seen_by_neighbors_alone() -> None:
    """Each pair of texts of training comes again with another word: no word, count or run tells its label."""
    rng = Random(0)
    kinds = [(rng.sample(WORDS, 6), rng.sample(WORDS, 6), label) for label in (YES, NO) * 150]

    def rows(seed: int) -> Rows:
        rng = Random(seed)
        return [
            (" ".join([*a, rng.choice(WORDS)]), " ".join([*b, rng.choice(WORDS)]), c) for a, b, c in kinds
        ]

    train, test = pairs("train", rows(1) + rows(2)), pairs("test", rows(3))
    see = ["length", "overlap", "trees", "neighbors"]
    found = {each.sees: each for each in audit([train], [test], see=see, shown=0).measured}
    assert telling(found) == {"neighbors"}


def test_what_only_one_text_has_is_marked() -> None:
    pair = example(0, "a b c", "c d", YES)
    assert set(unshared(pair)) == {
        *("only 1 a", "only 1 b", "only 1 ^ a", "only 1 a b", "only 1 b c"),
        *("only 2 d", "only 2 ^ c", "only 2 c d"),
    }


def test_negations_quantifiers_and_numbers_on_one_side_are_counted() -> None:
    (plain, negated, quantified, numbered) = shallow(
        [
            example(0, "A fox ran.", "A fox ran.", YES),
            example(0, "A fox ran.", "A fox didn't ran.", YES),
            example(0, "Every fox ran.", "A fox ran.", YES),
            example(0, "A fox ran 3 miles.", "A fox ran 5 miles.", YES),
        ]
    )
    assert plain[-6:].tolist() == [0, 0, 0, 0, 0, 0]
    assert negated[-6:].tolist() == [0, 1, 0, 0, 0, 0]
    assert quantified[-6:].tolist() == [0, 0, 1, 0, 0, 0]
    assert numbered[-6:].tolist() == [0, 0, 0, 0, 1, 1]


# ---------------------------------------------------------------- what is learned from


def test_pairs_that_share_a_text_through_others_are_in_one_group_and_fold() -> None:
    texts = [("a", "b"), ("c", "d"), ("e", "b"), ("f", "g"), ("e", "h"), ("h", "c")]
    chained = [example(n, *pair, YES) for n, pair in enumerate(texts)]
    assert attackers._groups(chained).tolist() == [0, 0, 0, 1, 0, 0]
    assert held_out(chained, [0, 1] * 3) == [0, 0, 1, 1, 2, 2], "one group would hold most of them"
    apart = [example(n, f"a{n // 2}", f"b{n}", YES) for n in range(12)]
    assert held_out(apart, [0, 1] * 6) == [0, 0, 1, 1, 2, 2] * 2
    by_fold = held_out(apart, [0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0])
    assert sorted(by_fold[at] for at in (2, 3, 8)) == [0, 1, 2], "each fold has to leave two labels"


def held_out(examples: list[Example], codes: list[int]) -> list[int]:
    """The fold that each example is held out in."""
    by_row = {
        int(row): fold
        for fold, (_, held) in enumerate(attackers.folds(examples, np.array(codes)))
        for row in held
    }
    return [by_row[row] for row in range(len(examples))]


def test_single_sentences_have_one_text_its_length_and_neighbors() -> None:
    rows = [("a good day", "1"), ("day good a", "0")] * 30
    train, test = (
        PairSet(name, COLA, [Example(n, {"sentence": text}, label) for n, (text, label) in enumerate(rows)])
        for name in ("train", "test")
    )
    found = audit([train], [test])
    accuracy = {each.sees: each.accuracy for each in found.measured}
    assert accuracy == {"sentence": 1.0, "length": 0.5, "neighbors": 1.0}
    assert [(each.first, each.second) for each in found.lengths] == [(3, None)] * 2


@needs_real
@pytest.mark.slow
def test_shallow_features_reach_on_mrpc_what_published_ones_reach() -> None:
    """Qiu et al. (2006) print 72.0 % and Wan et al. (2006) 75.6 % for features of words and dependencies."""
    mrpc = GLUE.task("MRPC")

    def rows(split: str) -> PairSet:
        lines = (REAL / "glue/MRPC" / f"{split}.tsv").read_text("utf-8-sig").splitlines()[1:]
        cells = [line.split("\t") for line in lines]
        gold = dict(line.split("\t") for line in (REAL / "gold/MRPC.tsv").read_text("utf-8").splitlines()[1:])
        labels = [gold[cell[0]] if split == "test" else cell[0] for cell in cells]
        return PairSet(
            f"MRPC {split}",
            mrpc,
            [
                Example(n, dict(zip(mrpc.columns, cell[-2:], strict=True)), label)
                for n, (cell, label) in enumerate(zip(cells, labels, strict=True))
            ],
        )

    measured = audit([rows("train")], [rows("test")], see=["overlap", "trees", "stacked"], shown=0).measured
    found = {each.sees: each.accuracy for each in measured}
    assert found["trees"] > 0.72
    assert found["stacked"] > 0.74
