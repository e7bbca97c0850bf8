"""Run a system over a benchmark: fit each task and answer its test files; split a run into units."""

from __future__ import annotations

import math
import os
import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, SupportsFloat

from gluebench.benchmark import Benchmark, Role, Task, TestFile, load_benchmark
from gluebench.data import DataError, Example, load_split
from gluebench.submission import Column
from gluebench.systems.protocols import Predictor, TrainablePredictor

TRAIN = "train"
TENTH = 10
Say = Callable[[str], None]
"""Called with a line of text for people."""


def quiet(line: str) -> None:
    """Report nothing."""


class PredictionError(ValueError):
    """A system returned something that is not a prediction of the task."""


class Answers(list[str | float]):
    """Predictions; some may be placeholders for answers that the system could not give."""

    def __init__(
        self, values: Sequence[str | float], unanswered: Sequence[int] = (), reasons: Sequence[str] = ()
    ) -> None:
        super().__init__(values)
        self.unanswered = tuple(unanswered)
        """Positions of the placeholders."""
        self.reasons = tuple(reasons)
        """Why each of them is one."""


class FileAnswers(NamedTuple):
    """A system's predictions for one test file."""

    column: Column
    unanswered: tuple[int, ...] = ()
    """Positions in the column of placeholders for answers that the system could not give."""
    reasons: tuple[str, ...] = ()
    """Why each of them is one, if the system says it."""


def run(
    system: Predictor,
    benchmark: Benchmark | str | os.PathLike[str],
    data_folder: str | os.PathLike[str],
    *,
    role: Role = "test",
    progress: Say | None = None,
) -> dict[str, Column]:
    """Fit a system and predict every test file of the benchmark, ready to be written as a submission.

    A task that names another in `predict_with` (AX: MNLI) is answered by that task's model. Raises DataError
    for missing or invalid examples, PredictionError for invalid predictions.
    """
    say = progress or quiet
    benchmark = load_benchmark(benchmark)
    for task in benchmark.tasks:
        if task.predict_with is None:
            fit(system, benchmark, task, data_folder, say=say)
    predictions = {}
    for file in benchmark.files(role):
        answers = answer(system, benchmark, file, data_folder, role=role, say=say)
        predictions[file.name] = answers.column
    return predictions


def fit(
    system: Predictor, benchmark: Benchmark, task: Task, folder: str | os.PathLike[str], *, say: Say = quiet
) -> None:
    """Fit a trainable system on one task; do nothing for others. Raises DataError."""
    if isinstance(system, TrainablePredictor):
        say(f"fitting {task.name}")
        system.fit(task, *fit_data(benchmark, task.name, folder))


def fit_data(
    benchmark: Benchmark, name: str, folder: str | os.PathLike[str]
) -> tuple[Sequence[Example], list[Example]]:
    """Load the training examples of a task, and those of all its dev splits. Raises DataError."""
    if TRAIN not in benchmark.task(name).splits:
        advice = "run a system that is trained already, such as a checkpoint by hf:FOLDER"
        raise DataError(f"{name} has no training split; {advice}")
    train = load_split(folder, benchmark, name, TRAIN)
    dev: list[Example] = []
    for split in _dev_splits(benchmark.task(name)):
        dev += load_split(folder, benchmark, name, split)
    return train, dev


def _dev_splits(task: Task) -> list[str]:
    """The dev split of each test file that has one."""
    return [file.splits["dev"].name for file in task.files if "dev" in file.splits]


def examples_to_answer(
    benchmark: Benchmark, file: TestFile, folder: str | os.PathLike[str], role: Role
) -> list[Example]:
    """The examples of a test file in the order of their indices. Raises DataError.

    Their texts have the names of the columns that the answering model was trained on.
    """
    task = benchmark.task(file.task)
    answering = benchmark.task(task.predict_with) if task.predict_with else task
    examples = []
    for example in load_split(folder, benchmark, task.name, file.splits[role].name):
        inputs = dict(zip(answering.columns, example.inputs.values(), strict=True))
        examples.append(replace(example, inputs=inputs))
    return sorted(examples, key=lambda example: example.index)


def answer(
    system: Predictor,
    benchmark: Benchmark,
    file: TestFile,
    folder: str | os.PathLike[str],
    *,
    role: Role,
    say: Say = quiet,
    limit: int | None = None,
) -> FileAnswers:
    """Predict one test file without its labels, ordered by index. Raises DataError, PredictionError.

    With `limit`, only the examples of `draw_positions` are predicted; the others get a placeholder.
    """
    say(f"predicting {file.name}")
    task = benchmark.task(file.task)
    answering = benchmark.task(task.predict_with) if task.predict_with else task
    examples = examples_to_answer(benchmark, file, folder, role)
    hidden = [replace(example, label=None) for example in examples]
    places = draw_positions(len(hidden), limit, file.name)
    predictions = system.predict(answering, [hidden[place] for place in places])
    if not hasattr(predictions, "__len__"):
        kind = type(predictions).__name__
        raise PredictionError(
            f"{task.name}: predict gives {kind}; expected a list with an answer for each example"
        )
    if len(predictions) != len(places):
        raise PredictionError(f"{task.name}: {len(predictions)} predictions for {len(places)} examples")
    by_place = dict(zip(places, predictions, strict=True))
    placeholder = task.words[0] if task.words else 0.0
    predicted = [by_place.get(place, placeholder) for place in range(len(hidden))]
    unanswered = tuple(places[place] for place in getattr(predictions, "unanswered", ()))
    indices = array("q", (example.index for example in hidden))
    stored = None if list(indices) == list(range(len(indices))) else indices
    reasons = getattr(predictions, "reasons", ())
    return FileAnswers(column(task, predicted, indices=stored), unanswered, reasons)


