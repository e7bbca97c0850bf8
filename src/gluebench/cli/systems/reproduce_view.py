"""Rows run again as tables: expected beside obtained, with the reason where a number cannot be had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark
from gluebench.cli.common.output import Output, Paper, Records, Section, Table, percent, rendered
from gluebench.cli.scoring.report_view import score_cell
from gluebench.data import DataError
from gluebench.systems.reproduce.compare import Cell, cells, merged, results
from gluebench.systems.reproduce.rerun import Request, Result, RowResult
from gluebench.systems.reproduce.row import TABLES, TableName

FIELDS = ("table", "row", "column", "metric", "expected", "value", "low", "high", "n", "reason")
OTHER_DATA = (
    "These are the data of {}: the paper's numbers are of GLUE, and stand beside for their order alone."
)
SELECTED = (
    "Dev scores chose weights and runs, so they are higher than test scores would be; so were the paper's."
)


def table_output(runs: Sequence[RowResult], request: Request, benchmark: Benchmark) -> Output:
    """The table in every form; its data are those that `save` keeps."""
    rows = {ran.row.name: cells(ran, request, benchmark) for ran in runs}
    obtained = results(rows)
    data = {
        "table": request.table,
        "benchmark": benchmark.name,
        "preset": request.preset,
        "rows": [_as_dict(ran, rows[ran.row.name]) for ran in runs],
        "results": obtained,
    }
    sections = tuple(_section(ran, rows[ran.row.name]) for ran in runs)
    table = Table(
        columns=("column", "metric", "expected", "obtained [95 % interval]", "note"),
        sections=sections,
        title=f"{TABLES[request.table]}; {benchmark.title}, preset {request.preset}",
        right=frozenset({2}),
        notes=tuple(_notes(runs, request, benchmark)),
    )
    records = tuple(record for ran in runs for record in _records(request.table, ran, rows[ran.row.name]))
    return Output(data, (table,), Records(FIELDS, records))


def save(answer: Output, table: TableName, folder: Path) -> None:
    """Write the table as Markdown and LaTeX, and add its numbers to the folder's results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{table}.md").write_text(rendered(answer, "markdown", paper=_PLAIN), encoding="utf-8")
    (folder / f"{table}.tex").write_text(rendered(answer, "latex", paper=_PLAIN), encoding="utf-8")
    assert isinstance(answer.data, dict)
    path = folder / "results.json"
    before = _before(path)
    after = merged(before, table, answer.data["results"])
    after |= {name: answer.data[name] for name in ("benchmark", "preset")}
    path.write_text(json.dumps(after, indent=2) + "\n", encoding="utf-8")


_PLAIN = Paper()


def _before(path: Path) -> dict[str, object]:
    """The results that are there already."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError([f"{path}: no JSON ({error}); remove it, and results are written anew"]) from None
    return content if isinstance(content, dict) else {}


def _section(ran: RowResult, own: Sequence[Cell]) -> Section:
    rows = []
    column = ""
    for cell in own:
        same, column = cell.column == column, cell.column
        rows.append(
            (
                "" if same else cell.column,
                cell.metric,
                percent(cell.expected),
                score_cell(cell.obtained).strip(),
                "" if same or ran.whole else cell.reason,
            )
        )
    if ran.whole:
        rows = [(name, metric, expected, "-", "") for name, metric, expected, _, _ in rows]
        rows.append(("", "", "", "", f"cannot be had here: {'; '.join(ran.whole)}"))
    return Section(tuple(rows), title=f"{ran.row.full_title} ({ran.row.name})")


def _notes(runs: Sequence[RowResult], request: Request, benchmark: Benchmark) -> Iterator[str]:
    if benchmark.name != "glue":
        yield OTHER_DATA.format(benchmark.title)
    if request.preset != "paper":
        yield f"Preset {request.preset} is smaller than the paper's systems; lower numbers are expected."
    if request.table == "table6":
        yield SELECTED
    if request.table == "table4" and any(ran.chosen for ran in runs):
        yield "Each row's predictions are left in its folder as submission.zip."
    if request.tasks and any(ran.row.training == "multi-task" for ran in runs):
        yield f"Multi-task rows were trained together on the tasks named alone ({', '.join(request.tasks)})."


def _as_dict(ran: RowResult, own: Sequence[Cell]) -> dict[str, object]:
    return {
        "row": ran.row.name,
        "title": ran.row.full_title,
        "reasons": list(ran.whole),
        "seeds": {task: result.seed for task, result in ran.chosen.items()},
        "seconds": round(sum(result.seconds for result in _distinct(ran)), 1),
        "cells": [
            {
                "column": cell.column,
                "metric": cell.metric,
                "expected": cell.expected,
                "obtained": cell.obtained.as_dict() if cell.obtained else None,
                "reason": cell.reason,
            }
            for cell in own
        ],
    }


def _distinct(ran: RowResult) -> list[Result]:
    return list({id(result): result for result in ran.chosen.values()}.values())


def _records(table: TableName, ran: RowResult, own: Sequence[Cell]) -> Iterator[tuple[object, ...]]:
    for cell in own:
        score = cell.obtained
        numbers = (score.value, score.low, score.high, score.n) if score else (None, None, None, None)
        yield (table, ran.row.name, cell.column, cell.metric, cell.expected, *numbers, cell.reason)
