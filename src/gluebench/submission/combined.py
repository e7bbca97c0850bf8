"""Files that become others before they are read: one with several tasks, and those of Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from gluebench.reading.columnar import PARQUET, read_parquet
from gluebench.reading.formats import read_records
from gluebench.reading.notation import NotationError, loaded
from gluebench.reading.records import ReadingError, Records
from gluebench.reading.text import decode
from gluebench.submission.answers import KEYS, VALUES
from gluebench.submission.archive import Archive, is_trusted, read_members
from gluebench.submission.archive_problems import READ, base_name, printable
from gluebench.submission.forms import plain_cell
from gluebench.submission.names import FileNames
from gluebench.submission.problems import problem_maker

_TASKS = ("task", "task_name", "test_file", "dataset", "subset")
"""Common names of the column that says of which task a row is, the most reliable first."""
_SPARE = 10_000
"""Lines, lists and objects that any file may have."""
_MOST_UPLOADED = 6 << 20
"""Bytes of a file that strangers upload: a value of JSON may take fifty times its bytes in memory."""

_problem = problem_maker(__file__)


def separate_tasks(source: str | os.PathLike[str], archive: Archive, names: FileNames) -> Archive:
    """The archive with a file for each task, if its only table is named as no test file and has these.

    The table is an object of tasks to predictions, or has a column that says the task of each row. The files
    are named as if in a folder: RTE.tsv of predictions.json is predictions.json/RTE.tsv.
    """
    tables = [path for path in archive.ignored if path.casefold().endswith(READ)]
    if archive.members or archive.problems or len(tables) != 1 or names.likely(tables[0]):
        return archive
    path = tables[0]
    ignored = [other for other in archive.ignored if other != path]
    found = read_members(source, base_name(path).__eq__).members
    data = b"".join(list(found.values())[:1])
    if not data.startswith(PARQUET) and not _is_sparing(data, names):
        return archive
    try:
        parts = _split_by_task(data, names)
    except ImportError:
        return Archive({}, ignored, [_problem("parquet", path)])
    except (ReadingError, NotationError):
        return archive
    members: dict[str, bytes] = {}
    for name, part in parts.items():
        file = names.meant(name)
        if file is None:
            ignored.append(f"{path}/{printable(name)}")
            continue
        member = f"{path}/{file.path}"
        if member in members:
            member = f"{path}/{printable(name)}/{file.path}"
        members[member] = part
    if not members:
        return archive
    notice = _problem("several-tasks", path, "notice")
    return Archive(members, ignored, [notice], archive.comment, lineless=frozenset(members))


def _is_sparing(data: bytes, names: FileNames) -> bool:
    """Whether a file has no more lines, lists and objects than rows need, and cannot fill the memory."""
    if len(data) > _MOST_UPLOADED and not is_trusted():
        return False
    nested = data.count(b"{") + data.count(b"[")
    return max(nested, data.count(b"\n")) <= 2 * names.row_count + _SPARE


def _split_by_task(data: bytes, names: FileNames) -> dict[str, bytes]:
    """Task to the file of its predictions; empty if nothing says the tasks.

    Raises ReadingError, NotationError, and ImportError for Parquet without pyarrow.
    """
    if not data.startswith(PARQUET):
        value = loaded(decode(data))
        if isinstance(value, dict) and any(map(names.meant, value)):
            return {name: json.dumps(part).encode() for name, part in value.items()}
    records = _read_records(data)
    task_columns = [name for name in _TASKS if records.find(name) is not None]
    width = len(records.names)
    if not task_columns or any(len(row) != width for row in records.rows):
        return {}
    rows: dict[str, list[list[Any]]] = {}
    for name, row in zip(records.column(task_columns[0]), records.rows, strict=True):
        rows.setdefault(str(name), []).append(row)
    return {name: _write_file(records, of_task) for name, of_task in rows.items()}


def _read_records(data: bytes) -> Records:
    if not data.startswith(PARQUET):
        return read_records(data, usual=_TASKS + KEYS + VALUES)
    if not is_trusted():
        raise ReadingError("expected text, and this is Parquet", "Write text.", None)
    return read_parquet(data)


def _write_file(records: Records, rows: Sequence[Sequence[Any]]) -> bytes:
    """Some rows as JSON if they were JSON, else as a table, without the column of tasks."""
    columns = {}  # position to name
    for at, full_name in enumerate(records.names):
        name = full_name.rpartition(".")[2]
        if name.casefold() not in _TASKS:
            columns[at] = name
    if records.format.startswith("JSON"):
        objects = []
        for row in rows:
            objects.append({name: row[at] for at, name in columns.items() if row[at] is not None})
        return json.dumps(objects).encode()

    lines = ["\t".join(columns.values())]
    for row in rows:
        lines.append("\t".join(_table_cell(row[at]) for at in columns))
    return "".join(f"{line}\n" for line in lines).encode()


def _table_cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, default=str)
    return plain_cell(value)


def convert_parquet(archive: Archive) -> Archive:
    """The archive with tables of text in place of Parquet; a file that cannot be read is a problem."""
    members: dict[str, bytes] = {}
    problems = list(archive.problems)
    lineless = set(archive.lineless)
    for path, data in archive.members.items():
        if not data.startswith(PARQUET):
            members[path] = data
            continue
        try:
            records = _read_records(data)
        except ImportError:
            problems.append(_problem("parquet", path))
        except ReadingError as error:
            problems.append(_problem("parquet, unread", path, what=error.expected))
        else:
            members[path] = _write_file(records, records.rows)
            problems.append(_problem("parquet, read", path, "notice"))
            lineless.add(path)
    return archive._replace(members=members, problems=problems, lineless=lineless)
