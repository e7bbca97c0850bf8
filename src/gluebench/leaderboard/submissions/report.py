"""A report as tables to show: every metric of every task, every phenomenon, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.common.formats import interval_text, score_text


class Measure(NamedTuple):
    """One number of a report, with what it is called."""

    title: str
    text: str
    interval: str
    n: int | None
    note: str
    """Why something is withheld, or how much was covered."""
    low: float | None
    value: float | None
    high: float | None


class Axis(NamedTuple):
    """The scale of the small pictures of a table: 0 to 1, or -1 to 1 where something is below 0."""

    start: int

    @property
    def view(self) -> str:
        """The picture's view box."""
        return f"{self.start} 0 {1 - self.start} 1"

    @property
    def title(self) -> str:
        """What the scale spans, as numbers are shown."""
        return "−100 to 100" if self.start else "0 to 100"


class TaskTable(NamedTuple):
    """A task: its score, then its metrics."""

    name: str
    title: str
    score: Measure
    metrics: tuple[Measure, ...]


class Category(NamedTuple):
    """A coarse category and its fine phenomena, or a way of dividing the set and its values."""

    title: str
    whole: Measure | None
    parts: tuple[Measure, ...]


class DiagnosticSection(NamedTuple):
    """One diagnostic set; without an overall number it was not in the submission."""

    name: str
    title: str
    metric: str
    overall: Measure | None
    categories: tuple[Category, ...]
    human: str
    axis: Axis


class ReportTables(NamedTuple):
    """The whole report."""

    score: Measure
    tasks: tuple[TaskTable, ...]
    axis: Axis
    diagnostics: tuple[DiagnosticSection, ...]


def report_tables(benchmark: Benchmark, report: Mapping[str, Any]) -> ReportTables:
    """The report in the order of the manifest."""
    tasks = tuple(_task(task, report["tasks"].get(task.name)) for task in benchmark.scored)
    sections = tuple(_section(task, report["diagnostics"].get(task.name)) for task in benchmark.diagnostics)
    axis = _axis(metric for task in tasks for metric in task.metrics)
    return ReportTables(_measure("Score", report["score"]), tasks, axis, sections)


def _axis(measures: Iterable[Measure]) -> Axis:
    return Axis(-1 if any(measure.low is not None and measure.low < 0 for measure in measures) else 0)


def _measure(title: str, score: Mapping[str, Any] | None) -> Measure:
    if score is None:
        return Measure(title, score_text(None), "", None, "not in this submission", None, None, None)
    note = score.get("withheld") or ""
    if "covered" in score:
        note = f"{note} of {score_text({'value': score['covered']})} % of the examples".strip()
    ends = (score["low"], score["value"], score["high"])
    return Measure(title, score_text(score), interval_text(score), score["n"], note, *ends)


def _task(task: Task, found: Mapping[str, Any] | None) -> TaskTable:
    found = found or {"score": None, "metrics": {}}
    metrics = tuple(_measure(metric.title, found["metrics"].get(metric.name)) for metric in task.metrics)
    return TaskTable(task.name, task.title, _measure("Score", found["score"]), metrics)


def _section(task: Task, found: Mapping[str, Any] | None) -> DiagnosticSection:
    metric = task.metrics[0]
    human = next((each for each in task.references if metric.name in each.scores), None)
    note = (
        f"{human.name}: {score_text({'value': human.scores[metric.name]})} ({human.source})" if human else ""
    )
    if found is None:
        return DiagnosticSection(task.name, task.title, metric.title, None, (), note, Axis(0))
    overall = _measure("All", found["overall"])
    categories = (*_coarse(task, found), *_divisions(task, found))
    axis = _axis(part for category in categories for part in (category.whole or overall, *category.parts))
    return DiagnosticSection(task.name, task.title, metric.title, overall, categories, note, axis)


def _coarse(task: Task, found: Mapping[str, Any]) -> tuple[Category, ...]:
    return tuple(
        Category(
            coarse,
            _measure(coarse, found["coarse"][coarse]),
            tuple(
                _measure(each.name, found["fine"][each.name])
                for each in task.phenomena
                if each.coarse == coarse and each.name in found["fine"]
            ),
        )
        for coarse in task.coarse()
        if coarse in found["coarse"]
    )


def _divisions(task: Task, found: Mapping[str, Any]) -> tuple[Category, ...]:
    return tuple(
        Category(
            column.capitalize(), None, tuple(_measure(name, score) for name, score in found[column].items())
        )
        for column in task.metadata
        if column in found
    )


class ExpectedFile(NamedTuple):
    """One file of a submission, as the form describes it."""

    name: str
    rows: int
    values: str


def expected_files(benchmark: Benchmark) -> list[ExpectedFile]:
    """What a submission holds, in the manifest's order."""
    return [
        ExpectedFile(file.name, file.size(), _values(benchmark.task(file.task))) for file in benchmark.files()
    ]


def _values(task: Task) -> str:
    if task.score_range is not None:
        return f"a number from {task.score_range[0]:g} to {task.score_range[1]:g}"
    return ", ".join(task.words)


def flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested provenance as names and values to list."""
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        label = f"{before}{name}".replace("_", " ")
        found += flat(value, f"{label}, ") if isinstance(value, Mapping) else [(label, str(value))]
    return found