def draw_positions(size: int, limit: int | None, name: str) -> Sequence[int]:
    """The positions of up to `limit` examples of a test file, ascending; the same for every system."""
    if limit is None or limit >= size:
        return range(size)
    return sorted(random.Random(name).sample(range(size), limit))


def hold_out(train: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Split off every tenth training example as a dev split, for data without one.

    Fewer than ten examples serve as both.
    """
    kept = [example for place, example in enumerate(train, 1) if place % TENTH]
    return kept, list(train[TENTH - 1 :: TENTH]) or kept


def column(task: Task, predicted: Sequence[str | float], *, indices: array[int] | None = None) -> Column:
    """Convert predictions to a column. Raises PredictionError for an invalid label or number."""
    if not task.labels:
        for value in predicted:
            if not isinstance(value, SupportsFloat) or not math.isfinite(value):
                raise PredictionError(f"{task.name}: {value!r} is not a number; expected a score")
        return Column((), array("d", map(float, predicted)), indices)
    codes = {word: code for code, word in enumerate(task.words)}
    for value in predicted:
        if not isinstance(value, str) or value not in codes:
            raise PredictionError(
                f"{task.name}: {value!r} is not a label; expected one of {', '.join(task.words)}"
            )
    return Column(task.words, bytes(codes[str(value)] for value in predicted), indices)


class Key(NamedTuple):
    """The identifier of one test file in one of its splits."""

    role: Role
    file: str


class Query(NamedTuple):
    """One test file, in one of its splits."""

    role: Role
    file: TestFile

    @property
    def key(self) -> Key:
        """The query's identifier."""
        return Key(self.role, self.file.name)


class Unit(NamedTuple):
    """The smallest part of a run that can be done separately with the same results."""

    task: Task
    """The task whose model answers."""
    queries: tuple[Query, ...]

    def splits(self) -> list[tuple[str, str]]:
        """List the task and split of everything it may read, training data first."""
        splits = []
        if TRAIN in self.task.splits:
            splits.append((self.task.name, TRAIN))
        splits += [(self.task.name, split) for split in _dev_splits(self.task)]
        splits += [(query.file.task, query.file.splits[query.role].name) for query in self.queries]
        return list(dict.fromkeys(splits))

    def size(self, effort: float = 1.0) -> float:
        """Count the examples that it reads, by the manifest, as a measure of its duration.

        `effort` is how many predictions take as long as learning from one training example.
        """
        examples = float(sum(query.file.size(query.role) for query in self.queries))
        if TRAIN in self.task.splits:
            examples += effort * self.task.splits[TRAIN].size
        return examples


def choose_tasks(benchmark: Benchmark, names: Sequence[str]) -> list[Task]:
    """Return the named tasks and those that their models answer (AX with MNLI); all without names.

    Raises UnknownNameError, and DataError for a task of another form than labels and numbers.
    """
    named = {benchmark.task(name).name for name in names} or {task.name for task in benchmark.tasks}
    return answerable([task for task in benchmark.tasks if named & {task.name, task.predict_with}])


def answerable(tasks: Sequence[Task]) -> list[Task]:
    """The tasks. Raises DataError for one that has neither labels nor numbers: no system answers it."""
    others = [f"{task.name} ({task.form})" for task in tasks if task.form not in ("labels", "numbers")]
    if others:
        name_others = "name the other tasks, as --tasks A,B, and answer these by a program of your own"
        raise DataError(f"systems answer with labels and numbers, not {', '.join(others)}; {name_others}")
    return list(tasks)


def units(benchmark: Benchmark, tasks: Sequence[Task], roles: Sequence[Role]) -> list[Unit]:
    """Group tasks into units in the manifest's order; omit those without a test file of these splits."""
    queries: dict[str, list[Query]] = {}
    for task in tasks:
        answering = benchmark.task(task.predict_with) if task.predict_with else task
        of_model = queries.setdefault(answering.name, [])
        for role in roles:
            of_model += [Query(role, file) for file in task.files if role in file.splits]
    order = [task for task in benchmark.tasks if queries.get(task.name)]
    return [Unit(task, tuple(queries[task.name])) for task in order]
