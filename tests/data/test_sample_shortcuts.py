"""On the inference tasks of the sample, models that look past the meaning stay at chance."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.shortcuts import SHORTCUTS, accuracy, chance

from gluebench.benchmark import Benchmark
from gluebench.data import Example, load_split

FILES = ("MNLI-m", "MNLI-mm", "QNLI", "RTE", "WNLI", "AX")
MARGIN = 0.03


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_is_within_three_points_of_chance(
    sample: Benchmark, sample_folder: Path, name: str, file: str
) -> None:
    record = sample.file(file)
    task = sample.task(record.task)
    learnt = task.predict_with or task.name
    train = load_split(sample_folder, sample, learnt, "train")
    test = load_split(sample_folder, sample, task.name, record.splits["test"].name)
    lines = (sample_folder / "gold" / f"{file}.tsv").read_text("utf-8").splitlines()[1:]
    gold = [line.split("\t")[1] for line in lines]
    predicted = SHORTCUTS[name](train, test)
    print(f"{file}: {name} {accuracy(predicted, gold):.3f}, chance {chance(predicted, gold):.3f}")
    above = accuracy(predicted, gold) - chance(predicted, gold)
    error = (1 / len(gold)) ** 0.5 / 2
    # a set as small as AX may leave a model that knows nothing further below chance
    assert -max(MARGIN, 2 * error) < above < MARGIN


def pair(first: str, second: str, label: str | None = None) -> Example:
    return Example(0, {"premise": first, "hypothesis": second}, label)


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("hypothesis only", ("a", "nobody came"), ("a", "people came")),
        ("overlap", ("a b c d", "a b c d"), ("a b c d", "w x y z")),
        ("length of the premise", ("a b c d e", "x"), ("a", "x")),
        ("length of the hypothesis", ("x", "a b c d e"), ("x", "a")),
        ("nearest neighbour", ("the cat sat", "a cat"), ("it rained", "it is wet")),
    ],
)
def test_a_shortcut_finds_what_it_looks_for(name: str, one: tuple[str, str], two: tuple[str, str]) -> None:
    train = [pair(*one, "entailment"), pair(*two, "neutral")] * 8
    assert SHORTCUTS[name](train, [pair(*two), pair(*one)]) == ["neutral", "entailment"]


def test_chance_by_hand() -> None:
    assert chance(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0.5
    assert chance(["a", "a", "a", "a"], ["a", "a", "a", "b"]) == 0.75
    assert chance(["a", "b", "b", "b"], ["a", "a", "a", "b"]) == (1 * 3 + 3 * 1) / 16
