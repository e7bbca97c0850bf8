"""SST-2 from a treebank of our own in the original layout, and the real trees beside GLUE's sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from real import REAL, needs_real

from gluebench.data.recipes.sst2 import phrases

PHRASES = {
    "Good film": 0.9,
    "good film": 0.61,
    "Good": 0.8,
    "good": 0.7,
    "film": 0.5,
    "-LRB- Bad -RRB-": 0.4,
    "-LRB- Bad": 0.2,
    "-LRB-": 0.5,
    "Bad": 0.1,
    "-RRB-": 0.6,
    "A and\\/or B": 0.41,
    "A": 0.5,
    "and\\/or B": 0.75,
    "and\\/or": 0.6,
    "B": 0.5,
    "caf\u00e9": 0.65,
}
SENTENCES = [
    ("Good|film", "3|3|0", 1),
    ("-LRB-|Bad|-RRB-", "4|4|5|5|0", 1),
    ("A|and\\/or|B", "5|4|4|5|0", 1),
    ("good|film", "3|3|0", 1),
    ("Good|film", "3|3|0", 2),
    ("A|and\\/or|B", "5|4|4|5|0", 2),
    ("caf\u00e9", "0", 3),
    ("-LRB-|Bad|-RRB-", "4|4|5|5|0", 3),
]


def write(folder: Path, sentences=SENTENCES, scores=PHRASES) -> Path:
    def lines(name: str, rows) -> None:
        (folder / name).write_text("".join(f"{row}\n" for row in rows))

    lines("SOStr.txt", [words for words, _, _ in sentences])
    lines("STree.txt", [tree for _, tree, _ in sentences])
    splits = [f"{number},{split}" for number, (_, _, split) in enumerate(sentences, 1)]
    lines("datasetSplit.txt", ["sentence_index,splitset_label", *splits])
    lines("dictionary.txt", [f"{phrase}|{number}" for number, phrase in enumerate(scores)])
    values = [f"{number}|{score}" for number, score in enumerate(scores.values())]
    lines("sentiment_labels.txt", ["phrase ids|sentiment values", *values])
    return folder


def rows(columns) -> list[tuple[str, str]]:
    return list(zip(columns["sentence"], columns["label"], strict=True))


def test_train_holds_each_phrase_of_its_trees_once_by_case_and_dev_and_test_sentences(tmp_path, make) -> None:
    built = make("sst2", write(tmp_path), "SST-2", test_labels="yes")
    assert sorted(rows(built.splits["train"])) == [
        ("( bad", "0"),
        ("( bad )", "0"),
        ("and/or b", "1"),
        ("bad", "0"),
        ("good", "1"),
        ("good", "1"),
        ("good film", "1"),
        ("good film", "1"),
    ]
    assert rows(built.splits["test"]) == [("good film", "1")]
    assert rows(built.splits["dev"]) == [("caf\u00e9", "1"), ("( bad )", "0")]
    assert built.splits["dev"]["score"] == [0.65, 0.4]
    assert built.notes == (
        "train: 7 neutral of 15 left out",
        "dev: 0 neutral of 2 left out",
        "test: 1 neutral of 2 left out",
    )


def test_without_phrases_train_is_sentences_and_hidden_labels_stay_hidden(tmp_path, make) -> None:
    built = make("sst2", write(tmp_path), "SST-2", phrases="no")
    assert rows(built.splits["train"]) == [("good film", "1"), ("( bad )", "0"), ("good film", "1")]
    assert "label" not in built.splits["test"]
    assert "--test-labels yes" in built.notes[-1]


@pytest.mark.parametrize(
    ("words", "parents", "expected"),
    [
        ("a b c", "5 4 4 5 0", ["a", "b", "c", "b c", "a b c"]),
        ("a", "0", ["a"]),
        ("a b", "3 3 4", None),
        ("a b", "3 3 0 0", None),
        ("a b", "3 0 1", None),
        ("a b", "3 x 0", None),
        ("a b", "9 3 0", None),
        ("a b c", "4 5 4 5 0", None),
        ("a b c", "5", None),
    ],
)
def test_phrases_of_a_tree(words, parents, expected) -> None:
    assert phrases(words.split(), parents.split()) == expected


def test_every_bad_row_is_named(tmp_path, problems) -> None:
    folder = write(tmp_path, [*SENTENCES, ("A|B", "1|2|0", 1), ("A", "0", 4)])
    (folder / "dictionary.txt").open("a").write("no number|x\nno score|99\n")
    (folder / "sentiment_labels.txt").open("a").write("7|2\n8\n")
    told = problems("sst2", folder, "SST-2")
    assert told == [
        f"{folder / 'dictionary.txt'}:17: expected a phrase, | and a number",
        f'{folder / "sentiment_labels.txt"}:18: the score is "2", expected a number from 0 to 1',
        f"{folder / 'sentiment_labels.txt'}:19: 1 column, expected 2",
        f'{folder / "dictionary.txt"}: "no score" has no score in sentiment_labels.txt',
        f"{folder / 'STree.txt'}:9: not a binary tree over the words of this line of SOStr.txt",
        f'{folder / "datasetSplit.txt"}:11: the split is "4", expected 1, 2 or 3',
    ]


def test_a_phrase_the_dictionary_lacks_and_files_of_unequal_length_are_named(tmp_path, problems) -> None:
    folder = write(tmp_path, [*SENTENCES, ("Z", "0", 1)])
    assert problems("sst2", folder, "SST-2") == ['SOStr.txt:9: "Z" is not in dictionary.txt']
    (folder / "SOStr.txt").write_text("a\n")
    assert problems("sst2", folder, "SST-2") == [
        f"{folder}: SOStr, STree and datasetSplit have 1, 9 and 9 sentences"
    ]


@needs_real
def test_the_copy_without_its_dictionary_is_refused(problems) -> None:
    folder = REAL / "corpora" / "sst"
    assert problems("sst2", folder, "SST-2") == [f"{folder}: no dictionary.txt in this folder"]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """The real trees with a dictionary of our own, which calls every phrase positive."""
    for name in ("SOStr.txt", "STree.txt", "datasetSplit.txt"):
        (tmp_path / name).write_bytes((REAL / "corpora" / "sst" / name).read_bytes())
    words, trees = ((tmp_path / name).read_text().splitlines() for name in ("SOStr.txt", "STree.txt"))
    found: dict[str, None] = {}
    for one, tree in zip(words, trees, strict=True):
        found |= dict.fromkeys(phrases(one.split("|"), tree.split("|")) or ())
    listed = "".join(f"{phrase}|{number}\n" for number, phrase in enumerate(found))
    (tmp_path / "dictionary.txt").write_text(listed)
    values = "".join(f"{number}|1\n" for number in range(len(found)))
    (tmp_path / "sentiment_labels.txt").write_text(f"phrase ids|sentiment values\n{values}")
    return tmp_path


@needs_real
def test_glues_sentences_and_phrases_are_those_of_the_real_trees(treebank, make, released) -> None:
    """Labels need the real dictionary; 6 rows of test and 251 of train are spelt otherwise in GLUE."""
    splits = make("sst2", treebank, "SST-2").splits
    assert {split: len(columns["sentence"]) for split, columns in splits.items()} == {
        "train": 159274,
        "dev": 1101,
        "test": 2210,
    }
    known = {split: set(columns["sentence"]) for split, columns in splits.items()}
    for split, column, size, found in (
        ("train", 0, 66978, 66727),
        ("dev", 0, 872, 872),
        ("test", 1, 1821, 1815),
    ):
        _, *theirs = released(REAL / "glue" / "SST-2" / f"{split}.tsv")
        texts = {row[column].removesuffix(" ") for row in theirs}
        assert (len(texts), len(texts & known[split])) == (size, found), split
