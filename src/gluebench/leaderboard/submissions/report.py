"""A report as tables to show: every metric of every task, every phenomenon, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.common.formats import percent

Table = dict[str, Any]
"""What the template reads; its keys stand where it is made."""


class Axis(NamedTuple):
    """The scale of the small pictures of a table, the view box of each, and what it spans in words."""

    start: int
    view: str
    title: str


FROM_ZERO, BOTH_SIGNS = Axis(0, "0 0 1 1", "0 to 100"), Axis(-1, "-1 0 2 1", "−100 to 100")


def report_tables(benchmark: Benchmark, report: Mapping[str, Any]) -> Table:
    """The report in the order of the manifest."""
    tasks = [_task(task, report["tasks"].get(task.name)) for task in benchmark.scored]
    return {
        "score": report["score"],
        "tasks": tasks,
        "axis": _axis(part for task in tasks for part in task["parts"]),
        "diagnostics": [
            _section(task, report["diagnostics"].get(task.name)) for task in benchmark.diagnostics
        ],
    }


def _axis(measures: Iterable[Table]) -> Axis:
    lows = [measure["score"]["low"] for measure in measures if measure["score"]]
    return BOTH_SIGNS if any(low is not None and low < 0 for low in lows) else FROM_ZERO


def _measure(title: str, score: Mapping[str, Any] | None) -> Table:
    """One number; its note says why something is withheld, or how much was covered."""
    if score is None:
        return {"title": title, "score": None, "note": "not in this submission"}
    note = score.get("withheld") or ""
    if "covered" in score:
        note = f"{note} of {percent(score['covered'])} % of the examples".strip()
    return {"title": title, "score": score, "note": note}


def _task(task: Task, scores: Mapping[str, Any] | None) -> Table:
    """A task and its metrics."""
    scores = scores or {"score": None, "metrics": {}}
    parts = [_measure(metric.title, scores["metrics"].get(metric.name)) for metric in task.metrics]
    return {
        "name": task.name,
        "title": task.title,
        "whole": _measure("Score", scores["score"]),
        "parts": parts,
    }


def _section(task: Task, scores: Mapping[str, Any] | None) -> Table:
    """A diagnostic set; without an overall number it was not in the submission."""
    metric = task.metrics[0]
    human = next((row for row in task.references if metric.name in row.scores), None)
    note = f"{human.name}: {percent(human.scores[metric.name])} ({human.source})" if human else ""
    section = {"name": task.name, "title": task.title, "metric": metric.title, "human": note}
    if scores is None:
        return section
    overall = _measure("All", scores["overall"])
    categories = [*_coarse(task, scores), *_divisions(task, scores)]
    axis = _axis(part for group in categories for part in (group["whole"] or overall, *group["parts"]))
    return {**section, "overall": overall, "categories": categories, "axis": axis}


def _coarse(task: Task, scores: Mapping[str, Any]) -> Iterator[Table]:
    """The coarse categories with their fine phenomena."""
    for coarse in task.coarse():
        if coarse in scores["coarse"]:
            fine = [phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse]
            parts = [_measure(name, scores["fine"][name]) for name in fine if name in scores["fine"]]
            yield {"title": coarse, "whole": _measure(coarse, scores["coarse"][coarse]), "parts": parts}


def _divisions(task: Task, scores: Mapping[str, Any]) -> Iterator[Table]:
    """The columns of the metadata with their values."""
    for column in task.metadata:
        if column in scores:
            parts = [_measure(name, score) for name, score in scores[column].items()]
            yield {"title": column.capitalize(), "whole": None, "parts": parts}


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
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        label = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            pairs += flat(value, f"{label}, ")
        elif value is not None:
            pairs.append((label, str(value)))
    return pairs
