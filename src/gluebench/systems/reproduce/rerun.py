"""Reproduce rows: train every run that a table needs once, keep it, and grade the best runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Role, Task
from gluebench.data import DataError, load_split
from gluebench.data.home import task_folder
from gluebench.scoring import Gold, Report, grade
from gluebench.submission import Column, write_submission
from gluebench.systems.adapters.session import RunPlan, Session
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.overlap import Majority
from gluebench.systems.reproduce.build import system_of
from gluebench.systems.reproduce.row import Files, MissingFilesError, Row, TableName, check_files, row_called
from gluebench.systems.run import Say, run
from gluebench.systems.weights import WeightsError

ROLES: Mapping[TableName, Role] = {"table4": "test", "table5": "test", "table6": "dev"}
"""Split that each table reports; the diagnostic set is a test split."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The data, files, device and output folder of the runs."""

    corpus: Corpus
    files: Files
    out: Path
    dev: Gold
    """Labels of the dev splits."""
    device: str = "cpu"

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark of the data."""
        return self.corpus.benchmark


class Request(NamedTuple):
    """The table, preset, tasks and seeds to reproduce."""

    table: TableName
    preset: str
    tasks: tuple[str, ...] = ()
    """Empty for all."""
    seeds: tuple[int, ...] = ()
    """Empty for the preset's."""
    precision: str | None = None
    """None for the row's."""
    changes: tuple[str, ...] = ()
    """Settings of training to change, as "NAME=VALUE"."""

    def rows(self, names: Iterable[str]) -> list[Row]:
        """The named rows as requested. Raises UnknownNameError, and ValueError for an impossible change."""
        rows = []
        for name in names:
            row = row_called(name)
            rows.append(row.at(self.preset, seeds=self.seeds, precision=self.precision, changes=self.changes))
        return rows


class Result(NamedTuple):
    """A finished run."""

    seed: int
    scores: Mapping[str, float]
    """Task to its score on dev, as a fraction."""
    seconds: float
    session: Session
    """The predictions, in its folder."""
    absent: Mapping[str, str]
    """Task to why its test split was not predicted."""

    @property
    def score(self) -> float:
        """The macro-average on dev of the tasks of the run."""
        return sum(self.scores.values()) / len(self.scores)


@dataclass(slots=True)
class RowResult:
    """The outcome of one row."""

    row: Row
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


def reproduce(
    request: Request, names: Iterable[str], setup: Setup, *, gold: Gold | None, say: Say
) -> list[RowResult]:
    """Run and grade the named rows. `gold` has the labels of the table's split, if there are any.

    Raises what `Request.rows` does, and DataError if the results folder holds other runs. Missing files or
    data are not an error; the `RowResult` gives the reason.
    """
    rows = request.rows(names)
    return [_reproduce(row, request, setup, gold=gold, say=say) for row in rows]


def submission_path(ran: RowResult, setup: Setup) -> Path:
    """Return the path of a row's submission."""
    return setup.out / ran.row.preset / ran.row.name / "submission.zip"


def _reproduce(row: Row, request: Request, setup: Setup, *, gold: Gold | None, say: Say) -> RowResult:
    ran = RowResult(row)
    try:
        check_files(row, setup.files)
        tasks = _tasks_with_data(_tasks_to_train(row, request, setup), setup, ran)
        _choose_runs(ran, tasks, setup, say=say)
    except (MissingFilesError, WeightsError) as error:
        ran.whole = getattr(error, "reasons", (str(error),))
        return ran
    role = ROLES[request.table]
    for result in {id(chosen): chosen for chosen in ran.chosen.values()}.values():
        _take_predictions(ran, result, setup, role)
    if request.table == "table4":
        _answer_by_majority(ran, request, setup)
        if ran.chosen:
            write_submission(submission_path(ran, setup), ran.columns, setup.benchmark)
    if gold is not None and ran.columns:  # only what has labels here can be graded
        ran.report = grade({name: own for name, own in ran.columns.items() if name in gold.columns}, gold)
    return ran


def _tasks_to_train(row: Row, request: Request, setup: Setup) -> list[Task]:
    """Return the tasks to train; for Table 5, single-task rows train only those that answer its set."""
    benchmark = setup.benchmark
    names = {benchmark.task(name).name for name in request.tasks} or {task.name for task in benchmark.scored}
    if request.table == "table5":
        answering = {task.predict_with or "" for task in benchmark.diagnostics}
        names = names | answering if row.training == "multi-task" else answering
    elif request.table == "table4" and row.training != "multi-task":
        names = names - set(row.majority)
    return [task for task in benchmark.scored if task.name in names]


def _tasks_with_data(tasks: Sequence[Task], setup: Setup, ran: RowResult) -> list[Task]:
    """Return the tasks whose data are present; record the reason for each other task."""
    present = []
    for task in tasks:
        try:
            task_folder(setup.corpus.folder, setup.benchmark, task)
            present.append(task)
        except DataError as error:
            ran.reasons[task.name] = str(error)
    return present


