"""Read one file of a submission as its manifest says, and if that fails, say what it seems to be instead."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.reading.records import ReadingError
from gluebench.submission.forms import cell_form
from gluebench.submission.other_benchmark import count_rows
from gluebench.submission.problems import problem_maker
from gluebench.submission.rows import MOST_BYTES, Choices, Layout
from gluebench.submission.tables import WRONG_SIZES, Table, read_table

_problem = problem_maker(__file__)
_OF_TABLES = ("json", "separator", "header", "no-header", "columns")
"""Mistakes of a table that do not matter where the manifest says another shape."""
_NO_CHOICES = Choices()


def layout(file: TestFile, task: Task, role: Role) -> Layout:
    """The expected content of a file of predictions, from the manifest."""
    synonyms: dict[str, int] = {}
    for code, label in enumerate(task.labels):
        synonyms |= dict.fromkeys(label.synonyms, code)
    versions = {}
    for version in file.other_versions:
        if role in version.sizes:
            versions[version.sizes[role]] = f"{version.name} ({version.note})"
    return Layout(
        task.words,
        file.size(role),
        synonyms,
        glosses=tuple(label.gloss for label in task.labels),
        versions=versions,
        others=other_sizes(file, role),
        score_range=task.score_range,
        form=cell_form(task),
        ids=file.splits[role].ids,
        names=(file.name, task.name) + file.synonyms,
    )


def other_sizes(file: TestFile, role: Role) -> dict[int, str]:
    """Number of rows to the other split that has it, to recognize predictions for another split."""
    return {split.size: other for other, split in file.splits.items() if split.size != file.size(role)}


def read_file(
    path: str,
    data: bytes,
    file: TestFile,
    benchmark: Benchmark,
    role: Role,
    *,
    choices: Choices = _NO_CHOICES,
    plain: bool = False,
    thorough: bool = False,
) -> Table:
    """Read a file in the shape that its manifest says; if it has errors, explain common mistakes.

    With errors, the column holds the predictions of the file repaired, or None if it cannot be. `choices` is
    what the author decided; a `plain` file is a table of index or id and value whatever the manifest says; a
    large file without obvious mistakes is analyzed only if `thorough`.
    """
    table = _read(path, data, file, benchmark, role, choices, plain=plain, thorough=thorough)
    if not is_wrong(table) or any(problem.code in WRONG_SIZES for problem in table.problems):
        return table
    rows = count_rows(data)
    meant: list[str] = []
    for other in benchmark.files(role):
        same_ids = other.size(role) == file.size(role) and other.splits[role].ids == file.splits[role].ids
        if other.path == file.path or same_ids or other.size(role) not in (rows, rows - 1):
            continue  # values alone do not show which file it is
        as_other = _read(path, data, other, benchmark, role, choices, plain=plain, thorough=True)
        if as_other.column is not None and other.path not in meant:
            meant.append(other.path)
    if not meant:
        return table
    return Table(None, [_problem("wrong-file", path, name=file.name, value=" or ".join(meant))], Counter())


def is_wrong(table: Table) -> bool:
    """Whether a file has errors that nothing repaired."""
    return table.column is None and table.wrong


def _read(
    path: str,
    data: bytes,
    file: TestFile,
    benchmark: Benchmark,
    role: Role,
    choices: Choices,
    *,
    plain: bool,
    thorough: bool,
) -> Table:
    task = benchmark.task(file.task)
    expected = layout(file, task, role)
    if plain or not file.is_shaped(role):
        table = _explain(path, data, expected, task, choices, thorough=thorough)
    else:
        table = _read_declared(path, data, file, task, expected, role, choices)
        if all(problem.code != "shape" for problem in table.problems):
            return table
    if not is_wrong(table) or not expected.form or plain or len(data) > MOST_BYTES:
        return table
    from gluebench.submission.undeclared import read_undeclared

    return read_undeclared(path, data, file, task, expected, role, choices) or table


def _read_declared(
    path: str, data: bytes, file: TestFile, task: Task, expected: Layout, role: Role, choices: Choices
) -> Table:
    """Read a file of another shape; if that fails, as a table of index and value."""
    from gluebench.submission.shapes import read_shaped

    shaped = read_shaped(path, data, file, task, expected, role)
    table = shaped.table
    if not is_wrong(table):
        return table
    from gluebench.submission.mistakes import explain_rows

    if 0 < len(shaped.rows.cells) <= expected.most_rows:
        table = explain_rows(path, shaped.editable_rows(), expected, table, task=task, choices=choices)
    in_lists = file.splits[role].ordered and data.lstrip()[:1] in (b"[", b"{")
    if table.column is not None or in_lists or expected.ids or expected.form:
        return table
    as_table = _explain(path, data, expected, task, choices, thorough=True)
    if as_table.column is None:
        return table
    first = next(problem for problem in table.problems if problem.severity == "error")
    problems = [replace(first, repair=f"read, and written in the shape of {file.path}")]
    problems += [problem for problem in as_table.problems if problem.code not in _OF_TABLES]
    return as_table._replace(problems=problems)


def _explain(
    path: str, data: bytes, expected: Layout, task: Task, choices: Choices, *, thorough: bool
) -> Table:
    """Read a table of index or id and value; if it has errors, explain common mistakes."""
    table = read_table(path, data, expected)
    if not is_wrong(table):
        return table
    from gluebench.submission.layouts import tabbed_cells
    from gluebench.submission.mistakes import explain_rows, explain_table

    if not expected.form:
        return explain_table(path, data, expected, table, choices=choices, thorough=thorough)
    codes = {problem.code for problem in table.problems}
    unread = ("empty-file", "encoding", "too-large", "separator")
    if len(data) > MOST_BYTES or not codes.isdisjoint(unread):
        return table
    try:
        cells = tabbed_cells(data, header="no-header" not in codes)
    except ReadingError:
        return table
    cells.departures += [(code, "") for code in ("header", "no-header") if code in codes]
    return explain_rows(path, cells, expected, table, task=task, choices=choices)
