"""Files of other shapes than index<TAB>value: JSON, CSV, several columns, or no index at all.

A manifest says that a test file has such a shape. Its rows become those of an ordinary file, which one reader
checks for all; the line of each row is kept for messages.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from gluebench.benchmark import Role, Split, Task, TestFile
from gluebench.submission.forms import cell_text, plain_cell, values_of
from gluebench.submission.layouts import KEYS, VALUES
from gluebench.submission.notation import (
    PLACE,
    NotationError,
    NumberError,
    decimal,
    is_number,
    joined,
    loaded,
)
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Layout
from gluebench.submission.submission import Column
from gluebench.submission.tables import Table, read_table


class _Row(NamedTuple):
    line: int
    example: str
    cell: str


class ShapeError(ValueError):
    """A file that does not have the shape that the manifest says."""

    def __init__(self, expected: str, fix: str, line: int = 1) -> None:
        super().__init__(expected)
        self.expected, self.fix, self.line = expected, fix, line


def shaped(file: TestFile, role: Role) -> bool:
    """Whether the file has another shape than index<TAB>value."""
    return bool(file.member or file.column or file.splits[role].ordered)


def read_shaped(name: str, data: bytes, file: TestFile, task: Task, layout: Layout, role: Role) -> Table:
    """Read a file of the shape that its manifest says; see `read_table`."""
    try:
        suffix = name.rpartition(".")[2].casefold()
        rows = [*_rows(_decoded(data), suffix, file, task, layout, role)]
    except ShapeError as error:
        problem = Problem("shape", "error", name, error.expected, error.fix, error.line)
        return read_table(name, b"", layout)._replace(problems=[problem])
    if file.gaps and layout.value == "label":
        rows = [row for row in rows if row.cell]
    lines = "".join(f"{row.example}\t{row.cell}\n" for row in rows)
    head = "id" if layout.ids else "index"
    table = read_table(name, f"{head}\t{layout.value}\n{lines}".encode(), layout)
    problems = [
        problem if problem.line is None else replace(problem, line=rows[problem.line - 2].line)
        for problem in table.problems
    ]
    return table._replace(problems=problems)


def _rows(text: str, suffix: str, file: TestFile, task: Task, layout: Layout, role: Role) -> Iterator[_Row]:
    if suffix in ("json", "jsonl"):
        return _json_rows(text, file, task, role, lines=suffix == "jsonl")
    if file.splits[role].ordered:
        return _ordered_rows(text, file, task, layout, suffix)
    if file.parts:
        return _whole_rows(text, file, layout, suffix, task)
    return (
        (_Row(line, example, cells[0]))
        for line, example, cells in _columns(text, [file.column], layout, suffix)
    )


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ShapeError("expected UTF-8 text", "Save the file again as UTF-8.", line) from None


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _table(text: str, suffix: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their lines; cells with quotes may hold separators and line ends."""
    reader = csv.reader(
        io.StringIO(_unix(text)),
        delimiter="," if suffix == "csv" else "\t",
        quoting=csv.QUOTE_MINIMAL if suffix == "csv" else csv.QUOTE_NONE,
    )
    before = 0
    try:
        for row in reader:
            yield before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise ShapeError(
            f"expected a table, and its line cannot be read ({error})", "Write the file again.", before + 1
        ) from None


def _columns(
    text: str, columns: Sequence[str], layout: Layout, suffix: str
) -> Iterator[tuple[int, str, list[str]]]:
    """Line, index or id, and the cells of some columns of a table."""
    table = _table(text, suffix)
    _, header = next(table, (1, []))
    names = [name.strip() for name in header]
    index = _id_name(names)
    values = [_value_column(names, column, layout) for column in columns]
    if index is None or None in values:
        named = " and ".join(column or layout.value for column in columns)
        expected = f"expected a header with a column of ids (id, index) and the column {named}"
        there = " ".join(", ".join(names).split())[:60] or "an empty file"
        raise ShapeError(f"{expected}, not {there}", "Write these names in the first line.")
    for line, row in table:
        if len(row) != len(names):
            if any(map(str.strip, row)):
                expected = f"expected {len(names)} cells, as in the header, not {len(row)}"
                raise ShapeError(expected, "Write one cell for each column.", line)
            continue
        yield line, row[names.index(index)].strip(), [plain_cell(row[at]) for at in values if at is not None]