def _choose_runs(ran: RowResult, tasks: Sequence[Task], setup: Setup, *, say: Say) -> None:
    """Run all seeds; choose the run with the best dev macro-average, or each task's best run (section 6).

    Ties go to the first run. A task may use another row's run (`Row.owners`).
    """
    row = ran.row
    if row.best == "run" and tasks:
        results = _results(row, tasks, setup, say=say)
        best = max(results, key=lambda result: result.score)
        ran.chosen = {task.name: best for task in tasks}
    elif row.best == "task":
        for task in tasks:
            own = row
            if task.name in row.owners:
                owner = row_called(row.owners[task.name])
                own = owner.at(row.preset, seeds=row.seeds, precision=row.precision, changes=row.changes)
            results = _results(own, [task], setup, say=say)
            ran.chosen[task.name] = max(results, key=lambda result: result.scores[task.name])


def _results(row: Row, tasks: Sequence[Task], setup: Setup, *, say: Say) -> list[Result]:
    names = "+".join(task.name for task in tasks) if len(tasks) < 4 else f"{len(tasks)} tasks together"
    results = []
    for seed in row.seeds:
        say(f"{row.name}, {names}, seed {seed}")
        results.append(_result(replace(row, seeds=(seed,)), tasks, setup, say=say))
    return results


def _result(row: Row, tasks: Sequence[Task], setup: Setup, *, say: Say) -> Result:
    """Return a row's run with one seed on these tasks: the kept one, or a new one, which is kept.

    Raises MissingFilesError, WeightsError, or DataError for missing data or a folder with another run.
    """
    (seed,) = row.seeds
    whole = [task.name for task in tasks] == [task.name for task in setup.benchmark.scored]
    names = "together" if whole and len(tasks) > 1 else "+".join(task.name for task in tasks)
    folder = setup.out / row.preset / row.name / quote(names, safe="+") / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    answered = _with_answered(setup, tasks)
    absent = {task.name: reason for task in answered if (reason := _absent_test(setup, task))}
    plan = RunPlan(setup.benchmark, setup.corpus.folder, answered, absent=absent)
    about = {"tasks": [task.name for task in tasks], "seed": seed, "files": setup.files.sizes(row.needs)}
    session = Session(folder, plan, row.identity() | about)
    session.claim("name another folder with --out, or remove that one")
    if session.missing():
        corpus, work_folder = _corpus_and_folder(row, tasks, setup, folder)
        system = system_of(row, corpus, setup.files, folder=work_folder, device=setup.device, say=say)
        session.run(system, together=row.training == "multi-task")
    report = grade(session.columns("dev"), setup.dev, intervals=False)
    scores = {task.name: report.tasks[task.name].score for task in tasks}
    values = {name: score.value for name, score in scores.items() if score and score.value is not None}
    seconds = sum(result.seconds for result in session.results().values())
    return Result(seed, values, seconds, session, absent)


def _absent_test(setup: Setup, task: Task) -> str:
    """Why a task has no test examples; empty if it has all."""
    try:
        for file in task.files:
            if "test" in file.splits:
                load_split(setup.corpus.folder, setup.benchmark, task.name, file.splits["test"].name)
    except DataError as error:
        return str(error)
    return ""


def _corpus_and_folder(row: Row, tasks: Sequence[Task], setup: Setup, folder: Path) -> tuple[Corpus, Path]:
    """Return a run's corpus and the folder of its intermediate files.

    A frozen row stores sentence vectors once for all seeds, and once for all tasks unless they depend on the
    batch. CBoW gets the whole corpus because it may train its word vectors on all tasks.
    """
    if row.probe is None:
        return setup.corpus, folder / "training"
    shared = folder.parent if row.encoder.get("padding") == "zero" else folder.parents[1]
    if row.encoder["reader"] == "cbow":
        return setup.corpus, shared
    return Corpus(setup.benchmark, setup.corpus.folder, _with_answered(setup, tasks)), shared


def _with_answered(setup: Setup, tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks and the tasks that their models also answer."""
    names = {task.name for task in tasks}
    return [task for task in setup.benchmark.tasks if names & {task.name, task.predict_with}]


def _take_predictions(ran: RowResult, result: Result, setup: Setup, role: Role) -> None:
    """Add the predictions of the tasks that use this run, and of the tasks that these answer."""
    predicted = result.session.columns(role)
    mine = [setup.benchmark.task(task) for task, chosen in ran.chosen.items() if chosen is result]
    for task in _with_answered(setup, mine):
        if task.name in result.absent and role == "test":
            ran.reasons[task.name] = result.absent[task.name]
        ran.columns |= {file.name: predicted[file.name] for file in task.files if file.name in predicted}


def _answer_by_majority(ran: RowResult, request: Request, setup: Setup) -> None:
    """Answer the row's majority tasks (WNLI in Table 4) by their majority class."""
    benchmark = setup.benchmark
    names = {benchmark.task(name).name for name in request.tasks} or {task.name for task in benchmark.scored}
    tasks = [task for task in benchmark.scored if task.name in names and task.name in ran.row.majority]
    for task in _tasks_with_data(tasks, setup, ran):
        if reason := _absent_test(setup, task):
            ran.reasons[task.name] = reason
            continue
        part = benchmark._replace(tasks=(task,))
        ran.columns |= run(Majority(), part, setup.corpus.folder, role="test")
        ran.majority += (task.name,)
