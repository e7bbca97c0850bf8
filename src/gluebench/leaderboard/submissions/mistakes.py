"""Which label is taken for which, and what becomes of a pair read the other way round, as tables to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gluebench.analysis.diagnostics.counts import Confusion
from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.submissions.models import Submission

Cells = list[tuple[int, bool]]
BY_CATEGORY = 4
"""Labels up to which a row has room for a category's whole table."""


def diagnosis_of(submission: Submission) -> dict[str, Any] | None:
    """Diagnostic set to its confusions and directions, of the latest grading, where its labels are public.

    None where no report is shown, or it was graded before these were counted. Exact counts reveal labels.
    """
    if submission.report is None:
        return None
    counted = submission.results.values_list("diagnosis", flat=True).first()
    if counted is None:
        return None
    public = {task.name for task in submission.benchmark.record.diagnostics if task.labels_public}
    return {name: counts for name, counts in counted.items() if name in public}


def mistakes_of(record: Benchmark, counted: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Diagnostic set to what the page's template shows of it, from `diagnosis_of`."""
    tasks = {task.name: task for task in record.diagnostics}
    return {name: _mistakes(tasks[name], counts) for name, counts in (counted or {}).items() if name in tasks}


def _mistakes(task: Task, counts: Mapping[str, Any]) -> dict[str, Any]:
    """The whole confusion table, the same by category where a row has room, and the pairs if any."""
    tables = {kind: {name: _table(task, table) for name, table in named.items()}
              for kind, named in counts["confusions"].items()}  # fmt: skip
    whole = tables.get("overall", {}).get("")
    directions = counts["directions"] or {}
    return {
        "matrix": whole,
        "rows": [*zip(whole.labels, whole.counts, whole.gold, whole.recall, strict=True)] if whole else [],
        "lines": [*_lines(task, tables)] if whole and len(whole.labels) <= BY_CATEGORY else [],
        "pairs": [*_shares(directions)],
        "unpaired": directions.get("unpaired", 0),
    }


def _table(task: Task, counts: Mapping[str, Mapping[str, int]]) -> Confusion:
    """The table in the manifest's order of labels: PostgreSQL keeps no order."""
    return Confusion.of({label: counts[label] for label in task.words if label in counts})


def _lines(task: Task, tables: Mapping[str, Mapping[str, Confusion]]) -> Iterator[tuple[str, str, Cells]]:
    """Coarse categories, each followed by its fine ones, then the columns of the metadata."""
    coarse, fine = tables.get("coarse", {}), tables.get("fine", {})
    for category in task.coarse():
        if category in coarse:
            yield "coarse", category, _cells(coarse[category])
        for phenomenon in task.phenomena:
            if phenomenon.coarse == category and phenomenon.name in fine:
                yield "fine", phenomenon.name, _cells(fine[phenomenon.name])
    for column in task.metadata:
        for name, table in tables.get(column, {}).items():
            yield column, name, _cells(table)


def _cells(table: Confusion) -> Cells:
    """Gold label by gold label: each count, and whether it counts right answers."""
    rows = enumerate(table.counts)
    return [(count, gold == answer) for gold, row in rows for answer, count in enumerate(row)]


def _shares(directions: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What each share is called, what it is of, and its numbers."""
    words = {
        "both": ("Both directions right", "of all pairs"),
        "one": ("One direction right", "of all pairs"),
        "neither": ("Neither right", "of all pairs"),
        "alike": ("Answered alike", "of the pairs with one label both ways, right or wrong"),
        "apart": (
            "Answered differently",
            "of the pairs with two labels, right or wrong; a system that does not see which sentence is the "
            "premise has 0",
        ),
        "one_way": (
            f"“{directions.get('mirrored')}” one way only",
            "of the pairs answered so somewhere; it holds both ways or not at all, so these cannot be right",
        ),
    }
    for name, (title, about) in words.items():
        share = directions.get(name)
        if share is not None and (name != "one_way" or directions["mirrored"] is not None):
            yield title, about, share