def _whole_rows(text: str, file: TestFile, layout: Layout, suffix: str, task: Task) -> Iterator[_Row]:
    """The answers of a table whose rows are items of rankings, or spans; empty for ids without rows."""
    known = layout.ids or [*map(str, range(layout.size))]
    lines: dict[str, int] = dict.fromkeys(known, 1)
    parts: dict[str, list[tuple[str, str]]] = {example: [] for example in known}
    for line, example, (part, about) in _columns(text, [file.column, file.parts], layout, suffix):
        lines[example] = line
        parts.setdefault(example, []).append((part, _part(part, about, task, line)))
    for example, of_example in parts.items():
        if task.form == "spans":
            cell = "; ".join(span for _, span in of_example)
        elif layout.value == "label":
            cell = " ".join(f"{item}:{gain}" for item, gain in of_example)
        else:
            cell = " ".join(item for item, _ in sorted(of_example, key=lambda pair: -float(pair[1])))
        yield _Row(lines[example], example, cell)


def _part(part: str, about: str, task: Task, line: int) -> str:
    """A span with its label, from its cell or its positions as "3 4 5"; or the score of an item."""
    if task.form == "ranking":
        try:
            decimal(about)
        except NumberError:
            expected = f"expected a number as the score of {part}, not {about[:20]!r}"
            raise ShapeError(expected, "Write one.", line) from None
        _strict(line, [part], partial(joined, separator=" "))
        return about
    words = part.split()
    if words and all(map(PLACE.fullmatch, words)):
        first, last = int(words[0]), int(words[-1])
        if [*map(int, words)] != [*range(first, first + len(words))]:
            raise ShapeError(
                "expected the positions of one span, in order", "Write each span by itself.", line
            )
        part = f"{first}-{last + 1}"
    return f"{part}:{about}" if about else part


def _id_name(names: Iterable[str]) -> str | None:
    """The name of the ids: a usual one, or else the first with "id" at its end or start, as tweet_id."""
    folded = {name.casefold(): name for name in reversed([*names])}
    others = (key for key in reversed(folded) if key.endswith("id") or key.startswith("id_"))
    return next((folded[key] for key in (*KEYS, *others) if key in folded), None)


def _value_column(names: Sequence[str], column: str, layout: Layout) -> int | None:
    """The column that the manifest names, or in gold also the one called label."""
    named = [column] if column else []
    for name in [*named, *([layout.value] if not named or layout.value == "label" else [])]:
        if names.count(name) > 1:
            raise ShapeError(f"expected one column {name}, not {names.count(name)}", "Leave the others out.")
        if name in names:
            return names.index(name)
    return None


def _ordered_rows(text: str, file: TestFile, task: Task, layout: Layout, suffix: str) -> Iterator[_Row]:
    """One value in each line; of tokens, one in each line and a blank line after each example."""
    if task.form == "tokens":
        lines = [(line, content.split()) for line, content in enumerate(_unix(text).split("\n"), 1)]
        blocks = (list(block) for some, block in groupby(lines, lambda pair: bool(pair[1])) if some)
        for number, block in enumerate(blocks):
            yield _Row(block[0][0], str(number), " ".join(cells[-1] for _, cells in block))
        return
    table = [*_table(text, suffix)]
    column = int(file.column) - 1 if file.column.isdecimal() else 0
    if table and (first := [name.strip() for name in table[0][1]]):
        headed = _value_column(first, file.column, layout)
        if headed is not None or (layout.size < len(table) and _heading(first[column:][:1], layout)):
            column, table = column if headed is None else headed, table[1:]
    for number, (line, row) in enumerate(table):
        if column >= len(row) and row:
            raise ShapeError(f"expected {column + 1} cells, not {len(row)}", "Write all columns.", line)
        yield _Row(line, str(number), plain_cell(row[column] if row else ""))


