"""Answers of any form given from Python: each container is read as labels are, by its own index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # noqa: TID251 - what a user gives
import polars as pl
import pyarrow as pa
import pytest

from gluebench import check, grade, load_benchmark
from gluebench.submission.submission import Column
from gluebench.submission.values import submission_of

Read = Callable[[str, Any], tuple[Any, ...]]
MANIFEST = """
[benchmark]
name = "answers"
[tasks]
Text = { form = "text", metrics = [{ name = "exact_match" }], splits.test.size = 3 }
Sets = { form = "sets", metrics = [{ name = "sets_accuracy" }], splits.test.size = 3 }
Named = { form = "text", metrics = [{ name = "exact_match" }], splits.test = { size = 3, ids = "x{}" } }
[tasks.Odds]
form = "probabilities"
labels = ["no", "yes"]
metrics = [{ name = "neg_brier", scale = [-1.0, 0.0] }]
splits.test.size = 3
"""
TEXTS = ("a", "b", "c")
SHUFFLED = {"index": [2, 0, 1], "prediction": ["c", "a", "b"]}
ODDS = [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]


@pytest.fixture
def cells(tmp_path: Path) -> Read:
    (tmp_path / "m.toml").write_text(MANIFEST)
    benchmark = load_benchmark(tmp_path / "m.toml")

    def read(task: str, values: Any) -> tuple[Any, ...]:
        submission = submission_of({task: values}, benchmark)
        assert submission.problems == ()
        return submission.predictions[task].cells

    return read


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(SHUFFLED["prediction"], index=SHUFFLED["index"]),
        pd.DataFrame(SHUFFLED),
        pd.DataFrame(SHUFFLED).set_index("index"),
        pl.DataFrame(SHUFFLED),
        pa.table(SHUFFLED),
        SHUFFLED,
        dict(zip(*SHUFFLED.values(), strict=True)),
    ],
    ids=lambda values: type(values).__module__ + "." + type(values).__name__,
)
def test_texts_are_in_the_order_of_their_own_index(cells: Read, values: object) -> None:
    assert cells("Text", values) == TEXTS


@pytest.mark.parametrize("values", [pd.Series(TEXTS), pd.Series(TEXTS, index=["x0", "x1", "x2"])])
def test_a_series_without_ids_is_in_the_order_of_the_ids(cells: Read, values: object) -> None:
    assert cells("Named", values) == TEXTS
    assert cells("Named", pd.Series(TEXTS[::-1], index=["x2", "x1", "x0"])) == TEXTS


@pytest.mark.parametrize(
    "values",
    [
        [np.array(row) for row in ODDS],
        [[*map(np.float32, row)] for row in ODDS],
        [{"yes": np.float32(yes), "no": no} for no, yes in ODDS],
        pd.Series([np.array(row) for row in ODDS]),
        pl.Series(ODDS),
        pa.array(ODDS),
        np.array(ODDS, np.float16),
    ],
)
def test_arrays_and_scalars_within_answers(cells: Read, values: object) -> None:
    assert cells("Odds", values) == tuple(map(tuple, ODDS))


def test_sets_of_any_kind(cells: Read) -> None:
    for values in ([np.array(["b", "a"]), {"a"}, []], pl.Series([["b", "a"], ["a"], []])):
        assert cells("Sets", values) == (("a", "b"), ("a",), ())


def test_a_column_of_texts_is_read_as_it_was(
    cells: Read,
) -> None:
    texts = ("a\tb\n", '"quoted"', " ends ")
    assert cells("Text", Column((), texts)) == texts


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
@pytest.mark.parametrize("task", ["Text", "Sets"])
def test_a_missing_answer_is_no_text(cells: Read, missing: object, task: str) -> None:
    empty = ', "" if it is empty' * (task == "Text")
    expected = rf"{task}: found .* as the answer of 1; expected an answer{empty}, not (null|NaN)"
    with pytest.raises(ValueError, match=expected):
        cells(task, ["a", missing, "c"])


@pytest.mark.parametrize("values", ["abc", {"a", "b", "c"}, 3, np.array(3), None])
def test_texts_without_an_order(cells: Read, values: object) -> None:
    with pytest.raises(ValueError, match=r"Text: found .* expected one answer for each example, in order"):
        cells("Text", values)


def test_an_answer_of_another_kind_is_named(cells: Read) -> None:
    with pytest.raises(ValueError, match="Text: found b'b' as the answer of 1; expected texts, numbers"):
        cells("Text", ["a", b"b", "c"])


@pytest.mark.parametrize("value", ["null", "NaN"])
def test_null_in_a_file_of_json_is_no_text(tmp_path: Path, value: str) -> None:
    task = 'form = "text"\nmetrics = [{ name = "exact_match" }]\nsplits.test.size = 2\n'
    (tmp_path / "m.toml").write_text(
        f'[benchmark]\nname = "m"\n[tasks.T]\n{task}files = [{{ name = "T", member = "t.jsonl" }}]\n'
    )
    lines = [f'{{"id": {at}, "prediction": {answer}}}\n' for at, answer in enumerate(['"a"', value])]
    (tmp_path / "t.jsonl").write_text("".join(lines))
    (problem,) = check(tmp_path / "t.jsonl", tmp_path / "m.toml").errors
    assert (problem.line, problem.expected) == (2, f'expected an answer, "" if it is empty, not {value}')


def test_true_and_false_are_gold_labels_of_probabilities(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(MANIFEST.replace('"no", "yes"', '"0", "1"'))
    benchmark = load_benchmark(tmp_path / "m.toml")
    gold = [True, False, True]
    task = grade({"Odds": ODDS}, {"Odds": gold}, benchmark=benchmark).as_dict()["tasks"]["Odds"]
    expected = 1 - sum((yes - label) ** 2 for (_, yes), label in zip(ODDS, gold, strict=True)) / 3
    assert task["score"]["value"] == pytest.approx(expected)
