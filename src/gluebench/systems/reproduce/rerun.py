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
from gluebench.systems.majority import Majority
from gluebench.systems.reproduce.files import CannotBeHadError, check_files
from gluebench.systems.reproduce.presets import Recipe, recipe
from gluebench.systems.reproduce.row import Row, TableName, row_called
from gluebench.systems.reproduce.runs import Place, Result, Say, data_key, result_of
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
    """Why nothing of the row can be had; empty where something can."""
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
    request: Request, names: Iterable[str], place: Place, *, gold: Gold | None, say: Say
) -> list[RowResult]:
    """The rows named, run and graded. `gold` are the labels of the table's split, where there are any.

    Raises UnknownNameError for a row, preset or task, DataError where the folder for results holds runs of
    something else. What a row lacks is no error; its `RowResult` says so.
    """
    rows = [row_called(name) for name in names]
    return [_ran(row, request, place, gold=gold, say=say) for row in rows]


def _ran(row: Row, request: Request, place: Place, *, gold: Gold | None, say: Say) -> RowResult:
    own = recipe(row, request.preset, seeds=request.seeds)
    found = RowResult(row, request.preset)
    try:
        check_files(own, place.files)
        tasks = _there(_wanted(row, request, place), place, found)
        if own.best == "run":
            _together(own, tasks, found, place, say=say)
        else:
            for task in tasks:
                _alone(own, task, found, place, say=say)
    except (CannotBeHadError, WeightsError) as error:
        found.whole = getattr(error, "reasons", (str(error),))
        return found
    role = ROLES[request.table]
    for result in {id(each): each for each in found.chosen.values()}.values():
        _take(found, result, place, role)
    if request.table == "table4":
        _answer_by_majority(found, request, place)
        if found.chosen:
            write_submission(submission_path(found, place), found.columns, place.benchmark)
    if gold is not None and found.columns:
        found.report = _graded(found, gold)
    return found


def submission_path(ran: RowResult, place: Place) -> Path:
    """Where the submission of a row is left."""
    return place.out / ran.preset / ran.row.name / "submission.zip"


def _wanted(row: Row, request: Request, place: Place) -> list[Task]:
    """The tasks to train: of a diagnostic set those that answer it, and multi-task rows need all."""
    benchmark = place.benchmark
    named = {benchmark.task(name).name for name in request.tasks}
    answering = {task.predict_with for task in benchmark.diagnostics}
    found = [task for task in benchmark.scored if not named or task.name in named]
    if request.table == "table5":
        if row.training != "multi-task":
            found = []
        found += [task for task in benchmark.scored if task.name in answering and task not in found]
        return [task for task in benchmark.scored if task in found]
    if request.table == "table4" and row.training != "multi-task":
        found = [task for task in found if task.name not in row.majority]
    return found


def _there(tasks: Sequence[Task], place: Place, found: RowResult) -> list[Task]:
    """The tasks whose data are there; why not, of the others."""
    there = []
    for task in tasks:
        try:
            data_key(place, task)
            there.append(task)
        except DataError as error:
            found.reasons[task.name] = str(error)
    return there


def _together(own: Recipe, tasks: Sequence[Task], found: RowResult, place: Place, *, say: Say) -> None:
    """The run of the best macro-average on dev (of equals the first) answers all tasks."""
    if not tasks:
        return
    results = _results(own, tasks, place, say=say)
    best = max(results, key=lambda result: result.score)
    found.chosen |= dict.fromkeys((task.name for task in tasks), best)


def _alone(own: Recipe, task: Task, found: RowResult, place: Place, *, say: Say) -> None:
    """The run that is best on dev answers its task; it may be another row's."""
    owner = own.row.owner(task.name)
    if owner != own.row.name:
        own = recipe(row_called(owner), own.preset, seeds=own.seeds)
    results = _results(own, [task], place, say=say)
    found.chosen[task.name] = max(results, key=lambda result: result.scores[task.name])


def _results(own: Recipe, tasks: Sequence[Task], place: Place, *, say: Say) -> list[Result]:
    named = "+".join(task.name for task in tasks) if len(tasks) < 4 else f"{len(tasks)} tasks together"
    found = []
    for seed in own.seeds:
        say(f"{own.row.name}, {named}, seed {seed}")
        found.append(result_of(replace(own, seeds=(seed,)), tasks, place, say=say))
    return found


def _take(found: RowResult, result: Result, place: Place, role: Role) -> None:
    """The predictions of the tasks for which a run was chosen, and of the sets that these answer."""
    mine = {task for task, chosen in found.chosen.items() if chosen is result}
    predicted = result.predictions(place.benchmark, role)
    for task in place.benchmark.tasks:
        if not mine & {task.name, task.predict_with}:
            continue
        if task.name in result.absent and role == "test":
            found.reasons[task.name] = result.absent[task.name]
        found.columns |= {file.name: predicted[file.name] for file in task.files if file.name in predicted}


def _answer_by_majority(found: RowResult, request: Request, place: Place) -> None:
    """What Table 4 did for WNLI, and only it."""
    benchmark = place.benchmark
    named = {benchmark.task(name).name for name in request.tasks} or {task.name for task in benchmark.scored}
    tasks = [task for task in benchmark.scored if task.name in found.row.majority and task.name in named]
    for task in _there(tasks, place, found):
        try:
            load_split(place.corpus.folder, benchmark, task.name, task.file(task.name).splits["test"].name)
        except DataError as error:
            found.reasons[task.name] = str(error)
            continue
        part = benchmark._replace(tasks=(task,))
        found.columns |= run(Majority(), part, place.corpus.folder, role="test")
        found.majority += (task.name,)


def _graded(found: RowResult, gold: Gold) -> Report:
    """The report of what can be graded; the other predictions have no labels here."""
    columns = {name: column for name, column in found.columns.items() if name in gold.columns}
    return grade(columns, gold)
