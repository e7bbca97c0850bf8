"""True labels that stand beside the predictions are never graded in their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.submission import check
from gluebench.submission.write import fix_submission

TRUE = ["yes", "no", "yes", "no", "yes", "yes"]
SAID = ["yes", "yes", "yes", "no", "no", "yes"]
MANIFEST = """
[benchmark]
name = "mini"

[tasks.T]
labels = ["yes", "no"]
metrics = [{ name = "accuracy" }]
splits.test.size = 6
"""
OTHERS: dict[str, list[Any]] = {
    "y_pred": SAID,
    "response": [word.upper() for word in SAID],
    "output": [int(word == "no") for word in SAID],
    "logits": [[0.2, 0.8] if word == "no" else [0.7, 0.3] for word in SAID],
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    (tmp_path / "mini.toml").write_text(MANIFEST)
    return load_benchmark(tmp_path / "mini.toml")


def written(folder: Path, form: str, columns: dict[str, list[Any]]) -> Path:
    path = folder / f"T.{form}"
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if form == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path
    separator = "," if form == "csv" else "\t"
    rows = [separator.join(columns), *(separator.join(map(str, record.values())) for record in records)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("gold", ["label", "labels"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv"])
def test_two_columns_that_may_be_the_answers_are_refused(
    form: str, gold: str, name: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    if name == "logits" and form != "jsonl":
        first, second = zip(*OTHERS["logits"], strict=True)
        others: dict[str, list[Any]] = {"p_yes": [*first], "p_no": [*second]}
    else:
        others = {name: OTHERS[name]}
    path = written(tmp_path, form, {"index": [*range(6)], gold: TRUE, **others})
    assert check(path, benchmark).verdict == "invalid"
    refused = fix_submission(path, tmp_path / "out.zip", benchmark).problems
    (problem,) = [problem for problem in refused if problem.code == "two-columns"]
    assert next(iter(others)) in problem.expected.casefold()
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_column_called_prediction_is_the_answer_whatever_stands_beside(
    form: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    columns = {"index": [*range(6)], "label": TRUE, "prediction": SAID}
    path = written(tmp_path, form, columns)
    assert not fix_submission(path, tmp_path / "out.zip", benchmark).problems
    assert [*check(tmp_path / "out.zip", benchmark).predictions["T"].words()] == SAID


def test_a_score_beside_a_label_is_how_sure_a_pipeline_is(benchmark: Benchmark, tmp_path: Path) -> None:
    columns = {"index": [*range(6)], "label": SAID, "score": [0.9, 0.8, 0.7, 0.95, 0.6, 0.55]}
    path = written(tmp_path, "jsonl", columns)
    assert not fix_submission(path, tmp_path / "out.zip", benchmark).problems


def test_labels_beside_sentences_are_taken_as_a_guess(benchmark: Benchmark, tmp_path: Path) -> None:
    columns = {"index": [*range(6)], "sentence": [f"Text {at}." for at in range(6)], "label": SAID}
    submission = check(written(tmp_path, "tsv", columns), benchmark)
    (problem,) = [problem for problem in submission.problems if problem.code == "more-columns"]
    assert problem.repair.startswith("guess: the column label taken for the predictions")
