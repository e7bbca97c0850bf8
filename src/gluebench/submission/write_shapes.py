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
    split = first.splits[role]
    columns: dict[tuple[str, ...], Column] = {}
    names: list[str] = []
    cells: list[list[str]] = []
    is_json = first.path.casefold().endswith((".json", ".jsonl"))
    for file, task_of_file, values in files:
        titles = file.columns or (file.column or "prediction",)
        if titles in columns and columns[titles] != values:
            raise ValueError(
                f"{file.path}: expected the same predictions for all of the column {file.column}"
            )
        if titles not in columns:
            columns[titles] = values
            names += titles
            if not is_json:
                cells += _cells_of(values, task_of_file, len(titles))
    if is_json:
        return _json_file(first, split, names, list(columns.values())).encode()
    if split.ordered and task.form == "tokens" and (not first.column or first.column.isdecimal()):
        blocks = ["\n".join(tags) + "\n\n" for tags in column.cells]
        return "".join(blocks).encode()
    ids = split.ids or list(map(str, column.row_indices))
    if first.parts:
        return _parts_file(first, task, column, ids)

    if not split.ordered:
        names.insert(0, first.id or ("id" if split.ids else "index"))
        cells.insert(0, list(ids))
    rows: list[Sequence[str]] = list(zip(*cells, strict=True))
    if first.columns or not _are_numbers(names, ids=not split.ordered):
        rows.insert(0, names)
    return _delimited_file(rows, first)


def _are_numbers(names: Sequence[str], *, ids: bool) -> bool:
    """Whether the columns are named by their numbers in the file, the first one aside if it has the ids."""
    numbers = [str(number) for number in range(1, len(names) + 1)]
    first = 1 if ids else 0
    return names[first:] == numbers[first:]


def _json_file(file: TestFile, split: Split, names: Sequence[str], columns: Sequence[Column]) -> str:
    """An object for each example; or one of all columns, which may differ in length if they have no ids.

    If the examples have ids and the manifest names no column, it is one object of ids to answers.
    """
    as_text = isinstance(file.line.get(file.column), str)
    answers = [_answers(column, as_text=as_text) for column in columns]
    is_one_value = file.path.casefold().endswith(".json")
    if is_one_value and split.ids and not file.column:
        return json.dumps(dict(zip(split.ids, answers[0], strict=True)), ensure_ascii=False, indent=0) + "\n"
    if is_one_value and split.ordered:
        return json.dumps(dict(zip(names, answers, strict=True)), ensure_ascii=False) + "\n"

    key = file.id or next(iter(file.line), "id" if split.ids else "idx")
    ids = split.ids or columns[0].row_indices
    lines = []
    for example, *of_example in zip(ids, *answers, strict=True):
        row = {key: example}
        row.update(zip(names, of_example, strict=True))
        lines.append(json.dumps(row, ensure_ascii=False))
    if is_one_value and not file.line:
        return f"[{', '.join(lines)}]\n"
    return "".join(f"{line}\n" for line in lines)


def write_nested(like: str | os.PathLike[str], column: Column, key: str, ids: Sequence[str]) -> bytes:
    """The answers in the objects of a task's own JSON lines, of which ids and structure are kept.

    Raises ValueError unless its objects and the answers have the same ids.
    """
    answers = dict(zip(ids, _answers(column), strict=True))
    rows = []
    with open(like, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                rows.append(_take_answers(dict(loaded(line)), key, answers))
            except KeyError as error:
                raise ValueError(f"{like}:{number}: there is no prediction for the example {error}") from None
            except (TypeError, ValueError):
                raise ValueError(f"{like}:{number}: expected an object of JSON in each line") from None
    if answers:
        raise ValueError(f"{like}: expected all examples of the predictions, and {min(answers)} is not there")
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _answers(column: Column, *, as_text: bool = False) -> list[Any]:
    """The answers for JSON; labels that are integers are written so, unless they are expected as text."""
    if not column.labels:
        return list(column.values)
    if as_text:
        return column.words()
    values: list[Any] = []
    for word in column.labels:
        is_integer = word.isdecimal() and str(int(word)) == word
        values.append(int(word) if is_integer else word)
    return [values[code] for code in column.codes]


def _take_answers(value: Any, key: str, answers: dict[str, Any]) -> Any:
    """The ids and the structure of a value of JSON, with its answer in each innermost object.

    Removes these from `answers`. Raises KeyError for an id without an answer.
    """
    if isinstance(value, list):
        return [_take_answers(item, key, answers) for item in value if holds_objects(item)]
    name = id_name(value)
    result = {}
    if name is not None:
        result[name] = value[name]
    inner = {}
    for part, content in value.items():
        if holds_objects(content):
            inner[part] = _take_answers(content, key, answers)
    if not inner:
        inner[key] = answers.pop(str(value.get(name)))
    return result | inner


def _parts_file(file: TestFile, task: Task, column: Column, ids: Sequence[str]) -> bytes:
    """A table with a row for each item of a ranking, or each span."""
    rows = [[file.id or "id", file.column, file.parts]]
    for example, cell in zip(ids, column.cells, strict=True):
        if task.form == "spans":
            for start, end, label in cell:
                rows.append([example, f"{start}-{end}", label])
        else:
            for score, item in zip(range(len(cell), 0, -1), cell, strict=True):
                rows.append([example, item, str(score)])
    return _delimited_file(rows, file)


def _cells_of(column: Column, task: Task, number: int) -> list[list[str]]:
    """The cells of the column of a test file, or of its columns, one for each label."""
    if number == 1:
        return [list(map(str, values_of(column, task)))]
    columns = []
    for at, label in enumerate(task.vocabulary):
        if task.form == "sets":
            columns.append(["1" if label in cell else "0" for cell in column.cells])
        else:
            columns.append([repr(float(cell[at])) for cell in column.cells])
    return columns


def _delimited_file(rows: Iterable[Sequence[str]], file: TestFile) -> bytes:
    """The rows as CSV or TSV."""
    is_csv = file.path.casefold().endswith(".csv")
    lines = []
    for row in rows:
        if is_csv:
            lines.append(",".join(map(_csv_cell, row)) + "\n")
        else:
            lines.append("\t".join(row) + "\n")
    return "".join(lines).encode()


def _csv_cell(cell: str) -> str:
    """The cell, in quotation marks where it has a mark of CSV in it."""
    if "," in cell or '"' in cell or "\n" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell
