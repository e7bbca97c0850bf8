"""The scores of rows, number by number beside those that the paper printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.scoring import Report, Score
from gluebench.systems.reproduce.row import AVERAGE, TableName

if TYPE_CHECKING:  # which loads torch, and a site does without
    from gluebench.systems.reproduce.rerun import Request, RowResult

ALL = "All"
"""Column of Table 5 for the whole diagnostic set."""
RESULTS = "gluebench.results/1"
HIDDEN = "no labels here: give --gold DIR, or have the submission scored by who holds them"


class Cell(NamedTuple):
    """One number of a table twice: printed and obtained."""

    column: str
    metric: str
    """Title of the metric; empty for an average."""
    expected: float | None
    """As a fraction; None for what the paper's tables do not have."""
    obtained: Score | None
    reason: str
    """Why nothing was obtained, or what has to be known of it."""


def row_of_cells(ran: RowResult, request: Request, benchmark: Benchmark) -> list[Cell]:
    """The row of a table, the average last."""
    row: list[Cell] = []
    if request.table == "table5":
        for task in benchmark.diagnostics:
            row += _diagnostic(ran, task)
        return row
    for task in benchmark.scored:
        if not request.tasks or task.name in request.tasks:
            row += _task(ran, task, request.table)
    average = ran.row.printed[request.table].average
    if not request.tasks and not ran.whole:
        score = ran.report.score if ran.report else None
        reason = "" if score else "needs every task"
        row.append(Cell(AVERAGE, "", _fraction(average), score, reason))
    return row


def results(rows: Mapping[str, list[Cell]]) -> dict[str, dict[str, list[float]]]:
    """Row to column to the numbers obtained, times 100 as the paper prints them."""
    numbers: dict[str, dict[str, list[float]]] = {}
    for name, own in rows.items():
        columns: dict[str, list[float]] = {}
        lacking = {cell.column for cell in own if cell.obtained is None or cell.obtained.value is None}
        for cell in own:
            if cell.column not in lacking and cell.obtained and cell.obtained.value is not None:
                columns.setdefault(cell.column, []).append(round(100 * cell.obtained.value, 4))
        if columns:
            numbers[name] = columns
    return numbers


def replace_rows(before: Mapping[str, Any], table: TableName, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Results with those of some rows of a table put in the place of earlier ones."""
    tables = {**before.get("tables", {})}
    tables[table] = {**tables.get(table, {}), **rows}
    return {**before, "schema": RESULTS, "tables": tables}


def _task(ran: RowResult, task: Task, table: TableName) -> Iterator[Cell]:
    printed = ran.row.printed[table].columns.get(task.name, ())
    reason = _reason(ran, task)
    scores = ran.report.tasks[task.name] if ran.report else None
    if len(printed) == 1 < len(task.metrics):  # Table 6 has one number for MNLI
        yield Cell(task.name, "mean", _fraction(printed[0]), scores.score if scores else None, reason)
        return
    for place, metric in enumerate(task.metrics):
        expected = _fraction(printed[place]) if place < len(printed) else None
        obtained = scores.metrics.get(metric.name) if scores else None
        yield Cell(task.name, metric.title, expected, obtained, reason)


def _diagnostic(ran: RowResult, task: Task) -> Iterator[Cell]:
    printed = ran.row.printed["table5"].columns
    reason = _reason(ran, task)
    report = ran.report.diagnostics.get(task.name) if ran.report else None
    for column, (value,) in printed.items():
        obtained = None
        if report is not None:
            obtained = report.overall if column == ALL else {**report.coarse, **report.fine}.get(column)
        yield Cell(column, task.metrics[0].title, _fraction(value), obtained, reason)


def _reason(ran: RowResult, task: Task) -> str:
    """Why a task has no score, or what is particular about it."""
    if task.name in ran.majority:
        note = "majority class, as in the paper"
        return note if _has_score(ran.report, task) else f"{note}; {HIDDEN}"
    reasons = list(ran.whole)
    for name in (task.name, task.predict_with):
        if name in ran.reasons:
            reasons.append(ran.reasons[name])
    known = "; ".join(filter(None, reasons))
    if known:
        return known
    if not _has_score(ran.report, task):
        return HIDDEN if ran.columns else "not asked for"
    owner = ran.row.owners.get(task.name)
    return f"the run of {owner}" if owner else ""


def _has_score(report: Report | None, task: Task) -> bool:
    if report is None:
        return False
    scores = report.tasks.get(task.name)
    return bool(scores and scores.metrics) or report.diagnostics.get(task.name) is not None


def _fraction(value: float | None) -> float | None:
    return None if value is None else round(value / 100, 6)
