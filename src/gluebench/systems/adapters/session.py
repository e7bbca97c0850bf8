"""A resumable run of one system over a benchmark: each finished task is saved at once.

The folder of a run holds `run.json`, which identifies the run, and `<task>.json` for each finished task.
Starting the same run again does the missing tasks; a different run in that folder is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast
from urllib.parse import quote

from gluebench.benchmark import Benchmark, Role, Task
from gluebench.benchmark.atomic import write_json
from gluebench.data import DataError
from gluebench.data.errors import differences, expect_schema, parsing
from gluebench.data.gold import gold_from_data
from gluebench.data.home import hold_lock, sha256_of, split_file, task_folder
from gluebench.scoring import Gold, Report
from gluebench.submission import Column
from gluebench.systems.adapters.dev_scores import grade_answers, labels_of_drawn, list_unanswered, with_wrong
from gluebench.systems.protocols import Predictor
from gluebench.systems.run import FileAnswers, Key, Unit, answer, column, fit, units

RESULT_SCHEMA = "gluebench.run-task/1"


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A system's answers for every test file that one task's model answers."""

    task: str
    answers: Mapping[Key, FileAnswers]
    data: Mapping[str, str]
    """ "<task>/<split>" to the digest of its file."""
    seconds: float
    notes: Mapping[str, Any] = field(default_factory=dict)
    """The system's own notes: tokens, cost, unparsed answers."""


def write_result(path: Path, result: TaskResult) -> None:
    """Write the result of one task."""
    files = []
    for key, answers in result.answers.items():
        predictions = answers.column
        values = {
            "role": key.role,
            "file": key.file,
            "values": predictions.words() if predictions.labels else list(predictions.numbers),
            "indices": None if predictions.indices is None else list(predictions.indices),
            "unanswered": list(answers.unanswered),
            "reasons": list(answers.reasons),
        }
        files.append(values)
    content = {
        "schema": RESULT_SCHEMA,
        "task": result.task,
        "data": dict(result.data),
        "seconds": result.seconds,
        "notes": dict(result.notes),
        "files": files,
    }
    write_json(path, content, indent=None)


def read_result(path: Path, benchmark: Benchmark) -> TaskResult | None:
    """Return the result saved at this path, or None if there is none. Raises DataError for a damaged file."""
    if not path.is_file():
        return None
    with parsing(path, "the results of a task", "remove the file to do the task again"):
        values = json.loads(path.read_bytes())
        expect_schema(values, RESULT_SCHEMA)
        answers = dict(_parse_answers(entry, benchmark) for entry in values["files"])
        return TaskResult(values["task"], answers, values["data"], values["seconds"], values["notes"])


def _parse_answers(values: Mapping[str, Any], benchmark: Benchmark) -> tuple[Key, FileAnswers]:
    file = benchmark.file(values["file"])
    role = cast(Role, values["role"])
    indices: array[int] | None = None
    if values["indices"] is not None:
        indices = array("q", values["indices"])
    predictions: Column = column(benchmark.task(file.task), values["values"], indices=indices)
    if len(predictions) != file.size(role):
        raise ValueError(f"{file.name} has {len(predictions)} {role} predictions, expected {file.size(role)}")
    reasons = tuple(values.get("reasons", ()))
    return Key(role, file.name), FileAnswers(predictions, tuple(values["unanswered"]), reasons)


def read_results(folder: Path, benchmark: Benchmark) -> dict[str, TaskResult]:
    """Return the result of each finished task of a run, in the manifest's order. Raises DataError."""
    results = {}
    for task in benchmark.tasks:
        result = read_result(_path(folder, task), benchmark)
        if result is not None:
            results[task.name] = result
    return results


def answers_in(folder: Path, benchmark: Benchmark, role: Role) -> dict[str, FileAnswers]:
    """Return the answers for each finished file of a role, by file name. Raises DataError."""
    answers = {}
    for result in read_results(folder, benchmark).values():
        for key, answered in result.answers.items():
            if key.role == role:
                answers[key.file] = answered
    return answers


def _path(folder: Path, task: Task) -> Path:
    return folder / f"{quote(task.name, safe='')}.json"


RUN = "run.json"
LOCK = "lock"
SCHEMA = "gluebench.run/1"


class RunObserver(Protocol):
    """Receives reports of how a run goes."""

    def report_start(self, place: TaskPosition) -> None:
        """A task begins."""

    def report_end(self, place: TaskPosition, result: TaskResult) -> None:
        """A task is done and its results are on disk."""


class TaskPosition(NamedTuple):
    """The position of a task in a run."""

    unit: Unit
    number: int
    """The task's number, from 1, among the requested tasks."""
    of: int
    left: float | None = None
    """Estimated seconds for the rest, from the time per example so far; None before the first task ends."""


