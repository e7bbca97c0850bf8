"""A diagnostic set as the paper's Table 5, systems down and phenomena across, and as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from gluebench.analysis.diagnostics.heatmap import ABOUT, FIELDS, HeatMap, map_picture, stored_heatmap
from gluebench.analysis.rank.rules import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import PRIVACY
from gluebench.leaderboard.boards.options import ROWS, paged
from gluebench.leaderboard.boards.phenomena import slug_of
from gluebench.leaderboard.boards.standings import diagnosed_standings
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import labels_of, percent
from gluebench.leaderboard.people.results import shared
from gluebench.leaderboard.submissions.entries import diagnosed

COLUMNS = 20
"""Systems on one heat map."""


class Heading(NamedTuple):
    """One column: everything, a coarse category or a fine phenomenon."""

    title: str
    n: int | None
    """Examples it rests on; None while nobody was graded."""
    page: str = ""
    """Of a phenomenon, the last part of its page's address."""


class System(NamedTuple):
    """One system, or a published reference."""

    name: str
    model: str
    key: str
    """Empty for a reference."""
    scores: tuple[Mapping[str, Any] | None, ...]


class DiagnosticTable(NamedTuple):
    """The table for one set of columns."""

    headings: tuple[Heading, ...]
    lines: tuple[System, ...]
    metric: str


def build_diagnostics(
    task: Task, entries: Sequence[Mapping[str, Any]], *, category: str = "", first_page: bool = True
) -> DiagnosticTable:
    """By coarse category, by the fine phenomena of one, or by a column of the metadata.

    The references stand above them on the first page.
    """
    level = _level(task, category)
    titles = _titles(task, entries, level, category)
    lines = [_line(entry, level, titles) for entry in entries]
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
    references = _references(task, len(titles)) if first_page else []
    return DiagnosticTable(headings, (*references, *lines), task.metrics[0].title)


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


def diagnostics_html(benchmark: Benchmark, task: Task, category: str, page: int, *, signed_in: bool) -> str:
    """The page; systems are ordered and paged by their overall number."""
    entries, pager = _page(benchmark, task, ROWS, page, category=category)
    table = build_diagnostics(task, entries, category=category, first_page=pager["page"] == 1)
    context = {
        "benchmark": benchmark,
        "task": task,
        "table": table,
        "category": category,
        "columns": task.metadata,
        "phenomena": task.phenomena,
        "people": shared(benchmark, task.name),
        **pager,
        "labels": PRIVACY[task.private],
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/diagnostics.html", context)


def _page(
    benchmark: Benchmark, task: Task, size: int, page: int, **query: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries of a page, the highest overall number first, and what the pager shows."""
    rows = diagnosed_standings(benchmark, task).rows
    shown, pager = paged(board_order([row.numbers[0] for row in rows]), size, page, **query)
    pks = [rows[at].pk for at in shown]
    entries = sorted(diagnosed(benchmark, task, pks), key=lambda entry: pks.index(entry["pk"]))
    return entries, {**pager, "systems": len(rows)}


def _line(entry: Mapping[str, Any], level: str, titles: Sequence[str]) -> System:
    found = entry["diagnostic"]
    scores = [found["overall"], *(found.get(level, {}).get(title) for title in titles)]
    return System(entry["name"], entry["model"], entry["key"], tuple(scores))


def _references(task: Task, columns: int) -> list[System]:
    values = [(each, each.scores.get(task.metrics[0].name)) for each in task.references]
    return [
        System(each.name, each.source, "", ({"value": value, "low": None, "high": None}, *[None] * columns))
        for each, value in values
    ]


def heat_html(benchmark: Benchmark, task: Task, page: int, *, signed_in: bool) -> str:
    """The page: as many systems as a map has room for, the highest overall first."""
    entries, pager = _page(benchmark, task, COLUMNS, page, view="map")
    cells = _map(task, entries)
    metric = task.metrics[0]
    human = next((each for each in task.references if metric.name in each.scores), None)
    context = {
        "benchmark": benchmark,
        "task": task,
        "about": ABOUT,
        "picture": _picture(task, entries, cells) if entries else "",
        "entries": entries,
        "lines": cells.lines,
        "metric": metric.title,
        "human": human,
        "human_score": percent(human.scores[metric.name]) if human else "",
        **pager,
        "columns": task.metadata,
        "view": "map",
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/heat.html", context)


def heat_csv(benchmark: Benchmark, task: Task) -> str:
    """A row for each system in each category; `level` is the shade on one map of all systems."""
    entries = diagnosed(benchmark, task)
    labels = {entry["key"]: label for label, entry in zip(labels_of(entries), entries, strict=True)}
    at = FIELDS.index("system")
    records = _map(task, entries).records()
    rows = ([*each[:at], labels[str(each[at])], *each[at + 1 :], each[at]] for each in records)
    return csv_text([*FIELDS, "key"], rows)


def _map(task: Task, entries: Sequence[Mapping[str, Any]]) -> HeatMap:
    """By key: people may call an entry as another one is labelled."""
    return stored_heatmap(task, {entry["key"]: entry["diagnostic"] for entry in entries})


def _picture(task: Task, entries: Sequence[Mapping[str, Any]], cells: HeatMap) -> str:
    labelled = cells._replace(systems=tuple(labels_of(entries)))
    return map_picture(labelled, title=f"{task.title}, by phenomenon")
