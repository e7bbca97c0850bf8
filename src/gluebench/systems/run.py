"""Running a system over a whole benchmark: fit each task, answer every test file."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace

from gluebench.benchmark import Benchmark, Role, Task
from gluebench.data import Example, load_split
from gluebench.submission import Column
from gluebench.systems.protocols import Predictor, TrainablePredictor

TRAIN = "train"
Progress = Callable[[str], None]
"""Called with a line of text before each step."""


class PredictionError(ValueError):
    """A system gave something that is no prediction of the task."""


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
    if isinstance(system, TrainablePredictor):
        for task in benchmark.tasks:
            if task.predict_with is None:
                say(f"fitting {task.name}")
                system.fit(
                    task,
                    load_split(data_folder, benchmark, task.name, TRAIN),
                    _dev(benchmark, task, data_folder),
                )
    columns = {}
    for file in benchmark.files(role):
        say(f"predicting {file.name}")
        task = benchmark.task(file.task)
        examples = load_split(data_folder, benchmark, task.name, file.splits[role].name)
        columns[file.name] = _answers(system, benchmark, task, examples=examples)
    return columns


def _dev(benchmark: Benchmark, task: Task, folder: str | os.PathLike[str]) -> list[Example]:
    splits = [file.splits["dev"].name for file in task.files if "dev" in file.splits]
    return [example for split in splits for example in load_split(folder, benchmark, task.name, split)]


def _answers(system: Predictor, benchmark: Benchmark, task: Task, *, examples: Sequence[Example]) -> Column:
    """Predictions in the order of the indices; labels are taken from the system's sight first."""
    answering = benchmark.task(task.predict_with) if task.predict_with else task
    hidden = [
        replace(each, label=None, inputs=dict(zip(answering.columns, each.inputs.values(), strict=True)))
        for each in sorted(examples, key=lambda each: each.index)
    ]
    predicted = list(system.predict(answering, hidden))
    if len(predicted) != len(hidden):
        raise PredictionError(f"{task.name}: {len(predicted)} predictions for {len(hidden)} examples")
    indices = array("q", (each.index for each in hidden))
    in_order = None if list(indices) == list(range(len(indices))) else indices
    return column(task, predicted, indices=in_order)


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
