"""Rows run again: every run that a table needs, the best of them, and their scores beside those printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Role, Task
from gluebench.data import DataError, load_split
from gluebench.scoring import Gold, Report, grade
from gluebench.submission import Column, write_submission
from gluebench.systems.overlap import Majority
from gluebench.systems.reproduce.files import CannotBeHadError, check_files
from gluebench.systems.reproduce.presets import Recipe, recipe
from gluebench.systems.reproduce.row import Row, TableName, row_called
from gluebench.systems.reproduce.runs import Result, Say, Setup, data_key, result_of
from gluebench.systems.run import run
from gluebench.systems.weights import WeightsError

ROLES: Mapping[TableName, Role] = {"table4": "test", "table5": "test", "table6": "dev"}
"""Split that each table is of; the diagnostic set is a test split."""


@dataclass(slots=True)
class RowResult:
    """What became of a row."""

    row: Row
    preset: str
    columns: dict[str, Column] = field(default_factory=dict)
    """Predictions of the best runs, by test file, for the table's split."""
    chosen: dict[str, Result] = field(default_factory=dict)
    """Task to the run that answers it."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Task to why it has no score."""
    whole: tuple[str, ...] = ()
    """Why the row has no results at all; empty where it has some."""
    majority: tuple[str, ...] = ()
    """Tasks answered by their majority class."""
    report: Report | None = None


class Request(NamedTuple):
    """What the user asked for."""

    table: TableName
    preset: str
    tasks: tuple[str, ...] = ()
    """Empty for all."""
    seeds: tuple[int, ...] = ()
    """Empty for the preset's."""


def reproduce(
    request: Request, names: Iterable[str], setup: Setup, *, gold: Gold | None, say: Say
) -> list[RowResult]:
    """The rows named, run and graded. `gold` are the labels of the table's split, where there are any.

    Raises UnknownNameError for a row, preset or task, DataError where the folder for results holds runs of
    something else. What a row lacks is no error; its `RowResult` says so.
    """
    rows = [row_called(name) for name in names]
    return [_ran(row, request, setup, gold=gold, say=say) for row in rows]


def _ran(row: Row, request: Request, setup: Setup, *, gold: Gold | None, say: Say) -> RowResult:
    own = recipe(row, request.preset, seeds=request.seeds)
    outcome = RowResult(row, request.preset)
    try:
        check_files(own, setup.files)
        tasks = _there(_tasks_to_train(row, request, setup), setup, outcome)
        if own.best == "run":
            _together(own, tasks, outcome, setup, say=say)
        else:
            for task in tasks:
                _alone(own, task, outcome, setup, say=say)
    except (CannotBeHadError, WeightsError) as error:
        outcome.whole = getattr(error, "reasons", (str(error),))
        return outcome
    role = ROLES[request.table]
    for result in {id(chosen): chosen for chosen in outcome.chosen.values()}.values():
        _take(outcome, result, setup, role)
    if request.table == "table4":
        _answer_by_majority(outcome, request, setup)
        if outcome.chosen:
            write_submission(submission_path(outcome, setup), outcome.columns, setup.benchmark)
    if gold is not None and outcome.columns:
        outcome.report = _graded(outcome, gold)
    return outcome


def submission_path(ran: RowResult, setup: Setup) -> Path:
    """Where the submission of a row is left."""
    return setup.out / ran.preset / ran.row.name / "submission.zip"


def _tasks_to_train(row: Row, request: Request, setup: Setup) -> list[Task]:
    """The tasks to train: of a diagnostic set those that answer it, and multi-task rows need all."""
    benchmark = setup.benchmark
    named = {benchmark.task(name).name for name in request.tasks}
    answering = {task.predict_with for task in benchmark.diagnostics}
    tasks = [task for task in benchmark.scored if not named or task.name in named]
    if request.table == "table5":
        if row.training != "multi-task":
            tasks = []
        tasks += [task for task in benchmark.scored if task.name in answering and task not in tasks]
        return [task for task in benchmark.scored if task in tasks]
    if request.table == "table4" and row.training != "multi-task":
        tasks = [task for task in tasks if task.name not in row.majority]
    return tasks


def _there(tasks: Sequence[Task], setup: Setup, outcome: RowResult) -> list[Task]:
    """The tasks whose data are there; why not, of the others."""
    there = []
    for task in tasks:
        try:
            data_key(setup, task)
            there.append(task)
        except DataError as error:
            outcome.reasons[task.name] = str(error)
    return there


def _together(own: Recipe, tasks: Sequence[Task], outcome: RowResult, setup: Setup, *, say: Say) -> None:
    """The run of the best macro-average on dev (of equals the first) answers all tasks."""
    if not tasks:
        return
    results = _results(own, tasks, setup, say=say)
    best = max(results, key=lambda result: result.score)
    outcome.chosen |= dict.fromkeys((task.name for task in tasks), best)


def _alone(own: Recipe, task: Task, outcome: RowResult, setup: Setup, *, say: Say) -> None:
    """The run that is best on dev answers its task; it may be another row's."""
    owner = own.row.owner(task.name)
    if owner != own.row.name:
        own = recipe(row_called(owner), own.preset, seeds=own.seeds)
    results = _results(own, [task], setup, say=say)
    outcome.chosen[task.name] = max(results, key=lambda result: result.scores[task.name])


def _results(own: Recipe, tasks: Sequence[Task], setup: Setup, *, say: Say) -> list[Result]:
    named = "+".join(task.name for task in tasks) if len(tasks) < 4 else f"{len(tasks)} tasks together"
    results = []
    for seed in own.seeds:
        say(f"{own.row.name}, {named}, seed {seed}")
        results.append(result_of(replace(own, seeds=(seed,)), tasks, setup, say=say))
    return results


def _take(outcome: RowResult, result: Result, setup: Setup, role: Role) -> None:
    """The predictions of the tasks for which a run was chosen, and of the sets that these answer."""
    mine = {task for task, chosen in outcome.chosen.items() if chosen is result}
    predicted = result.predictions(setup.benchmark, role)
    for task in setup.benchmark.tasks:
        if not mine & {task.name, task.predict_with}:
            continue
        if task.name in result.absent and role == "test":
            outcome.reasons[task.name] = result.absent[task.name]
        outcome.columns |= {file.name: predicted[file.name] for file in task.files if file.name in predicted}


def _answer_by_majority(outcome: RowResult, request: Request, setup: Setup) -> None:
    """What Table 4 did for WNLI, and only it."""
    benchmark = setup.benchmark
    named = {benchmark.task(name).name for name in request.tasks} or {task.name for task in benchmark.scored}
    tasks = [task for task in benchmark.scored if task.name in outcome.row.majority and task.name in named]
    for task in _there(tasks, setup, outcome):
        try:
            load_split(setup.corpus.folder, benchmark, task.name, task.file(task.name).splits["test"].name)
        except DataError as error:
            outcome.reasons[task.name] = str(error)
            continue
        part = benchmark._replace(tasks=(task,))
        outcome.columns |= run(Majority(), part, setup.corpus.folder, role="test")
        outcome.majority += (task.name,)


def _graded(outcome: RowResult, gold: Gold) -> Report:
    """The report of what can be graded; the other predictions have no labels here."""
    columns = {name: column for name, column in outcome.columns.items() if name in gold.columns}
    return grade(columns, gold)
