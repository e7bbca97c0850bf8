"""Files of other benchmarks, against the results that their organizers give."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from real import REAL

from gluebench.scoring import f1, measure

FAMILY = REAL / "family"
pytestmark = pytest.mark.skipif(
    not FAMILY.is_dir(),
    reason=f"no files of other benchmarks at {FAMILY}; set GLUEBENCH_REAL to a folder with them",
)


def column(path: Path, name: str) -> list[str]:
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8", newline="") as file:
        quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        return [row[name] for row in csv.DictReader(file, delimiter=delimiter, quoting=quoting)]


def test_afrisenti() -> None:
    """Weighted F1, SemEval 2023 task 12."""
    expected = json.loads((FAMILY / "expected.json").read_text())
    gold = column(FAMILY / "afrisenti" / "ts_test.tsv", "label")
    predicted = column(FAMILY / "afrisenti" / "made-pred_ts.tsv", "label")
    of_file = expected["afrisenti/made-pred_ts.tsv"]
    for name, key in (
        ("weighted_f1", "f1_weighted"), ("macro_f1", "f1_macro"), ("accuracy", "f1_micro"),
        ("balanced_accuracy", "balanced_accuracy"), ("kappa", "cohen_kappa"),
    ):  # fmt: skip
        assert measure(name, gold, predicted) == pytest.approx(of_file[key], abs=1e-12)
    of_constant = expected["afrisenti all-positive"]
    assert measure("weighted_f1", gold, ["positive"] * len(gold)) == pytest.approx(of_constant["f1_weighted"])
    assert measure("macro_f1", gold, ["positive"] * len(gold)) == pytest.approx(of_constant["f1_macro"])


def test_case_2022() -> None:
    """The first subtask, with the output of the official scorer."""
    folder = FAMILY / "case22"
    gold = column(folder / "st1-truth.csv", "label")
    lines = (folder / "st1-submission.jsonl").read_text().splitlines()
    predicted = [str(json.loads(line)["prediction"]) for line in lines]
    official = dict(line.split(":") for line in (folder / "st1-official-scores.txt").read_text().split())
    for name, key in (("recall", "Recall"), ("precision", "Precision"), ("f1", "F1")):
        assert measure(name, gold, predicted, positive="1") == pytest.approx(float(official[key]))
    assert measure("accuracy", gold, predicted) == pytest.approx(float(official["Accuracy"]))
    assert measure("matthews_correlation", gold, predicted) == pytest.approx(float(official["MCC"]))
    assert f1(gold, predicted, positive="1") == pytest.approx(float(official["F1"]))


@pytest.fixture(scope="module")
def xtreme() -> dict[str, dict[str, tuple[str, str]]]:
    """Task to file to gold and predictions."""
    found: dict[str, dict[str, list[str]]] = {}
    with tarfile.open(FAMILY / "xtreme-mock" / "mock_test_data.tar.gz") as archive:
        for member in archive:
            parts = Path(member.name).parts
            if member.isfile() and len(parts) == 4 and parts[3].startswith("test-"):
                text = io.TextIOWrapper(archive.extractfile(member), encoding="utf-8").read()  # type: ignore[arg-type]
                found.setdefault(parts[2], {}).setdefault(parts[3], ["", ""])[parts[1] == "predictions"] = (
                    text
                )
    return {
        task: {name: (gold, made) for name, (gold, made) in files.items()} for task, files in found.items()
    }


def mean(files: dict[str, tuple[str, str]], name: str, read: Callable[[str, str], tuple[Any, Any]]) -> float:
    values = [measure(name, *read(*texts)) for texts in files.values()]
    return 100 * sum(values) / len(values)


def tags(gold: str, predicted: str) -> tuple[Any, Any]:
    sides = ([[line.split("\t")[-1] for line in part.split("\n")] for part in text.strip("\n").split("\n\n")]
             for text in (gold, predicted))  # fmt: skip
    return tuple(sides)  # type: ignore[return-value]


def answers(gold: str, predicted: str) -> tuple[Any, Any]:
    given = json.loads(predicted)
    questions = [
        question for article in json.loads(gold)["data"] for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]  # fmt: skip
    valid = [[answer["text"] for answer in question["answers"]] for question in questions]
    return valid, [given.get(question["id"], "") for question in questions]


def words(gold: str, predicted: str) -> tuple[Any, Any]:
    return tuple([line.split("\t")[-1] for line in text.splitlines()] for text in (gold, predicted))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("task", "name", "key", "read"),
    [
        ("panx", "entity_f1_lenient", "f1", tags),
        ("udpos", "entity_f1_lenient", "f1", tags),
        ("xquad", "exact_match", "exact_match", answers),
        ("xquad", "token_f1", "f1", answers),
        ("tydiqa", "exact_match", "exact_match", answers),
        ("tydiqa", "token_f1", "f1", answers),
        ("xnli", "accuracy", "accuracy", words),
        ("pawsx", "accuracy", "accuracy", words),
    ],
)
def test_xtreme(xtreme, task: str, name: str, key: str, read) -> None:
    """The organizers' means over the languages of their mock test data."""
    expected = json.loads((FAMILY / "xtreme-mock" / "expected.json").read_text())
    assert mean(xtreme[task], name, read) == pytest.approx(expected[task][key], abs=1e-9)