class RunPlan(NamedTuple):
    """The tasks and splits to answer, and the folder of their data."""

    benchmark: Benchmark
    data: Path
    tasks: Sequence[Task]
    role: Role = "test"
    """The split that the submission is for."""
    dev: bool = True
    """Whether the dev split is answered too."""
    limit: int | None = None
    """Answer at most so many examples of each dev file, and no test file."""
    absent: Collection[str] = ()
    """Tasks without test examples, whose test files are left out."""

    def units(self) -> list[Unit]:
        """List the tasks, each with all files that its model answers."""
        roles: tuple[Role, ...] = (self.role,)
        if self.limit is not None:
            roles = ("dev",)
        elif self.dev and self.role == "test":
            roles = ("dev", "test")
        planned = []
        for unit in units(self.benchmark, self.tasks, roles):
            queries = []
            for query in unit.queries:
                if query.role != "test" or query.file.task not in self.absent:
                    queries.append(query)
            planned.append(Unit(unit.task, tuple(queries)))
        return planned


@contextmanager
def lock_folder(folder: Path, *, again: bool = False) -> Iterator[None]:
    """Lock a run's folder for this process; `again` empties it first. Remove the folder if it ends empty.

    Raises DataError if another process has the lock, or if `again` is set and the folder is not a run's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / LOCK, f"{folder}: another process is at this run; let it end first"):
        try:
            if again:
                _empty(folder)
            yield
        finally:
            if [path.name for path in folder.iterdir()] == [LOCK]:
                shutil.rmtree(folder)


def _empty(folder: Path) -> None:
    """Remove a run's files; `run.json` last, in case the process is killed. Raises DataError."""
    names = {path.name for path in folder.iterdir()}
    if RUN not in names and names != {LOCK}:
        raise DataError(f"{folder}: not the folder of a run (no {RUN}); remove it by hand")
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (LOCK, RUN):
            path.unlink()
    (folder / RUN).unlink(missing_ok=True)


