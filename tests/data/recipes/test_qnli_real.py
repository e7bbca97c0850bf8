"""The QNLI recipe against the released files: which pairs are found, why others are not, what is selected."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.data import load_split
from gluebench.data.recipes import RecipeResult, recipe
from gluebench.data.recipes.qa_pairs import Paragraph, Passage, passage, read_squad
from gluebench.data.recipes.sentences import ENGLISH, RELEASED, Splitter

SQUAD = "dev-v1.1.from-explorer-html.json"
ENDED = re.compile(r"[.!?…][\"'”’)\]]*(?:\[[^\]]*\]|:[\d:,–-]+)*\Z")
EDGES = "\"'“”’ ."

pytestmark = needs_real


class Row(NamedTuple):
    """One released pair."""

    question: str
    sentence: str
    label: str


class Comparison(NamedTuple):
    """Released pairs against the candidate pairs."""

    found: int
    labels_equal: int
    kinds: Counter[str]
    """Why the others were not found."""


@pytest.fixture(scope="module")
def paragraphs() -> list[Paragraph]:
    return read_squad(REAL / "corpora" / "squad" / SQUAD)


def passages_of(
    paragraphs: Sequence[Paragraph], *, abbreviations: frozenset[str], strays: bool
) -> list[Passage]:
    contexts = (paragraph.context for paragraph in paragraphs)
    splitter = Splitter(contexts, abbreviations=abbreviations, strays=strays)
    return [passage(paragraph, splitter, line_break="_") for paragraph in paragraphs]


@pytest.fixture(scope="module")
def passages(paragraphs: list[Paragraph]) -> list[Passage]:
    return passages_of(paragraphs, abbreviations=RELEASED, strays=True)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    glue = load_benchmark("glue")
    gold = tmp_path_factory.mktemp("gold") / "QNLI.tsv"
    shutil.copyfile(REAL / "gold" / "QNLI.tsv", gold)
    labels = dict(line.split("\t") for line in gold.read_text().splitlines()[1:])
    return {
        split: [
            Row(each.inputs["question"], each.inputs["sentence"], str(each.label or labels[str(each.index)]))
            for each in load_split(REAL / "glue", glue, "QNLI", split)
        ]
        for split in ("dev", "test")
    }


def compare(rows: Iterable[Row], paragraphs: Sequence[Paragraph], passages: Sequence[Passage]) -> Comparison:
    """Look each released pair up among all pairs of a question with a sentence of its paragraph."""
    candidates: dict[str, dict[str, str]] = defaultdict(dict)
    places = defaultdict(list)
    for paragraph, split in zip(paragraphs, passages, strict=True):
        for asked in split.questions:
            places[asked.text].append((paragraph.context.replace("\n", "_"), split.sentences))
            for sentence, holds in zip(split.sentences, asked.holds, strict=True):
                candidates[asked.text][sentence] = "entailment" if holds else "not_entailment"
    found = labels_equal = 0
    kinds: Counter[str] = Counter()
    for row in rows:
        label = candidates[row.question].get(row.sentence)
        found += label is not None
        labels_equal += label == row.label
        if label is None:
            kinds[kind(row.sentence, places[row.question])] += 1
    return Comparison(found, labels_equal, kinds)


def kind(sentence: str, places: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Why no candidate is this sentence."""
    for context, sentences in places:
        if sentence.strip(EDGES) in {each.strip(EDGES) for each in sentences}:
            return "quotation mark at the edge"
        start = context.find(sentence)
        if start >= 0:
            before, ends = context[:start].rstrip(), sentence
            whole = start + len(sentence) == len(context.rstrip())
            if (before and not ENDED.search(before)) or not (whole or ENDED.search(ends)):
                return "cut where no sentence ends"
            if any(
                each not in context[start : start + len(sentence)] for each in sentences if sentence in each
            ):
                return "cut after an abbreviation"
            return "joined over a full stop"
    return "edited text" if places else "another question"


