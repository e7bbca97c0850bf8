"""Real gold and predictions of other benchmarks, hosted by manifest, against their organizers' figures."""

from __future__ import annotations

import csv
import json
import tarfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmark.family.hosting import host, table, values
from real import REAL

FAMILY = REAL / "family"
pytestmark = pytest.mark.skipif(
    not FAMILY.is_dir(),
    reason=f"no files of other benchmarks at {FAMILY}; set GLUEBENCH_REAL to a folder with them",
)


def text(*path: str) -> str:
    return FAMILY.joinpath(*path).read_bytes().decode("utf-8")


def test_causal_news(tmp_path: Path) -> None:
    """CASE 2022 task 3, subtask 1: the official scorer's output."""
    manifest = """
[tasks.Causal]
labels = { 0 = "not causal", 1 = "causal" }
metrics = [
  { name = "Recall", function = "recall", positive = "1" },
  { name = "Precision", function = "precision", positive = "1" },
  { name = "F1", function = "f1", positive = "1" },
  { name = "Accuracy", function = "accuracy" },
  { name = "MCC", function = "matthews_correlation" },
]
splits.test.size = 5
[[tasks.Causal.files]]
member = "submission.jsonl"
column = "prediction"
test = "test"
gold = { file = "st1-truth.csv", columns = { prediction = "label" } }
"""
    submission = {"submission.jsonl": text("case22", "st1-submission.jsonl")}
    report = host(tmp_path, manifest, submission, {"st1-truth.csv": text("case22", "st1-truth.csv")})
    official = dict(line.split(":") for line in text("case22", "st1-official-scores.txt").split())
    assert values(report)["Causal"] == {
        name: pytest.approx(float(official[name]), abs=1e-12)
        for name in ("Recall", "Precision", "F1", "Accuracy", "MCC")
    }


def test_causes_effects_and_signals(tmp_path: Path) -> None:
    """CASE 2022 task 3, subtask 2: the official scorer's output on all examples, and on some.

    The gold is the organizers' file, and of it the cells of several relations.
    """
    labels = {"": None, "Cause_": "ARG0", "Effect_": "ARG1", "Signal_": "SIG"}
    metrics = [
        f'{{ name = "{file}-{part}{name}", function = "relation_{name.lower()}_case", file = "{file}"'
        + f', positive = "{label}"' * bool(label)
        + " },"
        for file in ("all", "several")
        for part, label in labels.items()
        for name in ("Recall", "Precision", "F1")
    ]
    manifest = f"""
[tasks.Spans]
form = "relations"
labels = {{ ARG0 = "cause", ARG1 = "effect", SIG = "signal" }}
metrics = [{"".join(metrics)}]
splits.test = {{ size = 8, ids = "order" }}
[[tasks.Spans.files]]
name = "all"
member = "submission.jsonl"
column = "prediction"
test = "test"
gold = {{ file = "st2-truth.csv", columns = {{ prediction = "causal_text_w_pairs" }} }}
[[tasks.Spans.files]]
name = "several"
member = "submission.jsonl"
column = "prediction"
test = "test"
gaps = true
"""
    gold = text("case22", "st2-truth.csv")
    rows = [*csv.DictReader(gold.splitlines())]
    several = table(["label"], [row["causal_text_w_pairs"] * (int(row["num_rs"]) > 1) for row in rows])
    submission = {"submission.jsonl": text("case22", "st2-submission.jsonl")}
    report = host(tmp_path, manifest, submission, {"st2-truth.csv": gold, "several.csv": several})
    official = [part.splitlines()[1:] for part in text("case22", "st2-official-scores.txt").split("### ")[1:]]
    assert values(report)["Spans"] == {
        f"{file}-{name}": pytest.approx(float(value), abs=1e-12)
        for file, lines in zip(("all", "several"), official, strict=True)
        for name, value in (line.split(":") for line in filter(None, lines))
    }
    assert len(values(report)["Spans"]) == 24
    assert report.tasks["Spans"].metrics["several-F1"].n == 1


def test_sarcasm(tmp_path: Path) -> None:
    """SemEval-2022 task 6: answers with the confusion table of a real submission, to the gold of 1,400."""
    expected = json.loads(text("expected.json"))["isarcasm/CS-UM6P-task_a_en.txt"]
    manifest = """
[tasks.Sarcasm]
labels = { 0 = "not sarcastic", 1 = "sarcastic" }
metrics = [{ name = "f1", positive = "1" }, { name = "macro_f1" }, { name = "accuracy" }]
splits.test = { size = 1400, ids = "order" }
files = [{ member = "answer.txt", column = "sarcastic", gold = { file = "task_A_En_test.csv" } }]
"""
    gold = text("isarcasm", "task_A_En_test.csv")
    labels = [int(row["sarcastic"]) for row in csv.DictReader(gold.splitlines(keepends=True))]
    left = [[code for code, count in enumerate(row) for _ in range(count)] for row in expected["confusion"]]
    for row in left:
        Random(1).shuffle(row)
    lines = "".join(f"{left[label].pop()}\n" for label in labels)
    report = host(tmp_path, manifest, {"answer.txt": f"task_a_en\n{lines}"}, {"task_A_En_test.csv": gold})
    assert values(report)["Sarcasm"] == {
        "f1": pytest.approx(expected["f1_sarcastic"], abs=1e-12),
        "macro_f1": pytest.approx(expected["f1_macro"], abs=1e-12),
        "accuracy": pytest.approx(expected["accuracy"], abs=1e-12),
    }


