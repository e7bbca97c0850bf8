"""Predictions from Python that are not what they should be: the message names the task and the remedy."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID251 - what a user gives
import polars as pl
import pytest

from gluebench.benchmark import Benchmark, UnknownNameError, load_benchmark
from gluebench.reading.notation import LARGEST
from gluebench.scoring import grade
from gluebench.submission import Column, check, write_submission
from gluebench.submission.values import SubmissionError, submission_of

RIGHT = ["1", "0", "1", "1"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((4, 2)), r"Para: .*shape \(4, 2\); expected one prediction for each example"),
        ("submission.zip", "Para: found str 'submission.zip'"),
        (None, "Para: found NoneType None"),
        (pd.DataFrame({"prediction": RIGHT}), "Para: .*columns prediction; expected index and prediction"),
        (pd.DataFrame({"index": range(4), "pred": RIGHT}), "Para: .*columns index, pred; expected"),
    ],
)
def test_values_that_are_no_predictions(tiny: Benchmark, values: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        submission_of({"Para": values}, tiny, role="dev")


def test_a_path_in_place_of_a_submission(tiny: Benchmark) -> None:
    with pytest.raises(TypeError, match=r"expected what gluebench\.check"):
        submission_of("submission.zip", tiny)  # type: ignore[arg-type]


def test_a_frame_may_have_its_index_as_its_index(tiny: Benchmark) -> None:
    frame = pd.DataFrame({"index": [3, 2, 1, 0], "prediction": RIGHT[::-1]}).set_index("index")
    assert submission_of({"Para": frame}, tiny, role="dev").predictions["Para"].words() == RIGHT


def test_a_submission_is_written_from_arrays(tiny: Benchmark, tmp_path: Path) -> None:
    write_submission(tmp_path / "a.zip", {"para": np.array([1, 0, 1, 1])}, tiny, role="dev")
    assert check(tmp_path / "a.zip", tiny, role="dev").predictions["Para"].words() == RIGHT


def test_wrong_arrays_are_not_written_and_all_of_them_are_counted(tiny: Benchmark, tmp_path: Path) -> None:
    wrong = {"Para": ["yes"] * 4, "Sim": [1.0]}
    with pytest.raises(SubmissionError, match=r"(?s)index 0 to 3.*Sim"):
        write_submission(tmp_path / "a.zip", wrong, tiny, role="dev")
    assert not (tmp_path / "a.zip").exists()


def test_a_name_given_twice_is_refused(tiny: Benchmark) -> None:
    with pytest.raises(ValueError, match=r"^'Para' is Para again; expected each test file once$"):
        submission_of({"para": RIGHT, "Para": RIGHT}, tiny, role="dev")


def test_a_task_of_two_files_needs_the_name_of_one(tiny: Benchmark) -> None:
    expected = "^Infer has 2 test files; give the predictions for Infer-m and Infer-mm$"
    with pytest.raises(ValueError, match=expected):
        submission_of({"Infer": ["neutral"] * 2}, tiny)
    found = submission_of({"Infer-mm": ["neutral"] * 2}, tiny, role="dev")
    assert found.predictions["Infer-mm"].words() == ["neutral"] * 2


def test_names_that_mean_nothing_here(tiny: Benchmark) -> None:
    with pytest.raises(UnknownNameError, match="task or test file of tiny"):
        submission_of({"Nowhere": RIGHT}, tiny)
    with pytest.raises(UnknownNameError, match="test file with a dev split"):
        submission_of({"Refer": RIGHT}, tiny, role="dev")


@pytest.mark.parametrize(
    "values",
    [
        RIGHT,
        tuple(RIGHT),
        dict(zip([3, 1, 0, 2], [RIGHT[at] for at in (3, 1, 0, 2)], strict=True)),
        np.array(RIGHT),
        pd.Series([1, 1, 0, 1], index=[3, 2, 1, 0]),
        pl.Series(RIGHT),
        pl.DataFrame({"prediction": RIGHT[::-1], "index": [3, 2, 1, 0]}),
        Column(("0", "1"), bytes([1, 0, 1, 1])),
        Column(("0", "1"), bytes([1, 1, 1, 0]), array("q", [3, 2, 0, 1])),
    ],
    ids=lambda values: type(values).__module__ + "." + type(values).__name__,
)
def test_labels_in_any_container(tiny: Benchmark, values: object) -> None:
    found = submission_of({"Para": values}, tiny, role="dev")
    assert found.problems == ()
    assert found.predictions["Para"].words() == RIGHT


@pytest.mark.parametrize(
    "values",
    [
        [0, 1.5, True, 1 / 3],
        np.array([0, 1.5, 1, 1 / 3]),
        [np.float64(0), np.float64(1.5), 1, np.float64(1 / 3)],
        ["0", "1.5", "1", repr(1 / 3)],
        Column((), array("d", [0, 1.5, 1, 1 / 3])),
    ],
)
def test_numbers_in_any_container_keep_every_digit(tiny: Benchmark, values: object) -> None:
    found = submission_of({"Sim": values}, tiny, role="dev")
    assert found.predictions["Sim"].numbers.tolist() == [0, 1.5, 1, 1 / 3]


def test_labels_may_come_one_at_a_time(tiny: Benchmark) -> None:
    found = submission_of({"Para": (int(value) for value in RIGHT)}, tiny, role="dev")
    assert found.predictions["Para"].words() == RIGHT


def test_what_is_missing_makes_it_incomplete_and_what_is_wrong_invalid(tiny: Benchmark) -> None:
    found = submission_of({"Para": RIGHT}, tiny, role="dev")
    assert (found.verdict, found.missing) == ("incomplete", ("Sim", "Infer-m", "Infer-mm"))
    assert (found.benchmark, found.role, found.unshown) == (tiny, "dev", {})
    whole = {"Para": RIGHT, "Sim": [1, 2, 3, 4.5], "Infer-m": ["neutral"] * 2, "Infer-mm": ["neutral"] * 2}
    assert submission_of(whole, tiny, role="dev").verdict == "valid"
    wrong = submission_of(whole | {"Para": [1, 0, "no\tyes", 0]}, tiny, role="dev")
    assert wrong.verdict == "invalid"
    assert [str(problem) for problem in wrong.problems] == [
        "Para (index 2): unknown-label: found 'no\\\\tyes'; expected 0 or 1. "
        "Write the label word exactly so: no quotes, spaces or decimals."
    ]


def test_a_lone_surrogate_is_a_wrong_label(tiny: Benchmark) -> None:
    (problem,) = submission_of({"Para": ["1", "\udc80", "0", "1"]}, tiny, role="dev").problems
    assert (problem.code, problem.index, problem.value) == ("unknown-label", 1, "\\udc80")


def test_more_problems_than_are_shown_are_counted() -> None:
    found = submission_of({"WNLI": ["x"] * 146}, load_benchmark("glue"))
    assert found.unshown == {"WNLI": {"unknown-label": 126}}
    error = SubmissionError(found.errors, source=found.source, unshown=found.unshown)
    assert str(error).splitlines()[0] == "predictions given from Python cannot be graded:"
    assert str(error).endswith("126 more")
    assert error.problems == list(found.errors)


@pytest.mark.parametrize(("length", "shown"), [(58, repr("x" * 58)), (59, "'" + "x" * 58 + "…")])
def test_a_long_value_is_shortened(tiny: Benchmark, length: int, shown: str) -> None:
    with pytest.raises(ValueError, match=f"^Para: found str {shown}; expected one prediction"):
        submission_of({"Para": "x" * length}, tiny, role="dev")


def test_whole_floats_of_a_list_are_the_numbers_they_are(tiny: Benchmark) -> None:
    found = submission_of({"Para": [1.0, 0.0, 1.0, 1.0]}, tiny, role="dev")
    assert found.problems == ()
    assert found.predictions["Para"].words() == ["1", "0", "1", "1"]


def test_a_mistake_of_all_values_is_said_once(tiny: Benchmark) -> None:
    found = submission_of({"Infer-m": [0, 2, 1, 0, 0, 1]}, tiny)
    assert [problem.code for problem in found.errors] == ["class-numbers"]
    with pytest.raises(SubmissionError, match='role="dev"'):
        raise SubmissionError(submission_of({"Para": list("1011")}, tiny).errors, source="mine")


METRICS = (
    "pearson",
    "spearman",
    "kendall",
    "neg_mae",
    "neg_mse",
    "neg_rmse",
    "neg_wmae",
    "r2",
    "concordance",
)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("metric", METRICS)
def test_the_largest_numbers_that_are_taken_are_graded(tmp_path: Path, metric: str) -> None:
    """An outsider's 1e300 passed the check and overflowed in grading; 1e50 leaves room for every metric."""
    (tmp_path / "b.toml").write_text(
        '[benchmark]\nname = "b"\n[tasks.T]\ncolumns = ["text"]\n'
        f'score_range = [0, 5]\nmetrics = [{{ name = "{metric}" }}]\nsplits.test.size = 60\n'
    )
    benchmark, rng = load_benchmark(tmp_path / "b.toml"), np.random.default_rng(0)
    gold, predicted = rng.uniform(0, 5, (2, 60))
    gold[::7], predicted[::5] = LARGEST * rng.choice([-1, 1], 9), LARGEST * rng.choice([-1, 1], 12)
    report = grade({"T": predicted}, {"T": gold}, benchmark=benchmark)
    json.dumps(report.as_dict(), allow_nan=False)
    too_large = submission_of({"T": [*predicted[:-1], 1e300]}, benchmark)
    assert [problem.code for problem in too_large.problems if problem.severity == "error"] == [
        "too-large-number"
    ]
