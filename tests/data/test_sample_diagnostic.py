"""The hand-written diagnostic set: every phenomenon, both directions, few superficial cues."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data import load_split
from gluebench.data.sample import build
from gluebench.data.sample.diagnostic import judgements, pairs
from gluebench.data.tokens import words

LABELS = ("entailment", "neutral", "contradiction")


def test_every_phenomenon_of_the_paper_has_two_pairs_at_least_and_no_other_is_named() -> None:
    known = {phenomenon.name for phenomenon in load_benchmark("sample").task("AX").phenomena}
    tags = Counter(name for pair in pairs() for name in set(pair.phenomena))
    assert set(tags) == known
    assert min(tags.values()) >= 2
    assert all(len(set(pair.phenomena)) == len(pair.phenomena) for pair in pairs())


def test_a_contradiction_holds_in_both_directions() -> None:
    for pair in pairs():
        assert {pair.forward, pair.backward} <= set(LABELS)
        assert (pair.forward == "contradiction") == (pair.backward == "contradiction"), pair


def test_no_pair_stands_twice_in_either_order() -> None:
    assert len({frozenset((pair.first, pair.second)) for pair in pairs()}) == len(pairs())
    assert all(pair.first != pair.second for pair in pairs())


def test_labels_are_about_as_frequent_as_in_the_paper() -> None:
    labels = Counter(each.label for each in judgements())
    for label, share in zip(LABELS, (0.42, 0.35, 0.23), strict=True):
        assert labels[label] / labels.total() == pytest.approx(share, abs=0.05)


def test_the_direction_gives_no_label_away() -> None:
    forward = Counter(pair.forward for pair in pairs())
    backward = Counter(pair.backward for pair in pairs())
    assert abs(forward["entailment"] - backward["entailment"]) <= 0.15 * len(pairs())


def test_the_sentences_of_a_pair_share_most_of_their_words() -> None:
    def shared(one: str, two: str) -> float:
        first, second = set(words(one)), set(words(two))
        return len(first & second) / min(len(first), len(second))

    values = [shared(pair.first, pair.second) for pair in pairs()]
    assert sum(values) / len(values) > 0.85
    assert min(values) > 0.4


def test_sentences_and_domains_are_written_alike() -> None:
    domains = Counter(pair.domain for pair in pairs())
    assert set(domains) == {"news", "forum", "encyclopedia", "papers"}
    assert min(domains.values()) >= 8
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
