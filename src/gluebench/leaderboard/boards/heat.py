"""Systems beside each other in every phenomenon: a heat map with its numbers as a table and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from gluebench.analysis.diagnostics import HeatMap
from gluebench.analysis.diagnostics.heatmap import ABOUT, FIELDS, map_picture, stored_heatmap
from gluebench.analysis.rank.order import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.diagnostics import Value, value_of
from gluebench.leaderboard.boards.options import address
from gluebench.leaderboard.boards.phenomena import slug_of
from gluebench.leaderboard.boards.standings import diagnosed_standings
from gluebench.leaderboard.common.escapes import csv_cell
from gluebench.leaderboard.common.formats import labels_of, percent
from gluebench.leaderboard.submissions.entries import diagnosed

COLUMNS = 20
"""Systems on one map."""


class Line(NamedTuple):
    """One category across the systems."""

    kind: str
    name: str
    page: str
    """The last part of its page's address; empty for the whole set."""
    n: int
    cells: tuple[Value, ...]


def heat_html(benchmark: Benchmark, task: Task, page: int, *, signed_in: bool) -> str:
    """The page: as many systems as a map has room for, the highest overall first."""
    rows = diagnosed_standings(benchmark, task).rows
    order = board_order([row.numbers[0] for row in rows])
    pages = max(-(-len(order) // COLUMNS), 1)
    page = min(page, pages)
    pks = [rows[at].pk for at in order[(page - 1) * COLUMNS : page * COLUMNS]]
    entries = _in_order(diagnosed(benchmark, task, pks), pks)
    cells = _map(task, entries)
    metric = task.metrics[0]
    human = next((each for each in task.references if metric.name in each.scores), None)
    context = {
        "benchmark": benchmark,
        "task": task,
        "about": ABOUT,
        "picture": _picture(task, entries, cells) if entries else "",
        "entries": entries,
        "lines": _lines(cells),
        "metric": metric.title,
        "human": human,
        "human_score": percent(human.scores[metric.name]) if human else "",
        "page": page,
        "pages": pages,
        "to_previous": address(page - 1, view="map"),
        "to_next": address(page + 1, view="map"),
        "columns": task.metadata,
        "view": "map",
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/heat.html", context)


def heat_csv(benchmark: Benchmark, task: Task) -> str:
    """A row for each system in each category; `level` is the shade on one map of all systems."""
    entries = diagnosed(benchmark, task)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*FIELDS, "key"])
    labels = {entry["key"]: label for label, entry in zip(labels_of(entries), entries, strict=True)}
    at = FIELDS.index("system")
    for record in _map(task, entries).records():
        key = str(record[at])
        shown = (*record[:at], labels[key], *record[at + 1 :])
        writer.writerow([csv_cell(each) if isinstance(each, str) else each for each in shown] + [key])
    return text.getvalue()


def _map(task: Task, entries: Sequence[Mapping[str, Any]]) -> HeatMap:
    """By key: people may call an entry as another one is labelled."""
    return stored_heatmap(task, {entry["key"]: entry["diagnostic"] for entry in entries})


def _picture(task: Task, entries: Sequence[Mapping[str, Any]], cells: HeatMap) -> str:
    labelled = cells._replace(systems=tuple(labels_of(entries)))
    return map_picture(labelled, title=f"{task.title}, by phenomenon")


def _in_order(entries: Sequence[dict[str, Any]], pks: Sequence[int]) -> list[dict[str, Any]]:
    place = {pk: at for at, pk in enumerate(pks)}
    return sorted(entries, key=lambda entry: place[entry["pk"]])


def _lines(cells: HeatMap) -> list[Line]:
    found = []
    for line in cells.lines:
        shown = tuple(value_of(cell.score.as_dict()) for cell in line.cells)
        found.append(Line(line.kind, line.name, slug_of(line.name), line.n, shown))
    return found
