"""Write files of other shapes than index<TAB>value, as `shapes` reads them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from gluebench.benchmark import Role, Split, Task, TestFile
from gluebench.reading.nested import holds_objects
from gluebench.reading.notation import loaded
from gluebench.submission.answers import id_name
from gluebench.submission.forms import values_of
from gluebench.submission.submission import Column


def write_shaped(files: Sequence[tuple[TestFile, Task, Column]], role: Role) -> bytes:
    """The file that holds these test files, which are its columns, some of them the same; see `read_shaped`.

    Raises ValueError for two test files of one column with different predictions.
    """
    first, task, column = files[0]
    columns: dict[tuple[str, ...], tuple[Column, Task]] = {}
    for file, of, values in files:
        titles = file.columns or (file.column or "prediction",)
        if columns.setdefault(titles, (values, of))[0] != values:
            raise ValueError(
                f"{file.path}: expected the same predictions for all of the column {file.column}"
            )
    split, names = first.splits[role], [name for titles in columns for name in titles]
    ids = split.ids or [*map(str, column.row_indices)]
    if first.path.casefold().endswith((".json", ".jsonl")):
        return _json_file(first, split, names, [values for values, _ in columns.values()]).encode()
    if split.ordered and task.form == "tokens" and (not first.column or first.column.isdecimal()):
        return "".join("\n".join([*cell, "", ""]) for cell in column.cells).encode()
    if first.parts:
        return _parts_file(first, task, column, ids)
    cells = [cells for titles, both in columns.items() for cells in _columns(*both, len(titles))]
    head, body = (
        ([], cells) if split.ordered else ([first.id or ("id" if split.ids else "index")], [ids, *cells])
    )
    places = [*map(str, range(len(head) + 1, len(head) + 1 + len(names)))]
    header = [] if names == places and not first.columns else [[*head, *names]]  # columns by number, or not
    return _delimited([*header, *zip(*body, strict=True)], first)


def _json_file(file: TestFile, split: Split, names: Sequence[str], columns: Sequence[Column]) -> str:
    """An object for each example; or one of all columns, which may differ in length if they have no ids.

    If the examples have ids and the manifest names no column, it is one object of ids to answers.
    """
    answers = [_answers(column, as_text=isinstance(file.line.get(file.column), str)) for column in columns]
    if split.ids and not file.column and file.path.casefold().endswith(".json"):
        return json.dumps(dict(zip(split.ids, answers[0], strict=True)), ensure_ascii=False, indent=0) + "\n"
    if split.ordered and file.path.casefold().endswith(".json"):
        return json.dumps(dict(zip(names, answers, strict=True)), ensure_ascii=False) + "\n"
    key = file.id or next(iter(file.line), "id" if split.ids else "idx")
    ids = split.ids or columns[0].row_indices
    rows = [dict(zip((key, *names), row, strict=True)) for row in zip(ids, *answers, strict=True)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    array = file.path.casefold().endswith(".json") and not file.line
    return f"[{', '.join(lines)}]\n" if array else "\n".join([*lines, ""])


def write_nested(like: str | os.PathLike[str], column: Column, key: str, ids: Sequence[str]) -> bytes:
    """The answers in the objects of a task's own JSON lines, of which ids and structure are kept.

    Raises ValueError unless its objects and the answers have the same ids.
    """
    answers, rows = dict(zip(ids, _answers(column), strict=True)), []
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


def _answers(column: Column, *, as_text: bool = False) -> list[Any]:
    """The answers for JSON; labels that are integers are written so, unless they are expected as text."""
    if not column.labels or as_text:
        return column.words() if column.labels else [*column.values]
    values = [int(word) if word.isdecimal() and str(int(word)) == word else word for word in column.labels]
    return [values[code] for code in column.codes]


def _answered(value: Any, key: str, answers: dict[str, Any]) -> Any:
    """The ids and the structure of a value of JSON, with its answer in each innermost object; takes these."""
    if isinstance(value, list):
        return [_answered(item, key, answers) for item in value if holds_objects(item)]
    name = id_name(value)
    own = {} if name is None else {name: value[name]}
    inner = {part: _answered(value[part], key, answers) for part in value if holds_objects(value[part])}
    return own | (inner or {key: answers.pop(str(value.get(name)))})


def _parts_file(file: TestFile, task: Task, column: Column, ids: Sequence[str]) -> bytes:
    """A table with a row for each item of a ranking, or each span."""
    rows = [[file.id or "id", file.column, file.parts]]
    for example, cell in zip(ids, column.cells, strict=True):
        if task.form == "spans":
            rows += [[example, f"{start}-{end}", label] for start, end, label in cell]
        else:
            rows += [[example, item, str(len(cell) - at)] for at, item in enumerate(cell)]
    return _delimited(rows, file)


def _columns(column: Column, task: Task, number: int) -> list[list[str]]:
    """The cells of the column of a test file, or of its columns, one for each label."""
    if number == 1:
        return [[*map(str, values_of(column, task))]]
    if task.form == "sets":
        return [[str(int(word in cell)) for cell in column.cells] for word in task.vocabulary]
    return [[repr(float(cell[at])) for cell in column.cells] for at in range(number)]


def _delimited(rows: Iterable[Sequence[str]], file: TestFile) -> bytes:
    """The rows as CSV or TSV."""
    separator = "," if file.path.casefold().endswith(".csv") else "\t"
    return "".join(separator.join(_quoted(cell, separator) for cell in row) + "\n" for row in rows).encode()


def _quoted(cell: str, separator: str) -> str:
    quoted = separator == "," and any(mark in cell for mark in ',"\n')
    return '"' + cell.replace('"', '""') + '"' if quoted else cell
