"""The WNLI recipe against the released pairs: what is reproduced, and why the rest is not."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.data.recipes import RecipeResult, recipe
from gluebench.data.recipes.winograd import read_winograd

Pairs = dict[tuple[str, str], str]
FOLDER = REAL / "corpora" / "winograd"
BOTH = {"files": "WSCollection.xml,superglue-WSC/train.jsonl,superglue-WSC/val.jsonl"}
WORDS = load_benchmark("glue").task("WNLI").words


def built(**given: Any) -> RecipeResult:
    wnli = recipe("wnli")
    options = {option.name: option.default for option in wnli.options} | given
    return wnli.build(FOLDER, load_benchmark("glue").task("WNLI"), options)


def pairs(result: RecipeResult, *splits: str) -> Pairs:
    columns = [result.splits[name] for name in splits]
    return {
        (premise, hypothesis): label
        for column in columns
        for premise, hypothesis, label in zip(
            column["premise"], column["hypothesis"], column.get("label", column["schema"]), strict=True
        )
    }


def rows(split: str) -> list[list[str]]:
    """Read here by hand, not with the package."""
    lines = (REAL / "glue" / "WNLI" / f"{split}.tsv").read_text().split("\n")[1:]
    return [line.split("\t")[1:] for line in lines if line]


def released() -> list[tuple[tuple[str, str], str]]:
    return [((premise, text), WORDS[int(label)]) for premise, text, label in rows("train") + rows("dev")]


def kind(premise: str, text: str, hypotheses: dict[str, list[str]]) -> str:
    """Why a released pair is not among the built ones."""
    ours = hypotheses.get(premise)
    if ours is None:
        return "schema"
    if any(text.casefold() == other.casefold() for other in ours):
        return "capital"
    same = [other.removesuffix(".").casefold() for other in ours]
    its = text.removesuffix(".").casefold()
    if any(its.endswith(other) or other.endswith(its) for other in same):
        return "clause"
    return "words"


def counted(result: RecipeResult) -> Counter[str]:
    made = pairs(result, "train", "dev")
    hypotheses: dict[str, list[str]] = {}
    for premise, text in made:
        hypotheses.setdefault(premise, []).append(text)
    kinds = Counter[str]()
    for pair, label in released():
        if pair in made:
            assert made[pair] == label
        kinds["exact" if pair in made else kind(*pair, hypotheses)] += 1
    return kinds


@needs_real
def test_the_collection_holds_566_of_706_released_pairs_and_five_in_six_come_out_word_for_word() -> None:
    """The figures of docs/explanation/recipes.md."""
    kinds = counted(built())
    assert kinds == {"exact": 480, "schema": 140, "words": 54, "clause": 24, "capital": 8}
    assert kinds.total() == 706
    assert kinds["exact"] / (706 - kinds["schema"]) > 0.84


@needs_real
def test_with_superglues_schemas_almost_three_in_four_released_pairs_come_out() -> None:
    kinds = counted(built(**BOTH))
    assert kinds["exact"] >= 525
    assert kinds["schema"] <= 27


@needs_real
def test_superglues_hidden_file_gives_146_test_pairs_without_labels() -> None:
    result = built(test="superglue-WSC/test.jsonl")
    test = result.splits["test"]
    assert len(test["premise"]) == 146
    assert "label" not in test
    made = pairs(result, "test")
    premises = {premise for premise, _ in made}
    assert sum(premise in premises for premise, _ in rows("test")) >= 144
    assert sum((premise, text) in made for premise, text in rows("test")) >= 76


@needs_real
@pytest.mark.parametrize(("name", "schemas"), [("WSCollection.xml", 285), ("dpr_data.txt", 3662)])
def test_every_schema_of_the_collection_and_every_recast_pair_is_read(name: str, schemas: int) -> None:
    problems: list[str] = []
    found = read_winograd(FOLDER / name, problems)
    assert problems == []
    assert len(found) == schemas


@needs_real
@pytest.mark.parametrize(("name", "lines"), [("train", 554), ("val", 104), ("test", 146)])
def test_every_line_of_superglue_is_read_and_a_repeated_one_once(name: str, lines: int) -> None:
    path = FOLDER / "superglue-WSC" / f"{name}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == lines
    distinct = {
        (" ".join(record["text"].split()), record["target"]["span2_index"], record["target"]["span1_text"])
        for record in records
    }
    problems: list[str] = []
    found = read_winograd(path, problems)
    assert problems == []
    assert sum(len(schema.candidates) for schema in found) == len(distinct)


@needs_real
def test_rahman_and_ng_come_with_their_own_splits() -> None:
    result = built(files="dpr_data.txt", dev=0.5)
    made = {name: len(columns["premise"]) for name, columns in result.splits.items()}
    assert made == {"train": 2080, "dev": 486, "test": 1096}
    labels = Counter(label for columns in result.splits.values() for label in columns["label"])
    assert labels == dict.fromkeys(WORDS, 1831)


@needs_real
def test_a_draw_pair_by_pair_shares_as_much_as_the_released_dev_set() -> None:
    """65 premises and 5 hypotheses of dev stand in train; uniform draws come within two of both."""
    everything = [pair for pair, _ in released()]
    train, dev = everything[:635], everything[635:]

    def shared(train: list[tuple[str, str]], dev: list[tuple[str, str]]) -> tuple[int, int]:
        premises, texts = {pair[0] for pair in train}, {pair[1] for pair in train}
        return sum(pair[0] in premises for pair in dev), sum(pair[1] in texts for pair in dev)

    assert shared(train, dev) == (65, 5)
    chance = random.Random(0)
    draws = []
    for _ in range(400):
        order = chance.sample(everything, len(everything))
        draws.append(shared(order[71:], order[:71]))
    assert sum(premises for premises, _ in draws) / 400 == pytest.approx(65, abs=2)
    assert sum(texts for _, texts in draws) / 400 == pytest.approx(5, abs=2)
