"""One run of a row: trained once, its predictions made once and kept in a folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Role, Task
from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError, Example, load_split
from gluebench.data.home import task_folder
from gluebench.scoring import Gold, SubmissionError, grade
from gluebench.submission import Column, read_predictions
from gluebench.submission.write import tsv
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.protocols import Predictor
from gluebench.systems.reproduce.build import made
from gluebench.systems.reproduce.files import Files
from gluebench.systems.reproduce.presets import Recipe
from gluebench.systems.run import run
from gluebench.version import __version__

FILE = "result.json"
SCHEMA = "gluebench.reproduce/1"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """Where runs are made: with which data and files, on which device, into which folder."""

    corpus: Corpus
    files: Files
    out: Path
    dev: Gold
    """Labels of the dev splits."""
    device: str = "cpu"

    @property
    def benchmark(self) -> Benchmark:
        """Of the data."""
        return self.corpus.benchmark


class Result(NamedTuple):
    """A finished run."""

    seed: int
    scores: Mapping[str, float]
    """Task to its score on dev, as a fraction."""
    seconds: float
    folder: Path
    absent: Mapping[str, str]
    """Task to why its test split was not predicted."""

    @property
    def score(self) -> float:
        """The macro-average on dev of the tasks of the run."""
        return sum(self.scores.values()) / len(self.scores)

    def predictions(self, benchmark: Benchmark, role: Role) -> Mapping[str, Column]:
        """Those kept for a role, by test file."""
        folder = self.folder / role
        if not folder.is_dir():
            return {}
        predictions = read_predictions(folder, benchmark, role=role)
        wrong = [problem for problem in predictions.problems if problem.severity == "error"]
        if wrong:
            raise SubmissionError(wrong, source=str(folder))
        return predictions.columns


def result_of(recipe: Recipe, tasks: Sequence[Task], setup: Setup, *, say: Say) -> Result:
    """The run of a recipe of one seed on these tasks: as kept, or made now and kept.

    Raises CannotBeHadError, WeightsError, and DataError for data that are missing or for a folder that holds
    a run of something else.
    """
    (seed,) = recipe.seeds
    folder = run_folder(recipe, tasks, setup) / f"seed-{seed}"
    identity = recipe.as_dict() | {
        "tasks": [task.name for task in tasks],
        "seed": seed,
        "data": {task.name: data_key(setup, task) for task in tasks},
        "files": setup.files.sizes(recipe.row.needs),
    }
    kept = _kept(folder, identity)
    if kept is not None:
        return kept
    began = time.monotonic()
    corpus, own = _stored(recipe, tasks, setup, folder)
    system = made(recipe, corpus, setup.files, folder=own, device=setup.device, say=say)
    part = setup.benchmark._replace(tasks=tuple(tasks))
    dev = run(system, part, setup.corpus.folder, role="dev")
    answering, absent = _with_test(setup, tasks)
    test_part = setup.benchmark._replace(tasks=tuple(answering))
    test = run(_Fitted(system), test_part, setup.corpus.folder, role="test") if answering else {}
    _write(folder, {"dev": dev, "test": test})
    seconds = round(time.monotonic() - began, 2)
    result = Result(seed, _dev_scores(dev, setup, tasks), seconds, folder, absent)
    _keep(result, identity)
    return result


def _stored(recipe: Recipe, tasks: Sequence[Task], setup: Setup, folder: Path) -> tuple[Corpus, Path]:
    """The corpus of a run, and where it keeps what it works with.

    A frozen row's sentences are stored once for all seeds, and for all tasks too unless their vectors depend
    on the batch: those were made task by task. CBoW may train its word vectors on all tasks.
    """
    if recipe.probe is None:
        return setup.corpus, folder / "training"
    shared = folder.parent if recipe.encoder.get("padding") == "zero" else folder.parents[1]
    if recipe.encoder["reader"] == "cbow":
        return setup.corpus, shared
    names = {task.name for task in tasks}
    mine = [task for task in setup.benchmark.tasks if names & {task.name, task.predict_with}]
    return Corpus(setup.benchmark, setup.corpus.folder, mine), shared


def run_folder(recipe: Recipe, tasks: Sequence[Task], setup: Setup) -> Path:
    """Where the runs of a recipe on these tasks are, a folder for each seed."""
    whole = [task.name for task in tasks] == [task.name for task in setup.benchmark.scored]
    names = "together" if whole and len(tasks) > 1 else "+".join(task.name for task in tasks)
    return setup.out / recipe.preset / recipe.row.name / quote(names, safe="+")


def data_key(setup: Setup, task: Task) -> dict[str, int]:
    """The files of a task and their sizes, which identify its data cheaply. Raises DataError."""
    folder = task_folder(setup.corpus.folder, setup.benchmark, task)
    return {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}


class _Fitted:
    """A trained system, which predicts and is not fitted again."""

    def __init__(self, system: Predictor) -> None:
        self.predict: Callable[[Task, Sequence[Example]], Sequence[str | float]] = system.predict


def _with_test(setup: Setup, tasks: Sequence[Task]) -> tuple[list[Task], dict[str, str]]:
    """The tasks whose test examples are there, with those they answer, and what is wrong with others."""
    names = {task.name for task in tasks}
    answering, absent = [], {}
    for task in setup.benchmark.tasks:
        if not names & {task.name, task.predict_with}:
            continue
        try:
            for file in task.files:
                if "test" in file.splits:
                    load_split(setup.corpus.folder, setup.benchmark, task.name, file.splits["test"].name)
            answering.append(task)
        except DataError as error:
            absent[task.name] = str(error)
    return answering, absent


def _dev_scores(dev: Mapping[str, Column], setup: Setup, tasks: Sequence[Task]) -> dict[str, float]:
    report = grade(dev, setup.dev, intervals=False)
    scores = {task.name: report.tasks[task.name].score for task in tasks}
    return {name: score.value for name, score in scores.items() if score and score.value is not None}


def _write(folder: Path, columns: Mapping[str, Mapping[str, Column]]) -> None:
    for role, predictions in columns.items():
        (folder / role).mkdir(parents=True, exist_ok=True)
        for name, column in predictions.items():
            (folder / role / f"{name}.tsv").write_bytes(tsv(column))


def _keep(result: Result, identity: Mapping[str, Any]) -> None:
    """Written last and whole: from then on the run is finished."""
    values = {
        "schema": SCHEMA,
        "gluebench": __version__,
        "run": dict(identity),
        "dev": dict(result.scores),
        "seconds": result.seconds,
        "absent": dict(result.absent),
    }
    write_json(result.folder / FILE, values)


def _kept(folder: Path, identity: Mapping[str, Any]) -> Result | None:
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        saved, seed = values["run"], values["run"]["seed"]
        result = Result(seed, values["dev"], values["seconds"], folder, values["absent"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError([f"{path}: not the result of a run ({error}); remove {folder} to run anew"]) from None
    expected = json.loads(json.dumps(identity))
    differing = sorted(name for name in {*saved, *expected} if saved.get(name) != expected.get(name))
    if differing:
        what = f"a run that differs in {', '.join(differing)}"
        raise DataError([f"{folder}: holds {what}; name another folder with --out, or remove that one"])
    return result
