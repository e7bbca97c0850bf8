"""Output folders of training programs, as their own writers leave them, become submissions in one call."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gluebench import load_benchmark
from gluebench.benchmark import Benchmark
from gluebench.submission import check, read_predictions, write_submission

CLASS_NAMES = {
    "CoLA": ("unacceptable", "acceptable"),
    "SST-2": ("negative", "positive"),
    "MRPC": ("not_equivalent", "equivalent"),
    "WNLI": ("not_entailment", "entailment"),
}
"""Names of the classes in the data sets that run_glue.py loads, where they are not the words of GLUE."""
BERT_ORDER = ("contradiction", "entailment", "neutral")
"""MnliProcessor.get_labels of google-research/bert."""
SMALL = ("CoLA", "MRPC", "STS-B", "RTE", "WNLI", "MNLI-m", "MNLI-mm", "AX")
Values = Mapping[str, list[str]]


@pytest.fixture(scope="module")
def glue() -> Benchmark:
    return load_benchmark("glue")


@pytest.fixture(scope="module")
def meant(glue: Benchmark) -> Values:
    rng = random.Random(0)
    values = {}
    for name in SMALL:
        file = glue.file(name)
        words = glue.task(file.task).words
        values[name] = [
            rng.choice(words) if words else repr(rng.randrange(500) / 100) for _ in range(file.size())
        ]
    return values


def put(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def run_glue(root: Path, meant: Values, glue: Benchmark) -> None:
    """`examples/pytorch/text-classification/run_glue.py --do_predict`, a folder for each task."""
    names = {"MNLI-m": "mnli", "MNLI-mm": "mnli-mm", "CoLA": "cola", "STS-B": "stsb"}
    for name, values in meant.items():
        if name in ("AX", "SST-2"):
            continue
        short = names.get(name, name.lower())
        folder = short.partition("-")[0]
        words = glue.task(glue.file(name).task).words
        classes = dict(zip(words, CLASS_NAMES.get(name, words), strict=True))
        lines = "".join(f"{at}\t{classes.get(value, value)}\n" for at, value in enumerate(values))
        put(root, f"{folder}/predict_results_{short}.txt", "index\tprediction\n" + lines)
        for other in ("all_results.json", "eval_results.json", "train_results.json", "trainer_state.json"):
            put(root, f"{folder}/{other}", json.dumps({"epoch": 3.0, "eval_loss": 0.5}))
        put(root, f"{folder}/config.json", json.dumps({"id2label": dict(enumerate(classes.values()))}))
        put(root, f"{folder}/vocab.txt", "[PAD]\n[UNK]\nthe\n")
        put(root, f"{folder}/checkpoint-500/trainer_state.json", "{}")


def bert(root: Path, meant: Values, glue: Benchmark) -> None:
    """`run_classifier.py --do_predict=true` of google-research/bert: probabilities alone."""
    rng = random.Random(1)
    for name, values in meant.items():
        order = glue.task(glue.file(name).task).words
        if name == "MNLI-m":
            order = BERT_ORDER
        elif not order or name in ("MNLI-mm", "AX"):
            continue
        lines = []
        for value in values:
            numbers = [rng.uniform(0, 0.3) for _ in order]
            numbers[order.index(value)] = rng.uniform(0.4, 1)
            lines.append("\t".join(map(str, numbers)) + "\n")
        folder = "MNLI" if name == "MNLI-m" else name
        put(root, f"{folder}/test_results.tsv", "".join(lines))
        put(root, f"{folder}/eval_results.txt", "eval_accuracy = 0.5\nloss = 0.6\n")


def fairseq(root: Path, meant: Values, glue: Benchmark) -> None:
    """The loop of fairseq's RoBERTa README, with a label a line."""
    for name, values in meant.items():
        put(root, f"{name}.txt", "".join(f"{value}\n" for value in values))


def jiant(root: Path, meant: Values, glue: Benchmark) -> None:
    """A run of jiant: predictions beside logs and checkpoints."""
    for name, values in meant.items():
        lines = "".join(f"{at}\t{value}\n" for at, value in enumerate(values))
        put(root, f"run/test_preds/{name}.tsv", "index\tprediction\n" + lines)
    put(root, "run/log.log", "epoch 1\n")
    put(root, "run/results.tsv", "macro_avg: 0.5\n")
    put(root, "run/params.conf", "seed = 1\n")


def jiant_lines(root: Path, meant: Values, glue: Benchmark) -> None:
    """The same with an object in each line."""
    for name, values in meant.items():
        lines = [json.dumps({"idx": at, "label": value}) + "\n" for at, value in enumerate(values)]
        put(root, f"run/test_preds/{name}.json", "".join(lines))
    put(root, "run/log.log", "epoch 1\n")


@pytest.mark.parametrize("program", [run_glue, bert, fairseq, jiant, jiant_lines])
def test_an_output_folder_becomes_a_submission(
    tmp_path: Path, glue: Benchmark, meant: Values, program: Callable[[Path, Values, Benchmark], None]
) -> None:
    program(tmp_path / "out", meant, glue)
    labels = (BERT_ORDER,) if program is bert else ()
    read = read_predictions(tmp_path / "out", glue, labels=labels, argmax=program is bert)
    assert not read.problems
    write_submission(tmp_path / "s.zip", read.columns, glue)
    written = check(tmp_path / "s.zip", glue)
    assert not written.errors
    left_out = {"run_glue": {"AX"}, "bert": {"STS-B", "MNLI-mm", "AX"}}.get(program.__name__, set())
    assert {*written.predictions} == {*meant} - left_out
    for name, column in written.predictions.items():
        values = column.words() if column.labels else [*map(repr, column.numbers)]
        assert values == meant[name], name


def test_links_and_deep_folders_of_output_are_left_out(tmp_path: Path, glue: Benchmark) -> None:
    text = "index\tprediction\n" + "".join(f"{at}\t{at % 2}\n" for at in range(1725))
    put(tmp_path, "elsewhere/x.tsv", text)
    put(tmp_path, "out/a/b/c/d/MRPC.tsv", text)
    (tmp_path / "out/a/MRPC.tsv").symlink_to(tmp_path / "elsewhere/x.tsv")
    (tmp_path / "out/linked").symlink_to(tmp_path / "elsewhere")
    rows = text.splitlines(keepends=True)[: 1 + 1063]
    put(tmp_path, "out/x/CoLA.tsv", "".join(rows))
    assert [*read_predictions(tmp_path / "out", glue).columns] == ["CoLA"]
    put(tmp_path, "out/a/b/c/MRPC.tsv", text)
    assert {*read_predictions(tmp_path / "out", glue).columns} == {"CoLA", "MRPC"}


def test_two_folders_with_the_same_task_are_named(tmp_path: Path, glue: Benchmark) -> None:
    text = "index\tprediction\n" + "".join(f"{at}\t{at % 2}\n" for at in range(1063))
    put(tmp_path, "out/seed1/CoLA.tsv", text)
    put(tmp_path, "out/seed2/CoLA.tsv", text)
    (problem,) = read_predictions(tmp_path / "out", glue).problems
    assert problem.code == "two-files"
