"""Files of other shapes than index<TAB>value: JSON, CSV, several columns, or no index at all.

A manifest says that a test file has such a shape. Its rows become those of an ordinary file, which one reader
checks for all; the line of each row is kept for messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

from gluebench.benchmark import Role, Task, TestFile
from gluebench.reading.notation import loaded
from gluebench.reading.records import ReadingError
from gluebench.reading.text import LINE, decode, find_delimiter, unicode_form
from gluebench.submission.answers import VALUES, Answers, read_answers, refuse_rivals_in_objects
from gluebench.submission.forms import cell_text
from gluebench.submission.layouts import Cells
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Layout
from gluebench.submission.table_shapes import ShapedRows, plain_cells, rows_of_table, strict
from gluebench.submission.tables import Table, read_rows, utf16_notice


class ShapedFile(NamedTuple):
    """A file of the shape that its manifest says."""

    table: Table
    rows: ShapedRows
    groups: Mapping[int, int]
    """Index to the number of the list that holds the answer; empty unless several lists in objects do."""

    def editable_rows(self) -> Cells:
        """A copy of the rows of index or id and value, to be repaired."""
        rows = zip(self.rows.examples, self.rows.cells, strict=True)
        return Cells(rows=list(map(list, rows)), lines=list(self.rows.lines))


def read_shaped(name: str, data: bytes, file: TestFile, task: Task, layout: Layout, role: Role) -> ShapedFile:
    """Read a file of the shape that its manifest says; see `read_table`."""
    try:
        suffix = name.rpartition(".")[2].casefold()
        rows = _read_rows(decode(data), suffix, file, task, layout, role)
    except ReadingError as error:
        problem = Problem("shape", "error", name, error.expected, error.fix, error.line)
        return ShapedFile(Table(None, [problem], Counter()), ShapedRows((), (), ()), {})
    if file.gaps and layout.value == "label":
        rows = _without_gaps(rows)
    rows = rows._replace(examples=plain_cells(rows.examples))
    table = read_rows(name, zip(rows.examples, rows.cells, strict=True), rows.lines, layout)
    if unicode_form(data) != "utf-8":
        table.problems.insert(0, utf16_notice(name, layout))
    if rows.tied:
        table.problems.append(_equal_scores(name, rows))
    groups: dict[int, int] = {}
    if table.column is not None:
        groups = _groups(rows, layout)
    return ShapedFile(table, rows, groups)


def _without_gaps(rows: ShapedRows) -> ShapedRows:
    """The rows that have a value."""
    return rows._replace(
        lines=list(compress(rows.lines, rows.cells)),
        examples=list(compress(rows.examples, rows.cells)),
        cells=list(filter(None, rows.cells)),
        groups=list(compress(rows.groups, rows.cells)),
    )


def _groups(rows: ShapedRows, layout: Layout) -> dict[int, int]:
    """Index to group, of rows without a fault."""
    if len(set(rows.groups)) < 2:
        return {}
    groups = {}
    for example, group in zip(rows.examples, rows.groups, strict=True):
        index = layout.places[example.encode()] if layout.ids else int(example)
        groups[index] = group
    return groups


def _equal_scores(name: str, rows: ShapedRows) -> Problem:
    """Warn of rankings whose order the scores do not decide."""
    number = f"{len(rows.tied):,} of {len(rows.cells):,}"
    expected = f"expected different scores in a ranking; items of {number} have equal ones"
    fix = "Of equal scores, the greatest id counts as best, as in trec_eval; "
    fix += "give others if the order matters."
    return Problem("equal-scores", "warning", name, expected, fix, rows.tied[0])


def _read_rows(text: str, suffix: str, file: TestFile, task: Task, layout: Layout, role: Role) -> ShapedRows:
    """The answers of a file in the format of its content, which may be another than its name says."""
    if _is_json(text, suffix):
        return _rows_of_json(text, file, task, layout, role)
    return rows_of_table(text, file, task, layout, suffix, ordered=file.splits[role].ordered)


def _is_json(text: str, suffix: str) -> bool:
    """Whether a file is JSON: by its name, unless it begins as a table does, or by its first object."""
    first = text.lstrip()[:1]
    if suffix in ("json", "jsonl"):
        return not (first.isalpha() and find_delimiter(text) != LINE)
    if first not in ("{", "["):
        return False
    line = text.lstrip().partition("\n")[0].strip()
    value = loaded(line)
    if value is None:
        value = loaded(text)
    if isinstance(value, list):
        return any(isinstance(item, dict) for item in value)
    return isinstance(value, dict)


def _rows_of_json(text: str, file: TestFile, task: Task, layout: Layout, role: Role) -> ShapedRows:
    """The answers of a JSON file: objects with an id and a value, at any depth, or ids to values."""
    of_gold = layout.value == "label"
    keys = list(VALUES)
    if file.column:
        keys = [file.column]
    if of_gold and task.form == "text":
        keys.append("answers")
    are_lines = file.path.casefold().endswith(".jsonl") and "\n" not in text.strip()
    answers = read_answers(
        text, keys, most=layout.most_rows, id_key=file.id, names=layout.names, are_lines=are_lines
    )
    if not of_gold and not file.column:
        refuse_rivals_in_objects(answers, keys)
    _refuse_columns(answers, layout.size)
    if file.splits[role].ordered:
        answers = _by_unlisted_ids(answers, layout.size)
    values = answers.values
    if of_gold and file.gold.text:
        values = list(map(partial(_with_length, key=file.gold.text), values, answers.records))
    # Most answers are words, and one look at all is faster than one at each.
    if task.form == "text" or set(map(type, values)) != {str}:
        read = partial(cell_text, task=task)
        values = [strict(line, value, read) for line, value in zip(answers.lines, values, strict=True)]
    indices = answers.indices
    numbered = None in indices
    if numbered:
        indices = [number if index is None else index for number, index in enumerate(indices)]
    examples = list(map(str, indices))
    return ShapedRows(answers.lines, examples, plain_cells(values), (), answers.groups, numbered)


def _with_length(value: Any, record: Any, key: str) -> Any:
    """The weighted spans of a text, and one of weight 0 over the whole, if the text is under this key."""
    if isinstance(value, list) and isinstance(record, dict) and isinstance(record.get(key), str):
        return value + [[0, len(record[key]), 0]]
    return value


def _refuse_columns(answers: Answers, size: int) -> None:
    """Refuse a single answer that is the column of all, as `DataFrame.to_json` writes it."""
    if len(answers.values) != 1 or size < 2:
        return
    column = answers.values[0]
    if isinstance(column, dict | list) and len(column) == size:
        expected = f"expected an object for each example, and this is one with a column of {size:,} answers"
        fix = 'Write an object a line (in pandas: to_json(path, orient="records", lines=True)).'
        raise ReadingError(expected, fix)


def _by_unlisted_ids(answers: Answers, size: int) -> Answers:
    """The answers in the order of their ids, TEST_2 before TEST_10, if the manifest does not list these.

    Ids are indices if most of them are numbers below `size`, the number of examples.
    """
    ids = [str(index) for index in answers.indices if index is not None]
    indices = set(map(str, range(size)))
    known = sum(name in indices for name in ids)
    if 2 * known >= len(ids) and all(map(str.isdecimal, ids)):
        return answers
    name, count = Counter(ids).most_common(1)[0]
    if count > 1:
        expected = f"expected each id once, and {name[:20]} is there {count} times"
        raise ReadingError(expected, "Keep one of each.")
    order = sorted(range(len(answers.values)), key=lambda at: _natural(str(answers.indices[at])))
    return answers.take(order)._replace(indices=[None] * len(order))


def _natural(name: str) -> list[tuple[int, str]]:
    """A key to sort names by, in which digits are numbers, of any length."""
    key = []
    for part in re.split(r"(\d+)", name):
        size = 0
        if part.isdecimal():
            part = part.lstrip("0")
            size = len(part)
        key.append((size, part))
    return key