def _heading(cell: Sequence[str], layout: Layout) -> bool:
    """Whether the first cell of a column without ids is its name: a usual one, or no value."""
    known = {word.casefold() for word in cell} & {"target", *VALUES}
    value = (*layout.words, *layout.synonyms) if layout.words else filter(is_number, cell)
    return bool(known or (not layout.form and cell and {*cell}.isdisjoint(value)))


def _json_rows(text: str, file: TestFile, task: Task, role: Role, *, lines: bool) -> Iterator[_Row]:
    """The answers of a JSON file: objects with an id and a value, at any depth, or ids to values."""
    values = [(line, content) for line, content in enumerate(text.split("\n"), 1) if content.strip()]
    lines = lines or (len(values) > 1 and _strict(*values[0], loaded) is not None)  # under the name .json
    values = values if lines else [(1, text)]
    number, ordered = 0, file.splits[role].ordered
    for line, content in values:
        value = _strict(line, content, loaded)
        if value is None:
            raise ShapeError("expected JSON", "Write the file with a JSON library.", line)
        answers = _answers(value, (file.column,) if file.column else VALUES, line=lines)
        for index, answer in _by_unlisted_ids(answers) if ordered else answers:
            cell = _strict(line, answer, partial(cell_text, task=task))
            yield _Row(line, str(number) if index is None else str(index), cell)
            number += 1


def _strict(line: int, content: Any, read: Callable[..., Any]) -> Any:
    """What is read of a line. Raises ShapeError for a NotationError."""
    try:
        return read(content)
    except NotationError as error:
        raise ShapeError(f"expected {error}", "Write it so.", line) from None


def _answers(value: Any, keys: Sequence[str], *, line: bool = False) -> Iterator[tuple[Any, Any]]:
    """Id (None if there is none) and answer of each example; an object that is a `line` is one example."""
    if isinstance(value, dict):
        key = next((name for name in keys if name in value), None)
        name = _id_name(value if key else [*{*value} & {*KEYS}])
        index = None if name is None else value[name]
        if isinstance(index, dict):  # of the paragraph, the question and the answer
            index = [*index.values()][-1]
        if key is not None and (line or index is not None or not isinstance(value[key], list)):
            yield index, value[key]
        elif key is not None:
            yield from _answers(value[key], VALUES)
        elif index is None and not any(map(_holds_objects, value.values())):
            yield from value.items()
        else:
            for item in filter(_holds_objects, value.values()):
                yield from _answers(item, keys)
    elif isinstance(value, list):
        for item in value:
            if _holds_objects(item):
                yield from _answers(item, keys)
            else:
                yield None, item
    else:
        yield None, value


