"""Running a system over a whole benchmark: fit each task, answer every test file."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.data import Example, load_split
from gluebench.submission import Column
from gluebench.systems.protocols import Predictor, TrainablePredictor

TRAIN = "train"
Progress = Callable[[str], None]
"""Called with a line of text before each step."""


class PredictionError(ValueError):
    """A system gave something that is no prediction of the task."""


class Answers(list[str | float]):
    """Predictions of which some only stand in for an answer that the system could not give."""

    def __init__(self, values: Sequence[str | float], unanswered: Sequence[int] = ()) -> None:
        super().__init__(values)
        self.unanswered = tuple(unanswered)
        """Their positions."""


class Answered(NamedTuple):
    """What a system said of one test file."""

    column: Column
    unanswered: tuple[int, ...] = ()
    """Positions in the column where a value stands in for an answer."""


def run(
    system: Predictor,
    benchmark: Benchmark,
    data_folder: str | os.PathLike[str],
    *,
    role: Role = "test",
    progress: Progress | None = None,
) -> dict[str, Column]:
    """Predictions for every test file of the benchmark, ready to be written as a submission.

    A task that names another in `predict_with` (AX: MNLI) is answered by the model of that one. Raises
    DataError for a file of examples that is missing or wrong, PredictionError for predictions that are none.
    """
    say = progress or (lambda line: None)
    for task in benchmark.tasks:
        if task.predict_with is None:
            fit(system, benchmark, task, data_folder, say=say)
    return {
        file.name: answer(system, benchmark, file, data_folder, role=role, say=say).column
        for file in benchmark.files(role)
    }


def fit(
    system: Predictor,
    benchmark: Benchmark,
    task: Task,
    folder: str | os.PathLike[str],
    *,
    say: Progress,
) -> None:
    """Let a system that learns learn one task. Raises DataError."""
    if isinstance(system, TrainablePredictor):
        say(f"fitting {task.name}")
        train = load_split(folder, benchmark, task.name, TRAIN)
        system.fit(task, train, _dev(benchmark, task, folder))


def answer(
    system: Predictor,
    benchmark: Benchmark,
    file: TestFile,
    folder: str | os.PathLike[str],
    *,
    role: Role,
    say: Progress,
) -> Answered:
    """Let it answer one test file. Raises DataError, PredictionError."""
    say(f"predicting {file.name}")
    task = benchmark.task(file.task)
    examples = load_split(folder, benchmark, task.name, file.splits[role].name)
    return _answers(system, benchmark, task, examples=examples)


def _dev(benchmark: Benchmark, task: Task, folder: str | os.PathLike[str]) -> list[Example]:
    splits = [file.splits["dev"].name for file in task.files if "dev" in file.splits]
    return [example for split in splits for example in load_split(folder, benchmark, task.name, split)]


def _answers(system: Predictor, benchmark: Benchmark, task: Task, *, examples: Sequence[Example]) -> Answered:
    """Predictions in the order of the indices; labels are taken from the system's sight first."""
    answering = benchmark.task(task.predict_with) if task.predict_with else task
    hidden = [
        replace(each, label=None, inputs=dict(zip(answering.columns, each.inputs.values(), strict=True)))
        for each in sorted(examples, key=lambda each: each.index)
    ]
    found = system.predict(answering, hidden)
    predicted = list(found)
    if len(predicted) != len(hidden):
        raise PredictionError(f"{task.name}: {len(predicted)} predictions for {len(hidden)} examples")
    indices = array("q", (each.index for each in hidden))
    in_order = None if list(indices) == list(range(len(indices))) else indices
    return Answered(column(task, predicted, indices=in_order), getattr(found, "unanswered", ()))


def column(task: Task, predicted: Sequence[str | float], *, indices: array[int] | None = None) -> Column:
    """Predictions as the column of a test file. Raises PredictionError for what is no label, no number."""
    if not task.labels:
        return Column((), array("d", (_number(task, value) for value in predicted)), indices)
    codes = {word: code for code, word in enumerate(task.words)}
    for value in predicted:
        if value not in codes:
            raise PredictionError(
                f"{task.name}: {value!r} is no label; expected one of {', '.join(task.words)}"
            )
    return Column(task.words, bytes(codes[str(value)] for value in predicted), indices)


def _number(task: Task, value: str | float) -> float:
    if isinstance(value, str) or not math.isfinite(value):
        raise PredictionError(f"{task.name}: {value!r} is no number; expected a score")
    return float(value)
