"""A diagnostic set as the paper's Table 5: systems down, phenomena across, to be read down a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.analysis.ranking import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.boards.formats import interval_text, percent, score_text


class Heading(NamedTuple):
    """One column: everything, a coarse category or a fine phenomenon."""

    title: str
    n: int | None
    """Examples it rests on; None while nobody was graded."""


class Value(NamedTuple):
    """One number with its interval, or why there is none."""

    text: str
    interval: str
    withheld: str


class Line(NamedTuple):
    """One system, or a published reference."""

    name: str
    model: str
    key: str
    values: tuple[Value, ...]
    reference: bool = False


class DiagnosticTable(NamedTuple):
    """The table for one set of columns."""

    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    metric: str


def build_diagnostics(
    task: Task, entries: Sequence[Mapping[str, Any]], *, category: str = ""
) -> DiagnosticTable:
    """By coarse category, or by the fine phenomena of one; the highest overall first."""
    titles = [each.name for each in task.phenomena if each.coarse == category] if category else task.coarse()
    level = "fine" if category else "coarse"
    order = board_order([entry["diagnostic"]["overall"]["value"] for entry in entries])
    lines = [_line(entries[at], level, titles) for at in order]
    first = entries[0]["diagnostic"] if entries else None
    headings = (
        Heading("All", first["overall"]["n"] if first else None),
        *(Heading(title, first[level].get(title, {}).get("n") if first else None) for title in titles),
    )
    return DiagnosticTable(headings, (*_references(task, len(titles)), *lines), task.metrics[0].title)


def _line(entry: Mapping[str, Any], level: str, titles: Sequence[str]) -> Line:
    found = entry["diagnostic"]
    scores = [found["overall"], *(found[level].get(title) for title in titles)]
    return Line(entry["name"], entry["model"], entry["key"], tuple(map(value_of, scores)))


def value_of(score: Mapping[str, Any] | None) -> Value:
    """A report's number, ready to show."""
    return Value(score_text(score), interval_text(score), (score or {}).get("withheld") or "")


def _references(task: Task, columns: int) -> list[Line]:
    metric = task.metrics[0].name
    absent = tuple(Value(percent(None), "", "") for _ in range(columns))
    return [
        Line(each.name, each.source, "", (Value(percent(each.scores.get(metric)), "", ""), *absent), True)
        for each in task.references
    ]
