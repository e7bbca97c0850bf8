"""Which label is taken for which, and what becomes of a pair read the other way round, as tables to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gluebench.analysis.diagnostics import Confusion
from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.common.formats import interval_text, percent

BY_CATEGORY = 4
"""Labels up to which a row has room for a category's whole table."""


class Answered(NamedTuple):
    """The examples of one gold label, by what they were answered with."""

    label: str
    counts: tuple[int, ...]
    total: int
    right: str
    """Share of them answered with this label."""


class Matrix(NamedTuple):
    """A confusion table with its margins."""

    labels: tuple[str, ...]
    rows: tuple[Answered, ...]
    totals: tuple[int, ...]
    right: tuple[str, ...]
    """Share of each label's answers that were right."""
    n: int


class Line(NamedTuple):
    """One category's table, in one row: gold label by gold label."""

    kind: str
    name: str
    cells: tuple[tuple[int, bool], ...]
    """Each count, and whether it counts right answers."""


class PairShare(NamedTuple):
    """So many of so many pairs."""

    title: str
    about: str
    number: int
    of: int
    text: str
    interval: str


class Mistakes(NamedTuple):
    """One diagnostic set."""

    name: str
    matrix: Matrix | None
    lines: tuple[Line, ...]
    """By category; empty where that is withheld, or there are too many labels for a row."""
    pairs: tuple[PairShare, ...]
    """Empty where examples do not come in pairs."""
    unpaired: int


def mistakes_of(record: Benchmark, found: Mapping[str, Any] | None) -> dict[str, Mistakes]:
    """Diagnostic set to its tables, from `diagnosis_of`."""
    tasks = {task.name: task for task in record.diagnostics}
    return {name: _mistakes(tasks[name], each) for name, each in (found or {}).items() if name in tasks}


def _mistakes(task: Task, found: Mapping[str, Any]) -> Mistakes:
    tables = {kind: {name: _table(task, table) for name, table in each.items()}
              for kind, each in found["confusions"].items()}  # fmt: skip
    whole = tables.get("overall", {}).get("")
    fits = whole is not None and len(whole.labels) <= BY_CATEGORY
    directions = found["directions"] or {}
    return Mistakes(
        task.name,
        _matrix(whole) if whole is not None else None,
        tuple(_lines(task, tables)) if fits else (),
        tuple(_shares(directions)),
        directions.get("unpaired", 0),
    )


def _table(task: Task, found: Mapping[str, Mapping[str, int]]) -> Confusion:
    """In the manifest's order of labels: PostgreSQL keeps none."""
    return Confusion.of({label: found[label] for label in task.words if label in found})


def _matrix(table: Confusion) -> Matrix:
    rows = zip(table.labels, table.counts, table.gold, table.recall, strict=True)
    return Matrix(
        table.labels,
        tuple(Answered(label, counts, total, percent(share)) for label, counts, total, share in rows),
        table.answered,
        tuple(map(percent, table.precision)),
        table.n,
    )


def _lines(task: Task, tables: Mapping[str, Mapping[str, Confusion]]) -> Iterator[Line]:
    """Coarse categories, each followed by its fine ones, then the columns of the metadata."""
    coarse, fine = tables.get("coarse", {}), tables.get("fine", {})
    for category in task.coarse():
        if category in coarse:
            yield _line("coarse", category, coarse[category])
        for each in task.phenomena:
            if each.coarse == category and each.name in fine:
                yield _line("fine", each.name, fine[each.name])
    for column in task.metadata:
        for name, table in tables.get(column, {}).items():
            yield _line(column, name, table)


def _line(kind: str, name: str, table: Confusion) -> Line:
    return Line(kind, name, tuple(
        (count, gold == answer) for gold, row in enumerate(table.counts) for answer, count in enumerate(row)
    ))  # fmt: skip


def _shares(found: Mapping[str, Any]) -> Iterator[PairShare]:
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
            f"“{found.get('mirrored')}” one way only",
            "of the pairs answered so somewhere; it holds both ways or not at all, so these cannot be right",
        ),
    }
    for name, (title, about) in words.items():
        share = found.get(name)
        if share is not None and (name != "one_way" or found["mirrored"] is not None):
            text = percent(share["value"])
            yield PairShare(title, about, share["count"], share["of"], text, interval_text(share))