def _by_unlisted_ids(answers: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The answers in the order of their ids, TEST_2 before TEST_10, if the manifest does not list these."""
    pairs = [*answers]
    if all(index is None or str(index).isdecimal() for index, _ in pairs):
        return pairs
    pairs.sort(key=lambda pair: _natural(str(pair[0])))
    return [(None, answer) for _, answer in pairs]


def _natural(name: str) -> list[tuple[int, str]]:
    """A key to sort names by, in which digits are numbers, of any length."""
    digits = (part.lstrip("0") if part.isdecimal() else part for part in re.split(r"(\d+)", name))
    return [(len(part) if part.isdecimal() else 0, part) for part in digits]


def _holds_objects(value: Any) -> bool:
    """Whether it is an object, or a list with one at any depth."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_objects, value)))


def write_shaped(files: Sequence[tuple[TestFile, Task, Column]], role: Role) -> bytes:
    """The file that holds these test files, which are its columns, some of them the same; see `read_shaped`.

    Raises ValueError for two test files of one column with different predictions.
    """
    first, task, column = files[0]
    columns: dict[str, tuple[Column, Task]] = {}
    for file, of, values in files:
        if columns.setdefault(file.column or "prediction", (values, of))[0] != values:
            raise ValueError(
                f"{file.path}: expected the same predictions for all of the column {file.column}"
            )
    split, names = first.splits[role], [*columns]
    ids = split.ids or [*map(str, column.row_indices)]
    if first.path.casefold().endswith((".json", ".jsonl")):
        return _json_file(first, split, names, [values for values, _ in columns.values()]).encode()
    if split.ordered and task.form == "tokens":
        return "".join("\n".join([*cell, "", ""]) for cell in column.cells).encode()
    if first.parts:
        return _parts_file(first, task, column, ids)
    cells = [[*map(str, values_of(values, of))] for values, of in columns.values()]
    head, body = ([], cells) if split.ordered else (["id" if split.ids else "index"], [ids, *cells])
    header = [] if all(map(str.isdecimal, names)) else [[*head, *names]]
    return _delimited([*header, *zip(*body, strict=True)], first)


def _json_file(file: TestFile, split: Split, names: Sequence[str], columns: Sequence[Column]) -> str:
    """An object for each example; or one of all columns, which may differ in length if they have no ids.

    If the examples have ids and the manifest names no column, it is one object of ids to answers.
    """
    answers = [column.words() if column.labels else [*column.values] for column in columns]
    if split.ids and not file.column and file.path.casefold().endswith(".json"):
        values = map(_number, answers[0]) if columns[0].labels else answers[0]
        return json.dumps(dict(zip(split.ids, values, strict=True)), ensure_ascii=False, indent=0) + "\n"
    if split.ordered and file.path.casefold().endswith(".json"):
        return json.dumps(dict(zip(names, answers, strict=True)), ensure_ascii=False) + "\n"
    key, ids = ("id", split.ids) if split.ids else ("idx", columns[0].row_indices)
    rows = [dict(zip((key, *names), row, strict=True)) for row in zip(ids, *answers, strict=True)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    return f"[{', '.join(lines)}]\n" if file.path.casefold().endswith(".json") else "\n".join([*lines, ""])


def write_nested(like: str | os.PathLike[str], column: Column, key: str, ids: Sequence[str]) -> bytes:
    """The answers in the objects of a task's own JSON lines, of which ids and structure are kept.

    Raises ValueError unless its objects and the answers have the same ids.
    """
    words = column.words() if column.labels else [*column.values]
    answers, rows = dict(zip(ids, map(_number, words), strict=True)), []
    with open(like, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                rows.append(_answered(dict(loaded(line)), key, answers))
            except KeyError as error:
                raise ValueError(f"{like}:{number}: there is no prediction for the example {error}") from None
            except (TypeError, ValueError):
                raise ValueError(f"{like}:{number}: expected an object of JSON in each line") from None
    if answers:
        raise ValueError(f"{like}: expected all examples of the predictions, and {min(answers)} is not there")
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _number(word: Any) -> Any:
    """The integer that is written as this word; other values as they are."""
    return int(word) if isinstance(word, str) and word.isdecimal() and str(int(word)) == word else word


def _answered(value: Any, key: str, answers: dict[str, Any]) -> Any:
    """The ids and the structure of a value of JSON, with its answer in each innermost object; takes these."""
    if isinstance(value, list):
        return [_answered(item, key, answers) for item in value if _holds_objects(item)]
    name = _id_name(value)
    own = {} if name is None else {name: value[name]}
    inner = {part: _answered(value[part], key, answers) for part in value if _holds_objects(value[part])}
    return own | (inner or {key: answers.pop(str(value.get(name)))})


def _parts_file(file: TestFile, task: Task, column: Column, ids: Sequence[str]) -> bytes:
    """A table with a row for each item of a ranking, or each span."""
    rows = [["id", file.column, file.parts]]
    for example, cell in zip(ids, column.cells, strict=True):
        if task.form == "spans":
            rows += [[example, f"{start}-{end}", label] for start, end, label in cell]
        else:
            rows += [[example, item, str(len(cell) - at)] for at, item in enumerate(cell)]
    return _delimited(rows, file)


def _delimited(rows: Iterable[Sequence[str]], file: TestFile) -> bytes:
    """The rows as CSV or TSV."""
    separator = "," if file.path.casefold().endswith(".csv") else "\t"
    return "".join(separator.join(_quoted(cell, separator) for cell in row) + "\n" for row in rows).encode()


def _quoted(cell: str, separator: str) -> str:
    quoted = separator == "," and any(mark in cell for mark in ',"\n')
    return '"' + cell.replace('"', '""') + '"' if quoted else cell
