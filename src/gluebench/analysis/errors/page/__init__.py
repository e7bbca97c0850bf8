"""The report of errors as one file of HTML: no server, no network, nothing beside it."""

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from gluebench.analysis.errors.cases import BANDS, OVERALL, CaseFile, Rate, length_bands, rates
from gluebench.benchmark.figures import percent
from gluebench.version import __version__

SCHEMA = "gluebench.errors/1"


def page(
    case_files: Sequence[CaseFile], *, title: str, tables: Mapping[str, Sequence[Rate]] | None = None
) -> str:
    """The whole page, the cases in it as JSON; `tables` are the rates of each file where they are known.

    The same cases give the same bytes. It shows the text and labels of the examples, so it is as private as
    they are.
    """
    if tables is None:
        tables = {file.file: rates(file) for file in case_files}
    content = {"schema": SCHEMA, "title": title, "files": [_file_as_json(file) for file in case_files]}
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        data = data.replace(character, escaped)  # no text of an example can end the script element
    parts = {
        "title": escape(title),
        "style": _resource("page.css"),
        "summary": _summary(case_files, tables),
        "data": data,
        "script": "".join(map(_resource, ("model.js", "view.js"))),
        "version": escape(__version__),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _resource("page.html"))


def _resource(name: str) -> str:
    return files("gluebench.analysis.errors.page").joinpath(name).read_text("utf-8")


def _file_as_json(file: CaseFile) -> dict[str, Any]:
    """One test file; columns are named once, and each case is a list in the order that model.js reads."""
    tags: set[str] = set()
    columns: set[str] = set()
    for case in file.cases:
        tags.update(case.phenomena)
        columns.update(case.metadata)
    phenomena = [[entry.coarse, entry.name] for entry in file.task.phenomena if entry.name in tags]
    number_of = {name: number for number, (_, name) in enumerate(phenomena)}
    metadata = [name for name in file.task.metadata if name in columns]
    cases = []
    for case in file.cases:
        values = [
            case.index,
            list(case.inputs.values()),
            case.gold,
            case.answers,
            [int(wrong) for wrong in case.wrong],
            [number_of[name] for name in case.phenomena],
            [case.metadata.get(name, "") for name in metadata],
            case.group,
            case.length,
            None if case.overlap is None else round(case.overlap, 4),
        ]
        cases.append(values)
    return {
        "name": file.file,
        "task": file.task.name,
        "split": file.split,
        "systems": file.systems,
        "columns": file.task.columns,
        "labels": [[label.word, label.gloss] for label in file.task.labels],
        "about": metadata,
        "phenomena": phenomena,
        "lengths": length_bands([case.length for case in file.cases]),
        "bands": BANDS if len(file.task.columns) == 2 else 0,
        "cases": cases,
    }


def _summary(case_files: Sequence[CaseFile], tables: Mapping[str, Sequence[Rate]]) -> str:
    """What can be read without a script: each system's errors on each file."""
    rows = []
    for file in case_files:
        overall = next(rate for rate in tables[file.file] if rate.kind == OVERALL)
        for number, system in enumerate(file.systems):
            share = f"{percent(overall.share(number))} %" if overall.n else "-"
            bar = overall.bars[number]
            ends = bar.withheld or "-"
            if bar.low is not None and bar.high is not None:
                ends = f"{percent(bar.low)} to {percent(bar.high)} %"
            cells = (file.file, system, f"{overall.n:,}", f"{overall.wrong[number]:,}", share, ends)
            columns = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            rows.append(f"<tr>{columns}</tr>")
    return "\n".join(rows)