@dataclass(eq=False)
class Session:
    """One run and its folder."""

    folder: Path
    plan: RunPlan
    identity: Mapping[str, Any]
    """Every setting that affects the results, JSON-ready."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The system's Python modules and the digests of their files; each result records them."""

    def __post_init__(self) -> None:
        plan = self.plan
        fields = json.dumps(plan.benchmark, default=repr)
        manifest = hashlib.sha256(fields.encode()).hexdigest()[:16]
        self._identity: dict[str, Any] = {"schema": SCHEMA, **self.identity}
        self._identity["benchmark"] = plan.benchmark.name
        self._identity["manifest"] = manifest
        if plan.limit is not None:
            self._identity["limit"] = plan.limit
        self._digests: dict[str, str] = {}

    def claim(self, way: str = "give another --out, or start over with --again") -> None:
        """Write the run's identity, or check that the folder holds the same run.

        Raises DataError with the `way` out and every difference, changed data files included.
        """
        path = self.folder / RUN
        current = self._identity
        if not path.is_file():
            write_json(path, current)
            return
        with parsing(path, "JSON", "start over with --again"):
            saved = json.loads(path.read_bytes())
        problems = differences(saved, current) or self._data_problems()
        if problems:
            raise DataError([f"{self.folder} holds results of another run; {way}:", *problems])

    def results(self) -> dict[str, TaskResult]:
        """Return the result of each finished task by name, in the manifest's order. Raises DataError."""
        return read_results(self.folder, self.plan.benchmark)

    def discard(self) -> None:
        """Remove the results of the plan's tasks, so that they are answered again."""
        for unit in self.plan.units():
            _path(self.folder, unit.task).unlink(missing_ok=True)

    def missing(self) -> list[Unit]:
        """List the units that still have unanswered files."""
        done = self.results()
        missing = []
        for unit in self.plan.units():
            result = done.get(unit.task.name)
            needed = {query.key for query in unit.queries}
            if result is None or not needed <= result.answers.keys():
                missing.append(unit)
        return missing

    def run(self, system: Predictor, watcher: RunObserver | None = None, *, together: bool = False) -> None:
        """Answer the missing units in order; save each file when it is answered. Raises what the system does.

        With `together`, the system is fitted on all tasks before it answers any.
        """
        todo = self._todo(system)
        all_units = self.plan.units()
        benchmark = self.plan.benchmark
        data = self.plan.data
        if together and todo:
            for unit in all_units:
                fit(system, benchmark, unit.task, data)
        effort: Callable[[Task], float] = getattr(system, "effort", lambda task: 1.0)
        sizes = [unit.size(effort(unit.task)) for unit in todo]
        left: float | None = None
        elapsed = 0.0
        for index, unit in enumerate(todo):
            place = TaskPosition(unit, len(all_units) - len(todo) + index + 1, len(all_units), left)
            if watcher:
                watcher.report_start(place)
            result = self._do_unit(system, unit, fitted=together)
            elapsed += result.seconds
            done = sum(sizes[: index + 1])
            left = None
            if done:
                left = elapsed / done * sum(sizes[index + 1 :])
            if watcher:
                watcher.report_end(place._replace(left=left), result)

    def follow(self, system: Predictor) -> None:
        """Take part, in another process, in what the leading one does by `run`; write nothing."""
        for unit in self._todo(system):
            self._do_unit(system, unit, fitted=False, writes=False)

    def _todo(self, system: Predictor) -> list[Unit]:
        """List the missing units; of a system in several processes, those that the leading one misses."""
        broadcast: Callable[[list[str]], list[str]] = getattr(system, "broadcast", list)
        names = broadcast([unit.task.name for unit in self.missing()])
        return [unit for unit in self.plan.units() if unit.task.name in names]

    def list_outdated(self) -> list[str]:
        """List the tasks that were answered with other versions of the system's modules."""
        by_task = {name: result.notes.get("sources", {}) for name, result in self.results().items()}
        return [name for name, sources in by_task.items() if sources != self.sources]

    def answers(self, role: Role) -> dict[str, FileAnswers]:
        """Return the answers for each finished file of a role, by file name."""
        return answers_in(self.folder, self.plan.benchmark, role)

    def columns(self, role: Role) -> dict[str, Column]:
        """Return the predictions for each finished file of a role, by file name."""
        return {name: answered.column for name, answered in self.answers(role).items()}

    def list_unanswered(self, role: Role) -> list[str]:
        """List the files of a role with answers that the system could not give, as text."""
        return list_unanswered(self.answers(role), self.plan.limit)

    def dev_report(self) -> Report | None:
        """Grade the dev answers, with intervals; None if no dev split was answered.

        A label that the system could not give counts as wrong, a score as the mean. Raises DataError if there
        are no labels.
        """
        answers = self.answers("dev")
        if not answers:
            return None
        return grade_answers(answers, self.dev_labels(), self.plan.limit)

    def dev_labels(self) -> Gold:
        """The labels of the dev splits, within the limit. Raises DataError if there are none."""
        gold = gold_from_data(self.plan.data, self.plan.benchmark, role="dev", partial=True)
        if self.plan.limit is None:
            return gold
        return labels_of_drawn(gold, self.plan.limit)

    def dev_columns(self, gold: Gold) -> dict[str, Column]:
        """The dev predictions of files with labels; see `with_wrong` for what it could not answer."""
        return with_wrong(self.answers("dev"), gold)

    def _do_unit(self, system: Predictor, unit: Unit, *, fitted: bool, writes: bool = True) -> TaskResult:
        """Fit and answer a unit; write its result after each file, dev first, with what was there before."""
        benchmark = self.plan.benchmark
        folder = self.plan.data
        path = _path(self.folder, unit.task)
        answers: dict[Key, FileAnswers] = {}
        data: dict[str, str] = {}
        start = time.monotonic()
        before = read_result(path, benchmark)
        if before is not None:
            answers |= before.answers
            data |= before.data
            start -= before.seconds
        if not fitted:
            fit(system, benchmark, unit.task, folder)
        for query in unit.queries:
            answers[query.key] = answer(
                system, benchmark, query.file, folder, role=query.role, limit=self.plan.limit
            )
            notes: dict[str, Any] = getattr(system, "notes", dict)()
            if self.sources:
                notes = {**notes, "sources": self.sources}
            data |= self._data(unit)
            seconds = round(time.monotonic() - start, 3)
            result = TaskResult(unit.task.name, answers, data, seconds, notes)
            if writes:
                write_result(path, result)
        forget = getattr(system, "forget", None)
        if forget is not None:
            forget(unit.task)
        return result

    def _data(self, unit: Unit) -> dict[str, str]:
        return {f"{task}/{split}": self._file_digest(task, split) for task, split in unit.splits()}

    def _file_digest(self, task: str, split: str) -> str:
        """Return the digest of the file a split is read from, or "absent" if there is none."""
        key = f"{task}/{split}"
        if key not in self._digests:
            record = self.plan.benchmark.task(task)
            home = task_folder(self.plan.data, self.plan.benchmark, record)
            path = split_file(home, record.splits[split])
            self._digests[key] = sha256_of(path)[:32] if path else "absent"
        return self._digests[key]

    def _data_problems(self) -> list[str]:
        """List a problem for each split whose file has changed since its task was answered."""
        done = self.results()
        problems = []
        for unit in self.plan.units():
            if unit.task.name not in done:
                continue
            saved = done[unit.task.name].data
            for key, digest in self._data(unit).items():
                if saved.get(key, digest) != digest:
                    problems.append(f"{key}: its file has changed since {unit.task.name} was done")
        return problems
