"""A diagnostic set as the paper's Table 5: systems down, phenomena across, to be read down a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from gluebench.analysis.rank.order import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark as Row
from gluebench.leaderboard.boards.options import ROWS, address
from gluebench.leaderboard.boards.phenomena import slug_of
from gluebench.leaderboard.boards.standings import diagnosed_standings
from gluebench.leaderboard.boards.summary import PRIVACY
from gluebench.leaderboard.common.formats import interval_text, percent, score_text
from gluebench.leaderboard.people.results import shared
from gluebench.leaderboard.submissions.entries import diagnosed


class Heading(NamedTuple):
    """One column: everything, a coarse category or a fine phenomenon."""

    title: str
    n: int | None
    """Examples it rests on; None while nobody was graded."""
    page: str = ""
    """Of a phenomenon, the last part of its page's address."""


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

    def without_references(self) -> DiagnosticTable:
        """The systems alone, as on every page but the first."""
        return self._replace(lines=tuple(line for line in self.lines if not line.reference))


def build_diagnostics(
    task: Task, entries: Sequence[Mapping[str, Any]], *, category: str = ""
) -> DiagnosticTable:
    """By coarse category, by the fine phenomena of one, or by a column of the metadata; the highest first."""
    level = _level(task, category)
    titles = _titles(task, entries, level, category)
    order = board_order([entry["diagnostic"]["overall"]["value"] for entry in entries])
    lines = [_line(entries[at], level, titles) for at in order]
    first = entries[0]["diagnostic"] if entries else None
    headings = (
        Heading("All", first["overall"]["n"] if first else None),
        *(
            Heading(
                title,
                first.get(level, {}).get(title, {}).get("n") if first else None,
                slug_of(title) if level in ("coarse", "fine") else "",
            )
            for title in titles
        ),
    )
    return DiagnosticTable(headings, (*_references(task, len(titles)), *lines), task.metrics[0].title)


def _level(task: Task, category: str) -> str:
    if category in task.metadata:
        return category
    return "fine" if category else "coarse"


def _titles(task: Task, entries: Sequence[Mapping[str, Any]], level: str, category: str) -> Sequence[str]:
    if level == "fine":
        return [each.name for each in task.phenomena if each.coarse == category]
    if level == "coarse":
        return task.coarse()
    return list(dict.fromkeys(name for entry in entries for name in entry["diagnostic"].get(level, {})))


def diagnostics_html(benchmark: Row, task: Task, category: str, page: int, *, signed_in: bool) -> str:
    """The page; systems are ordered and paged by their overall number."""
    rows = diagnosed_standings(benchmark, task).rows
    order = board_order([row.numbers[0] for row in rows])
    pages = max(-(-len(order) // ROWS), 1)
    page = min(page, pages)
    shown = [rows[at].pk for at in order[(page - 1) * ROWS : page * ROWS]]
    table = build_diagnostics(task, diagnosed(benchmark, task, shown), category=category)
    context = {
        "benchmark": benchmark,
        "task": task,
        "table": table if page == 1 else table.without_references(),
        "category": category,
        "columns": task.metadata,
        "phenomena": task.phenomena,
        "people": shared(benchmark, task.name),
        "page": page,
        "pages": pages,
        "systems": len(rows),
        "to_previous": address(page - 1, category=category),
        "to_next": address(page + 1, category=category),
        "labels": PRIVACY[task.private],
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/diagnostics.html", context)


def _line(entry: Mapping[str, Any], level: str, titles: Sequence[str]) -> Line:
    found = entry["diagnostic"]
    scores = [found["overall"], *(found.get(level, {}).get(title) for title in titles)]
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
