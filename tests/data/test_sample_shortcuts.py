"""On the inference tasks of the sample, models that look past the meaning stay at chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from data.sample_rows import examples

from gluebench.analysis.audit.run import views
from gluebench.analysis.lint.shortcuts import shortcuts
from gluebench.benchmark import Benchmark, Task
from gluebench.data import Example

FILES = (("MNLI-m", "MNLI-mm", "AX"), ("QNLI",), ("RTE",), ("WNLI",))
"""Test files by the task whose train split they are predicted from."""
MARGIN = 0.03


def answered(
    name: str, task: Task, train: Sequence[Example], tests: Sequence[Sequence[Example]]
) -> list[list[str]]:
    known = {shortcut.name: shortcut for shortcut in (*shortcuts(task), *views(task))}
    view = known[name.format(first=task.columns[0], last=task.columns[-1])]
    return [[str(label) for label in answers] for answers in view.answers(task, train, tests)]


def chance(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """What the predictions would score on average if they were dealt out to the examples at random.

    On balanced labels it is one over their number, whatever is predicted.
    """
    given, wanted = Counter(predicted), Counter(gold)
    return sum(given[label] * wanted[label] for label in wanted) / len(gold) ** 2


@pytest.mark.parametrize("files", FILES, ids="-".join)
@pytest.mark.parametrize("name", ["{last}", "length of {first}", "length", "overlap", "neighbors"])
def test_a_shortcut_is_within_three_points_of_chance(
    sample: Benchmark, sample_folder: Path, name: str, files: tuple[str, ...]
) -> None:
    records = [sample.file(file) for file in files]
    tasks = [sample.task(record.task) for record in records]
    (learned,) = {task.predict_with or task.name for task in tasks}
    train = examples(sample_folder, learned, "train")
    tests = [
        examples(sample_folder, task.name, record.splits["test"].name)
        for task, record in zip(tasks, records, strict=True)
    ]
    outside = {}
    for file, predicted in zip(files, answered(name, sample.task(learned), train, tests), strict=True):
        lines = (sample_folder / "gold" / f"{file}.tsv").read_text("utf-8").splitlines()[1:]
        gold = [line.split("\t")[1] for line in lines]
        accuracy = sum(one == two for one, two in zip(predicted, gold, strict=True)) / len(gold)
        above = accuracy - chance(predicted, gold)
        error = (1 / len(gold)) ** 0.5 / 2
        # in sets as small as AX and WNLI, a model that knows nothing may be further from chance
        if not -max(MARGIN, 2 * error) < above < max(MARGIN, error):
            outside[file] = f"accuracy {accuracy:.3f}, chance {chance(predicted, gold):.3f}"
    assert outside == {}


def pair(first: str, second: str, label: str | None = None) -> Example:
    return Example(0, {"premise": first, "hypothesis": second}, label)


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("hypothesis", ("a", "nobody came"), ("a", "people came")),
        ("overlap", ("a b c d", "a b c d"), ("a b c d", "w x y z")),
        ("length of premise", ("a b c d e", "x"), ("a", "x")),
        ("length", ("x", "a b c d e"), ("x", "a")),
        ("neighbors", ("the cat sat", "a cat"), ("it rained", "it is wet")),
    ],
)
def test_a_shortcut_finds_what_it_looks_for(
    sample: Benchmark, name: str, one: tuple[str, str], two: tuple[str, str]
) -> None:
    train = [pair(*one, "entailment"), pair(*two, "neutral")] * 8
    found = answered(name, sample.task("MNLI"), train, [[pair(*two), pair(*one)]])
    assert found == [["neutral", "entailment"]]


def test_chance_by_hand() -> None:
    assert chance(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0.5
    assert chance(["a", "a", "a", "a"], ["a", "a", "a", "b"]) == 0.75
    assert chance(["a", "b", "b", "b"], ["a", "a", "a", "b"]) == (1 * 3 + 3 * 1) / 16