@pytest.mark.parametrize("name", ["afrisenti/made-pred_ts.tsv", "afrisenti all-positive"])
def test_african_sentiment(tmp_path: Path, name: str) -> None:
    expected = json.loads(text("expected.json"))[name]
    functions = {
        "f1_weighted": "weighted_f1",
        "f1_macro": "macro_f1",
        "f1_micro": "accuracy",
        "recall_weighted": "accuracy",
        "balanced_accuracy": "balanced_accuracy",
        "cohen_kappa": "kappa",
    }
    there = {key: function for key, function in functions.items() if key in expected}
    metrics = ", ".join(f'{{ name = "{key}", function = "{function}" }}' for key, function in there.items())
    manifest = f"""
[tasks.Xitsonga]
labels = ["positive", "neutral", "negative"]
metrics = [{metrics}]
splits.test = {{ size = 254, ids = "ts_test_{{:05}}", first_id = 1 }}
files = [{{ member = "pred_ts.tsv", column = "label", gold = {{ file = "ts_test.tsv" }} }}]
"""
    gold = text("afrisenti", "ts_test.tsv")
    given = text("afrisenti", "made-pred_ts.tsv")
    if "all-positive" in name:
        given = "ID\tlabel\n" + "".join(f"ts_test_{at:05}\tpositive\n" for at in range(1, 255))
    report = host(tmp_path, manifest, {"pred_ts.tsv": given}, {"ts_test.tsv": gold})
    assert values(report)["Xitsonga"] == {key: pytest.approx(expected[key], abs=1e-12) for key in there}


LABELS = {"pawsx": ["0", "1"], "xnli": ["entailment", "neutral", "contradiction"]}
ORDERED = 'splits.test = {{ size = {size}, ids = "order" }}'


@pytest.fixture(scope="module")
def xtreme() -> dict[str, dict[str, list[str]]]:
    """Task to language to gold and predictions."""
    texts: dict[str, dict[str, list[str]]] = {}
    with tarfile.open(FAMILY / "xtreme-mock" / "mock_test_data.tar.gz") as archive:
        for member in archive:
            parts = Path(member.name).parts
            if member.isfile() and len(parts) == 4 and parts[3].startswith("test-"):
                file = archive.extractfile(member)
                assert file is not None
                sides = texts.setdefault(parts[2], {}).setdefault(Path(parts[3]).stem[5:], ["", ""])
                sides[parts[1] == "predictions"] = file.read().decode("utf-8")
    return texts


def questions(gold: str) -> list[str]:
    articles = json.loads(gold)["data"]
    return [qa["id"] for article in articles for part in article["paragraphs"] for qa in part["qas"]]


def kind(task: str, gold: str) -> tuple[str, str, str, list[str]]:
    """Form, split, end of the files, and metrics."""
    rows = gold.strip("\n").split("\n")
    ordered = ORDERED.format(size=len(rows))
    if task in LABELS:
        return f"labels = {LABELS[task]}", ordered, "tsv", ["accuracy"]
    if task in ("panx", "udpos"):
        sentences = gold.strip("\n").split("\n\n")
        return 'form = "tokens"', ORDERED.format(size=len(sentences)), "tsv", ["entity_f1_lenient"]
    if task == "tatoeba":
        return 'form = "text"', ordered, "tsv", ["exact_match"]
    if task == "bucc2018":
        ids = [row.split("\t")[0] for row in rows]
        split = f"splits.test = {{ size = {len(ids)}, ids = {ids} }}"
        return 'form = "sets"', split, "tsv", ["sets_micro_f1"]
    ids = questions(gold)
    split = f"splits.test = {{ size = {len(ids)}, ids = {ids} }}"
    return 'form = "text"', split, "json", ["exact_match", "token_f1"]


KEYS = {"exact_match": "exact_match", "token_f1": "f1", "accuracy": "accuracy"}
KEYS |= dict.fromkeys(("entity_f1_lenient", "sets_micro_f1"), "f1")


@pytest.mark.parametrize(
    "task", ["pawsx", "xnli", "panx", "udpos", "tatoeba", "bucc2018", "xquad", "mlqa", "tydiqa"]
)
def test_xtreme(tmp_path: Path, xtreme: dict[str, dict[str, list[str]]], task: str) -> None:
    """The organizers' means over the languages; each language is a task with a file of its own."""
    manifest, files = "", ({}, {})  # type: tuple[dict[str, str], dict[str, str]]
    for language, sides in sorted(xtreme[task].items()):
        form, split, end, metrics = kind(task, sides[0])
        form += f'\nlanguage = "{language[:2]}"' * (task == "mlqa")
        listed = ", ".join(f'{{ name = "{name}" }}' for name in metrics)
        member = f"{task}-{language}.{end}"
        column = 'column = "answers", ' if end == "json" else ""
        manifest += f"""
[tasks.{language}]
{form}
metrics = [{listed}]
{split}
files = [{{ name = "{task}-{language}", member = "{member}", {column}test = "test" }}]
"""
        for of_side, content in zip(files, sides, strict=True):
            of_side[member] = ("id\tlabel\n" if task == "bucc2018" else "") + content
    gold, given = files
    if task == "bucc2018":
        given = {name: content.replace("\tlabel", "\tprediction", 1) for name, content in given.items()}
    scores: list[dict[str, Any]] = [*values(host(tmp_path, manifest, given, gold)).values()]
    expected = json.loads(text("xtreme-mock", "expected.json"))[task]
    for name in scores[0]:
        mean = sum(of_language[name] for of_language in scores) / len(scores)
        key = "accuracy" if task == "tatoeba" else KEYS[name]
        assert 100 * mean == pytest.approx(expected[key], abs=1e-9)
