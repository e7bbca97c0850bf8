"""Reproduced rows as tables: expected and obtained numbers, or why there is none."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark
from gluebench.benchmark.atomic import write_json
from gluebench.benchmark.figures import percent
from gluebench.benchmark.tables import Paper, Section, Table, numeric
from gluebench.cli.common.output import Output, rendered
from gluebench.cli.scoring.grade import score_cell
from gluebench.data import DataError
from gluebench.data.home import hold_lock
from gluebench.systems.reproduce.compare import Cell, replace_rows, results, row_of_cells
from gluebench.systems.reproduce.rerun import Request, RowResult
from gluebench.systems.reproduce.row import FULL, TABLES, TableName

FIELDS = ("table", "row", "column", "metric", "expected", "value", "low", "high", "n", "reason")
OTHER_DATA = (
    "These are the data of {}: the paper's numbers are of GLUE, and stand beside for their order alone."
)
SELECTED = (
    "Dev scores chose weights and runs, so they are higher than test scores would be; so were the paper's."
)


def table_output(runs: Sequence[RowResult], request: Request, benchmark: Benchmark) -> Output:
    """The table in every form; its data are those that `save` keeps."""
    rows = {ran.row.name: row_of_cells(ran, request, benchmark) for ran in runs}
    data = {
        "table": request.table,
        "benchmark": benchmark.name,
        "preset": request.preset,
        "rows": [_as_dict(ran, rows[ran.row.name]) for ran in runs],
        "results": results(rows),
    }
    table = Table(
        ("column", "metric", numeric("expected"), "obtained [95 % interval]", "note"),
        sections=[_section(ran, rows[ran.row.name]) for ran in runs],
        title=f"{TABLES[request.table]}; {benchmark.title}, preset {request.preset}",
        notes=_notes(runs, request, benchmark),
    )
    records = []
    for ran in runs:
        for cell in rows[ran.row.name]:
            score = (None, None, None, None) if cell.obtained is None else cell.obtained[:4]
            record = (request.table, ran.row.name, cell.column, cell.metric, cell.expected)
            records.append(record + score + (cell.reason,))
    return Output(data, [table], FIELDS, records)


def save(answer: Output, table: TableName, folder: Path) -> None:
    """Write the table as Markdown and LaTeX, and add its numbers to the folder's results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{table}.md").write_text(rendered(answer, "markdown", paper=Paper()), encoding="utf-8")
    (folder / f"{table}.tex").write_text(rendered(answer, "latex", paper=Paper()), encoding="utf-8")
    path = folder / "results.json"
    assert isinstance(answer.data, dict)
    with hold_lock(folder / ".results.lock"):  # another process may add its rows at this moment
        try:
            before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        except ValueError as error:
            raise DataError(f"{path}: no JSON ({error}); remove it, and results are written anew") from None
        after = replace_rows(before if isinstance(before, dict) else {}, table, answer.data["results"])
        after |= {name: answer.data[name] for name in ("benchmark", "preset")}
        write_json(path, after)


def _section(ran: RowResult, own: Sequence[Cell]) -> Section:
    rows = []
    column = ""
    for cell in own:
        heading = cell.column
        obtained = score_cell(cell.obtained).strip()
        note = cell.reason
        if cell.column == column:  # the second metric of a task
            heading = ""
            note = ""
        if ran.whole:
            obtained = "-"
            note = ""
        rows.append((heading, cell.metric, percent(cell.expected), obtained, note))
        column = cell.column
    if ran.whole:
        rows.append(("", "", "", "", f"cannot be had here: {'; '.join(ran.whole)}"))
    return Section(rows, title=f"{ran.row.full_title} ({ran.row.name})")


def _notes(runs: Sequence[RowResult], request: Request, benchmark: Benchmark) -> Iterator[str]:
    if "glue" not in benchmark.lineage:
        yield OTHER_DATA.format(benchmark.title)
    if request.preset not in FULL:
        yield f"Preset {request.preset} is smaller than the paper's systems; lower numbers are expected."
    if request.table == "table6":
        yield SELECTED
    if request.table == "table4" and any(ran.chosen for ran in runs):
        yield "Each row's predictions are left in its folder as submission.zip."
    if request.tasks and any(ran.row.training == "multi-task" for ran in runs):
        yield f"Multi-task rows were trained together on the tasks named alone ({', '.join(request.tasks)})."


def _cell_data(cell: Cell) -> dict[str, object]:
    data = cell._asdict()
    if cell.obtained is not None:
        data["obtained"] = cell.obtained.as_dict()
    return data


def _as_dict(ran: RowResult, own: Sequence[Cell]) -> dict[str, object]:
    distinct = {id(result): result.seconds for result in ran.chosen.values()}
    return {
        "row": ran.row.name,
        "title": ran.row.full_title,
        "reasons": list(ran.whole),
        "seeds": {task: result.seed for task, result in ran.chosen.items()},
        "seconds": round(sum(distinct.values()), 1),
        "cells": [_cell_data(cell) for cell in own],
    }
