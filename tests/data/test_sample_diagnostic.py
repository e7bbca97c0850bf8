"""The hand-written diagnostic set: every phenomenon, both directions, few superficial cues."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data import Example, load_split
from gluebench.data.sample import Pair, build, pairs
from gluebench.data.tokens import overlap, words
from gluebench.scoring.metrics import r_k
from gluebench.systems.bag import BagOfWords, HypothesisOnly
from sample.archive import Judgment, judgments

LABELS = ("entailment", "neutral", "contradiction")


def test_every_phenomenon_of_the_paper_has_ten_pairs_at_least_and_no_other_is_named() -> None:
    known = {phenomenon.name for phenomenon in load_benchmark("sample").task("AX").phenomena}
    tags = Counter(name for pair in pairs() for name in set(pair.phenomena))
    assert set(tags) == known
    assert min(tags.values()) >= 10
    assert all(len(set(pair.phenomena)) == len(pair.phenomena) for pair in pairs())


def test_a_contradiction_holds_in_both_directions() -> None:
    for pair in pairs():
        assert {pair.forward, pair.backward} <= set(LABELS)
        assert (pair.forward == "contradiction") == (pair.backward == "contradiction"), pair


def test_no_pair_stands_twice_in_either_order() -> None:
    assert len({frozenset((pair.first, pair.second)) for pair in pairs()}) == len(pairs())
    assert all(pair.first != pair.second for pair in pairs())


def test_labels_are_about_as_frequent_as_in_the_paper() -> None:
    labels = Counter(each.label for each in judgments())
    for label, share in zip(LABELS, (0.42, 0.35, 0.23), strict=True):
        assert labels[label] / labels.total() == pytest.approx(share, abs=0.03)


def test_the_direction_gives_no_label_away() -> None:
    forward = Counter(pair.forward for pair in pairs())
    backward = Counter(pair.backward for pair in pairs())
    assert abs(forward["entailment"] - backward["entailment"]) <= 0.15 * len(pairs())


def test_the_sentences_of_a_pair_share_most_of_their_words() -> None:
    values = [overlap(pair.first, pair.second) for pair in pairs()]
    assert median(values) > 0.7
    assert min(values) >= 0.4


def test_a_minimal_set_has_two_pairs_at_least_and_more_than_one_label() -> None:
    sets: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs():
        sets[pair.set].append(pair)
    assert len(sets) >= 100
    for members in sets.values():
        assert len(members) >= 2
        assert len({label for pair in members for label in (pair.forward, pair.backward)}) >= 2
        assert len({pair.domain for pair in members}) == 1


def test_dropping_words_does_not_tell_the_label() -> None:
    """A shortcut says that a sentence entails what is left of it when words are dropped."""
    labels = Counter(
        each.label
        for each in judgments()
        if len(words(each.hypothesis)) < len(words(each.premise))
        and within(words(each.hypothesis), words(each.premise))
    )
    assert labels.total() >= 50
    assert labels["entailment"] / labels.total() < 0.55
    assert labels["neutral"] >= 15


def within(few: list[str], many: list[str]) -> bool:
    """Whether the first are a subsequence of the second."""
    rest = iter(many)
    return all(word in rest for word in few)


def test_one_answer_to_everything_scores_nothing() -> None:
    gold = [each.label for each in judgments()]
    for label in LABELS:
        assert r_k(gold, [label] * len(gold)) == 0


SHORTCUTS: dict[str, Callable[[Judgment], object]] = {
    "longer or shorter": lambda each: len(words(each.hypothesis)) - len(words(each.premise)),
    "length": lambda each: len(words(each.hypothesis)),
    "overlap": lambda each: int(10 * overlap(each.premise, each.hypothesis)),
    "negated": lambda each: tuple(
        bool(NEGATIONS & set(words(text))) for text in (each.premise, each.hypothesis)
    ),
    "words dropped": lambda each: (
        set(words(each.hypothesis)) <= set(words(each.premise)),
        set(words(each.premise)) <= set(words(each.hypothesis)),
    ),
    "domain": lambda each: each.domain,
}
NEGATIONS = {"not", "no", "never", "nobody", "none", "neither"}


def folds() -> Iterator[tuple[list[Judgment], list[Judgment]]]:
    """Ten times: the examples of nine tenths of the minimal sets, and the others."""
    names = sorted({pair.set for pair in pairs()})
    Random(0).shuffle(names)
    of = [pair.set for pair in pairs()]
    for fold in range(10):
        held = set(names[fold::10])
        yield (
            [each for each in judgments() if of[each.pair] not in held],
            [each for each in judgments() if of[each.pair] in held],
        )


def commonest_share() -> float:
    labels = Counter(each.label for each in judgments())
    return max(labels.values()) / labels.total()


@pytest.mark.parametrize("name", SHORTCUTS)
def test_no_shortcut_predicts_better_than_the_commonest_label(name: str) -> None:
    """The label that is commonest for the same value in other minimal sets."""
    value = SHORTCUTS[name]
    right = 0
    for train, asked in folds():
        seen: defaultdict[object, Counter[str]] = defaultdict(Counter)
        for each in train:
            seen[value(each)][each.label] += 1
        right += sum(
            each.label == (seen[value(each)].most_common(1) or [("entailment", 0)])[0][0] for each in asked
        )
    assert 0.3 < right / len(judgments()) <= commonest_share() + 0.03


@pytest.mark.parametrize("make", [HypothesisOnly, pytest.param(BagOfWords, marks=pytest.mark.slow)])
def test_words_alone_predict_no_better_than_the_commonest_label(make: type[BagOfWords]) -> None:
    task = load_benchmark("sample").task("AX")
    right = 0
    for train, asked in folds():
        system = make()
        system.fit(task, examples(train), [])
        answers = system.predict(task, examples(asked))
        right += sum(answer == each.label for answer, each in zip(answers, asked, strict=True))
    assert right / len(judgments()) == pytest.approx(commonest_share(), abs=0.03)


def examples(found: list[Judgment]) -> list[Example]:
    return [
        Example(index, {"premise": each.premise, "hypothesis": each.hypothesis}, each.label)
        for index, each in enumerate(found)
    ]


def test_sentences_and_domains_are_written_alike() -> None:
    domains = Counter(pair.domain for pair in pairs())
    assert set(domains) == {"news", "forum", "encyclopedia", "academic", "artificial"}
    assert min(domains.values()) >= 20
    for pair in pairs():
        for text in (pair.first, pair.second):
            assert text[0].isupper()
            assert text.endswith(".")
            assert "  " not in text


def test_gold_tags_metadata_and_examples_agree(tmp_path: Path) -> None:
    build(tmp_path / "data")

    def rows(name: str) -> list[list[str]]:
        return [line.split("\t") for line in (tmp_path / "data/gold" / name).read_text("utf-8").splitlines()]

    benchmark = load_benchmark("sample")
    examples = load_split(tmp_path / "data", benchmark, "AX", "test")
    labels, metadata, tags = rows("AX.tsv"), rows("AX.metadata.tsv"), rows("AX.phenomena.tsv")
    assert metadata[0] == ["index", "group", "direction", "domain"]
    assert tags[0] == ["index", "coarse", "fine"]
    coarse = {each.name: each.coarse for each in benchmark.task("AX").phenomena}
    assert all(coarse[fine] == named for _, named, fine in tags[1:])
    for number, pair in enumerate(pairs()):
        ahead, back = examples[2 * number], examples[2 * number + 1]
        assert list(ahead.inputs.values()) == [pair.first, pair.second]
        assert list(back.inputs.values()) == [pair.second, pair.first]
        assert [row[1] for row in labels[1 + 2 * number : 3 + 2 * number]] == [pair.forward, pair.backward]
        assert metadata[1 + 2 * number][1:] == [str(number), "forward", pair.domain]
        assert metadata[2 + 2 * number][1:] == [str(number), "backward", pair.domain]
        for index in (2 * number, 2 * number + 1):
            assert [fine for at, _, fine in tags[1:] if at == str(index)] == list(pair.phenomena)
