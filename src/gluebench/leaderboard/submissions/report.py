"""A report as tables to show: every metric of every task, every phenomenon, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.common.formats import percent


class Measure(NamedTuple):
    """One number of a report, with what it is called; no score where the submission does not have it."""

    title: str
    score: Mapping[str, Any] | None

    @property
    def note(self) -> str:
        """Why something is withheld, or how much was covered."""
        if self.score is None:
            return "not in this submission"
        note = self.score.get("withheld") or ""
        if "covered" in self.score:
            note = f"{note} of {percent(self.score['covered'])} % of the examples".strip()
        return note


class Axis(NamedTuple):
    """The scale of the small pictures of a table, the view box of each, and what it spans in words."""

    start: int
    view: str
    title: str


FROM_ZERO, BOTH_SIGNS = Axis(0, "0 0 1 1", "0 to 100"), Axis(-1, "-1 0 2 1", "−100 to 100")


class Group(NamedTuple):
    """A task and its metrics, a coarse category and its fine phenomena, or a division and its values."""

    title: str
    whole: Measure | None
    parts: tuple[Measure, ...]
    name: str = ""


class DiagnosticSection(NamedTuple):
    """One diagnostic set; without an overall number it was not in the submission."""

    name: str
    title: str
    metric: str
    human: str
    overall: Measure | None = None
    categories: tuple[Group, ...] = ()
    axis: Axis = FROM_ZERO


class ReportTables(NamedTuple):
    """The whole report."""

    score: Mapping[str, Any] | None
    tasks: tuple[Group, ...]
    axis: Axis
    diagnostics: tuple[DiagnosticSection, ...]


def report_tables(benchmark: Benchmark, report: Mapping[str, Any]) -> ReportTables:
    """The report in the order of the manifest."""
    tasks = tuple(_task(task, report["tasks"].get(task.name)) for task in benchmark.scored)
    sections = tuple(_section(task, report["diagnostics"].get(task.name)) for task in benchmark.diagnostics)
    return ReportTables(
        report["score"], tasks, _axis(part for task in tasks for part in task.parts), sections
    )


def _axis(measures: Iterable[Measure]) -> Axis:
    lows = [measure.score["low"] for measure in measures if measure.score]
    return BOTH_SIGNS if any(low is not None and low < 0 for low in lows) else FROM_ZERO


def _task(task: Task, found: Mapping[str, Any] | None) -> Group:
    found = found or {"score": None, "metrics": {}}
    metrics = tuple(Measure(metric.title, found["metrics"].get(metric.name)) for metric in task.metrics)
    return Group(task.title, Measure("Score", found["score"]), metrics, task.name)


def _section(task: Task, found: Mapping[str, Any] | None) -> DiagnosticSection:
    metric = task.metrics[0]
    human = next((each for each in task.references if metric.name in each.scores), None)
    note = f"{human.name}: {percent(human.scores[metric.name])} ({human.source})" if human else ""
    section = DiagnosticSection(task.name, task.title, metric.title, note)
    if found is None:
        return section
    overall = Measure("All", found["overall"])
    categories = (*_coarse(task, found), *_divisions(task, found))
    axis = _axis(part for category in categories for part in (category.whole or overall, *category.parts))
    return section._replace(overall=overall, categories=categories, axis=axis)


def _coarse(task: Task, found: Mapping[str, Any]) -> tuple[Group, ...]:
    return tuple(
        Group(
            coarse,
            Measure(coarse, found["coarse"][coarse]),
            tuple(
                Measure(each.name, found["fine"][each.name])
                for each in task.phenomena
                if each.coarse == coarse and each.name in found["fine"]
            ),
        )
        for coarse in task.coarse()
        if coarse in found["coarse"]
    )


def _divisions(task: Task, found: Mapping[str, Any]) -> tuple[Group, ...]:
    return tuple(
        Group(column.capitalize(), None, tuple(Measure(name, score) for name, score in found[column].items()))
        for column in task.metadata
        if column in found
    )


def expected_files(benchmark: Benchmark) -> list[dict[str, Any]]:
    """What a submission holds, in the manifest's order: the files as the form describes them."""
    return [
        {"name": file.name, "rows": file.size(), "values": _values(benchmark.task(file.task))}
        for file in benchmark.files()
    ]


def _values(task: Task) -> str:
    if task.score_range is not None:
        return f"a number from {task.score_range[0]:g} to {task.score_range[1]:g}"
    return ", ".join(task.words)


def flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested provenance as names and values to list; what is not known is left out."""
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        label = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            found += flat(value, f"{label}, ")
        elif value is not None:
            found.append((label, str(value)))
    return found