@pytest.mark.parametrize(("split", "found", "edges"), [("dev", 5253, 31), ("test", 5232, 33)])
def test_released_pairs_are_found_with_their_labels(
    split: str,
    found: int,
    edges: int,
    paragraphs: list[Paragraph],
    passages: list[Passage],
    released: dict[str, list[Row]],
) -> None:
    compared = compare(released[split], paragraphs, passages)
    assert compared.found >= found
    assert compared.labels_equal == compared.found
    assert compared.found + compared.kinds["quotation mark at the edge"] >= found + edges
    assert compared.found + compared.kinds.total() == 5463
    assert not {"edited text", "another question"} & compared.kinds.keys()


@pytest.mark.parametrize(
    ("abbreviations", "strays", "found"),
    [(ENGLISH, False, (5236, 5222)), (RELEASED, False, (5243, 5226)), (ENGLISH, True, (5246, 5228))],
)
def test_each_habit_of_the_release_finds_more_than_the_plain_rules(
    abbreviations: frozenset[str],
    strays: bool,
    found: tuple[int, int],
    paragraphs: list[Paragraph],
    released: dict[str, list[Row]],
) -> None:
    """The figures that docs/explanation/recipes.md gives."""
    cut = passages_of(paragraphs, abbreviations=abbreviations, strays=strays)
    compared = [compare(released[split], paragraphs, cut) for split in ("dev", "test")]
    assert tuple(each.found for each in compared) == found
    assert all(each.labels_equal == each.found for each in compared)


def test_the_release_is_two_pairs_of_each_question_dealt_one_by_one(released: dict[str, list[Row]]) -> None:
    both = defaultdict(list)
    dealt: dict[str, Counter[str]] = {
        split: Counter(row.question for row in rows) for split, rows in released.items()
    }
    for row in (*released["dev"], *released["test"]):
        both[row.question].append(row.label)
    pairs = Counter(tuple(sorted(labels)) for labels in both.values())
    assert pairs == {("entailment", "not_entailment"): 5459, ("entailment",) * 2 + ("not_entailment",) * 2: 2}
    shared = sum(question in dealt["test"] for question in dealt["dev"])
    assert (len(dealt["dev"]), len(dealt["test"]), shared) == (4100, 4101, 2740)


def test_the_release_has_questions_with_one_answering_sentence(
    passages: list[Passage], released: dict[str, list[Row]]
) -> None:
    chosen = {row.question for rows in released.values() for row in rows}
    several = [asked.text in chosen for each in passages for asked in each.questions if sum(asked.holds) > 1]
    assert (len(several), sum(several)) == (1911, 3)


@pytest.fixture(scope="module")
def selected() -> dict[str, RecipeResult]:
    qnli, task = recipe("qnli"), load_benchmark("glue").task("QNLI")
    options = {option.name: option.default for option in qnli.options}
    options |= {"dev": SQUAD, "vectors": REAL / "vectors" / "glove.6B.50d.top9163.txt"}
    folder: Path = REAL / "corpora" / "squad"
    return {second: qnli.build(folder, task, options | {"second": second}) for second in ("close", "far")}


def rows(built: RecipeResult) -> set[Row]:
    names = ("question", "sentence", "label")
    return {
        Row(*row)
        for each in built.splits.values()
        for row in zip(*(each[name] for name in names), strict=True)
    }


def test_the_selection_with_a_part_of_glove_meets_the_release(
    selected: dict[str, RecipeResult], released: dict[str, list[Row]], passages: list[Passage]
) -> None:
    """By chance, 78.7 % of the released questions would be selected: 6,624 of 8,421."""
    truth = {row for each in released.values() for row in each}
    asked = {row.question for row in truth}
    common = {}
    for second, built in selected.items():
        ours = rows(built)
        questions = {row.question for row in ours} & asked
        common[second] = len(questions)
        same = len({row.question for row in ours & truth if row.label == "not_entailment"})
        assert same / len(questions) > 0.6  # the distractor is the same sentence
        labels = [label for split in built.splits.values() for label in split["label"]]
        assert len(labels) == 2 * labels.count("entailment") > 10_000
    assert common["far"] > 1.1 * common["close"]
    contexts = {sentence for each in passages for sentence in each.sentences}
    assert all(row.sentence in contexts for row in rows(selected["close"]))
