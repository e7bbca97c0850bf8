"""Predictions from Python that are not what they should be: the message names the task and the remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID251 - what a user gives
import pytest

from gluebench.benchmark import Benchmark
from gluebench.submission import check, write_submission
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
