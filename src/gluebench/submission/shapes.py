"""Files of other shapes than index<TAB>value: JSON, CSV, several columns, or no index at all.

A manifest says that a test file has such a shape. Its rows become those of an ordinary file, which one reader
checks for all; the line of each row is kept for messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, groupby
from typing import Any, NamedTuple

from gluebench.benchmark import Role, Task, TestFile
from gluebench.reading.notation import (
    PLACE,
    NotationError,
    NumberError,
    decimal,
    is_number,
    joined,
    loaded,
)
from gluebench.reading.records import ReadingError
from gluebench.reading.text import LINE, Row, decode, find_delimiter, unicode_form
from gluebench.reading.text import read_table as split_table
from gluebench.submission.answers import VALUES, Answer, id_name, read_answers, refuse_rivals_in_objects
from gluebench.submission.forms import cell_text, plain_cell
from gluebench.submission.layouts import Cells
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Layout
from gluebench.submission.tables import Table, of_truth, read_table, utf16_notice

_BITS = {"0": False, "1": True, "0.0": False, "1.0": True}
"""How a cell says whether an example has a label."""


class _Rows(NamedTuple):
    """The rows of index or id and value, column by column."""

    lines: Sequence[int]
    examples: Sequence[str]
    """Index or id of each row."""
    cells: Sequence[str]
    tied: Sequence[int] = ()
    """Lines of rankings with equal scores."""
    groups: Sequence[int | None] = ()
    """Number of the list that holds each row, in JSON with lists in objects."""
    numbered: bool = False
    """Whether an index is that of the row, since the file says none."""


def is_shaped(file: TestFile, role: Role) -> bool:
    """Whether the file has another shape than index<TAB>value."""
    return bool(file.member or file.column or file.id or file.columns or file.splits[role].ordered)


class ShapedFile(NamedTuple):
    """A file of the shape that its manifest says."""

    table: Table
    rows: _Rows
    groups: Mapping[int, int]
    """Index to the number of the list that holds the answer; empty unless several lists in objects do."""

    def cells(self) -> Cells:
        """The rows of index or id and value."""
        return Cells(
            rows=[*map(list, zip(self.rows.examples, self.rows.cells, strict=True))], lines=[*self.rows.lines]
        )


def read_shaped(name: str, data: bytes, file: TestFile, task: Task, layout: Layout, role: Role) -> ShapedFile:
    """Read a file of the shape that its manifest says; see `read_table`."""
    try:
        suffix = name.rpartition(".")[2].casefold()
        rows = _rows(decode(data), suffix, file, task, layout, role)
    except ReadingError as error:
        problem = Problem("shape", "error", name, error.expected, error.fix, error.line)
        table = read_table(name, b"", layout)._replace(problems=[problem])
        return ShapedFile(table, _Rows((), (), ()), {})
    if file.gaps and layout.value == "label":
        rows = rows._replace(
            lines=[*compress(rows.lines, rows.cells)],
            examples=[*compress(rows.examples, rows.cells)],
            cells=[*filter(None, rows.cells)],
            groups=[*compress(rows.groups, rows.cells)],
        )
    rows = rows._replace(examples=_plain_cells(rows.examples))
    lines = "".join(f"{example}\t{cell}\n" for example, cell in zip(rows.examples, rows.cells, strict=True))
    head = "id" if layout.ids else "index"
    table = read_table(name, f"{head}\t{layout.value}\n{lines}".encode(), layout)
    problems = [
        problem if problem.line is None else replace(problem, line=rows.lines[problem.line - 2])
        for problem in table.problems
    ]
    if unicode_form(data) != "utf-8":
        problems.insert(0, utf16_notice(name, layout))
    if rows.tied:
        problems.append(_equal_scores(name, rows))
    groups = _groups(rows, layout) if table.column is not None else {}
    return ShapedFile(table._replace(problems=problems), rows, groups)


def _plain_cells(cells: Sequence[str]) -> Sequence[str]:
    """See `plain_cell`; nearly all are plain, which shows at once for all."""
    together = "".join(cells)
    if "\t" in together or "\n" in together or "\r" in together:
        return [*map(plain_cell, cells)]
    return cells


def _groups(rows: _Rows, layout: Layout) -> dict[int, int]:
    """Index to group, of rows without a fault."""
    if len({*rows.groups}) < 2:
        return {}
    groups = {}
    for example, group in zip(rows.examples, rows.groups, strict=True):
        if group is not None:
            groups[layout.places[example.encode()] if layout.ids else int(example)] = group
    return groups


def _equal_scores(name: str, rows: _Rows) -> Problem:
    """Warn of rankings whose order the scores do not decide."""
    number = f"{len(rows.tied):,} of {len(rows.cells):,}"
    expected = f"expected different scores in a ranking; items of {number} have equal ones"
    fix = (
        "Of equal scores, the greatest id counts as best, as in trec_eval; give others if the order matters."
    )
    return Problem("equal-scores", "warning", name, expected, fix, rows.tied[0])


def _rows(text: str, suffix: str, file: TestFile, task: Task, layout: Layout, role: Role) -> _Rows:
    """The answers of a file in the format of its content, which may be another than its name says."""
    ordered = file.splits[role].ordered
    if _is_json(text, suffix):
        return _json_rows(text, file, task, layout, role)
    if file.columns:
        return _spread_rows(text, file, task, layout, suffix, ordered=ordered)
    if ordered:
        return _ordered_rows(text, file, task, layout, suffix)
    if file.parts:
        return _whole_rows(text, file, layout, suffix, task)
    table = _columns(text, [file.column], file.id, layout, suffix)
    return _Rows(table.lines, table.examples, table.columns[0])


def _is_json(text: str, suffix: str) -> bool:
    """Whether a file is JSON: by its name, unless it begins as a table does, or by its first object."""
    first = text.lstrip()[:1]
    if suffix in ("json", "jsonl"):
        return not (first.isalpha() and find_delimiter(text) != LINE)
    if first not in ("{", "["):
        return False
    line = text.lstrip().partition("\n")[0].strip()
    value = loaded(line)
    value = loaded(text) if value is None else value
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def _delimiter(text: str, suffix: str) -> str:
    """What is between the cells of a table; where that does not show, commas in a file that is named so."""
    delimiter = find_delimiter(text)
    return "," if delimiter == LINE and suffix == "csv" else delimiter


class _Columns(NamedTuple):
    """Some columns of a table."""

    lines: list[int]
    examples: list[str]
    columns: list[Sequence[str]]


def _columns(
    text: str, columns: Sequence[str], id_column: str, layout: Layout, suffix: str, *, ordered: bool = False
) -> _Columns:
    """The ids, and the cells of some columns of a table; of an `ordered` one, rows are numbered."""
    table = split_table(text, _delimiter(text, suffix))
    first, header = next(table, Row(1, []))
    names = [name.strip() for name in header]
    index = None if ordered else _id_column(names, columns, id_column)
    values = [_value_column(names, column, layout) for column in columns]
    # Without a header, the ids are the first column.
    if ((index is None and not ordered) or None in values) and all(map(str.isdecimal, columns)):
        table, names = chain([Row(first, header)], table), [*map(str, range(1, len(header) + 1))]
        index = None if ordered else 0
        values = [names.index(column) if column in names else None for column in columns]
    if (index is None and not ordered) or None in values:
        named = ", ".join(column or layout.value for column in columns)
        column = f"column{'s' * (len(columns) > 1)} {named}"
        ids = f"a column {id_column} and" if id_column else "a column of ids (id, index) and"
        expected = f"expected a header with {'' if ordered else ids + ' '}the {column}"
        there = repr(", ".join(names)[:60]) if names else "an empty file"
        raise ReadingError(f"{expected}, not {there}", "Write these names in the first line.")
    lines = []
    rows = []
    width = len(names)
    for line, row in table:
        if len(row) == width:
            lines.append(line)
            rows.append(row)
        elif any(map(str.strip, row)):
            expected = f"expected {width} cells, as in the header, not {len(row)}"
            raise ReadingError(expected, "Write one cell for each column.", line)
    if index is None:
        examples = [*map(str, range(len(rows)))]
    else:
        examples = [row[index].strip() for row in rows]
    cells = [_plain_cells([row[at] for row in rows]) for at in values if at is not None]
    return _Columns(lines, examples, cells)


def _id_column(names: Sequence[str], columns: Sequence[str], id_column: str) -> int | None:
    """The column of ids: the declared one, else one with a usual name that is declared as nothing else."""
    if id_column:
        return names.index(id_column) if id_column in names else None
    name = id_name(name for name in names if name not in columns)
    return None if name is None else names.index(name)


def _spread_rows(
    text: str, file: TestFile, task: Task, layout: Layout, suffix: str, *, ordered: bool
) -> _Rows:
    """The answers of a table with a column for each label: of sets 1 or 0, else a probability.

    The gold of probabilities is 1 in the column of the label.
    """
    ones = task.form == "sets" or layout.form is None
    table = _columns(text, file.columns, file.id, layout, suffix, ordered=ordered)
    joined_cells = []
    for line, *cells in zip(table.lines, *table.columns, strict=True):
        wrong = next((cell for cell in cells if ones and cell not in _BITS), None)
        if wrong is not None:
            fix = of_truth(wrong, ("0", "1")) or "Write one."
            raise ReadingError(f"expected 0 or 1 for each label, not {wrong[:20]!r}", fix, line)
        words = [word for word, cell in zip(task.vocabulary, cells, strict=True) if _BITS.get(cell)]
        parts = partial(joined, separator=" ")
        joined_cells.append(
            task.separator.join(words) if ones else _strict(line, map(str.strip, cells), parts)
        )
    return _Rows(table.lines, table.examples, joined_cells)


def _whole_rows(text: str, file: TestFile, layout: Layout, suffix: str, task: Task) -> _Rows:
    """The answers of a table whose rows are items of rankings, or spans; empty for ids without rows."""
    known = layout.ids or [*map(str, range(layout.size))]
    lines: dict[str, int] = dict.fromkeys(known, 1)
    parts: dict[str, list[tuple[str, str]]] = {example: [] for example in known}
    table = _columns(text, [file.column, file.parts], file.id, layout, suffix)
    for line, example, part, about in zip(table.lines, table.examples, *table.columns, strict=True):
        lines[example] = line
        parts.setdefault(example, []).append((part, _part(part, about, task, line)))
    cells = []
    tied = []
    for example, of_example in parts.items():
        if task.form == "spans":
            cell = "; ".join(span for _, span in of_example)
        elif layout.value == "label":
            cell = " ".join(f"{item}:{gain}" for item, gain in of_example)
        else:
            # As trec_eval: of equal scores, the item with the greatest id is first.
            ordered = sorted(((float(score), item) for item, score in of_example), reverse=True)
            cell = " ".join(item for _, item in ordered)
            if len({score for score, _ in ordered}) < len(ordered):
                tied.append(lines[example])
        cells.append(cell)
    return _Rows([lines[example] for example in parts], [*parts], cells, tied)


def _part(part: str, about: str, task: Task, line: int) -> str:
    """A span with its label, from its cell or its positions as "3 4 5"; or the score of an item."""
    if task.form == "ranking":
        try:
            decimal(about)
        except NumberError:
            expected = f"expected a number as the score of {part}, not {about[:20]!r}"
            raise ReadingError(expected, "Write one.", line) from None
        _strict(line, [part], partial(joined, separator=" "))
        return about
    words = part.split()
    if words and all(map(PLACE.fullmatch, words)):
        first, last = int(words[0]), int(words[-1])
        if [*map(int, words)] != [*range(first, first + len(words))]:
            raise ReadingError(
                "expected the positions of one span, in order", "Write each span by itself.", line
            )
        part = f"{first}-{last + 1}"
    return f"{part}:{about}" if about else part


def _value_column(names: Sequence[str], column: str, layout: Layout) -> int | None:
    """The column that the manifest names, in other letter case if need be; in gold also that called label."""
    named = [column] if column else []
    folded = [name.casefold() for name in names]
    for name in [*named, *([layout.value] if not named or layout.value == "label" else [])]:
        if names.count(name) > 1:
            raise ReadingError(
                f"expected one column {name}, not {names.count(name)}", "Leave the others out."
            )
        if name in names:
            return names.index(name)
        if folded.count(name.casefold()) == 1:
            return folded.index(name.casefold())
    return None


def _ordered_rows(text: str, file: TestFile, task: Task, layout: Layout, suffix: str) -> _Rows:
    """One value in each line; of tokens without a column, one in each line and a blank line after each."""
    head = text.lstrip("\n").partition("\n")[0]
    several = suffix == "csv" or (file.column and suffix != "tsv")  # else a comma is one of the answer
    delimiter = _delimiter(text, suffix) if several else "\t"
    named = file.column and file.column in [name.strip() for name in head.split(delimiter)]
    if task.form == "tokens" and not named:
        lines = [(line, content.split()) for line, content in enumerate(text.split("\n"), 1)]
        blocks = (list(block) for some, block in groupby(lines, lambda pair: bool(pair[1])) if some)
        return _numbered((block[0][0], " ".join(cells[-1] for _, cells in block)) for block in blocks)
    table = [*split_table(text, delimiter)]
    column = int(file.column) - 1 if file.column.isdecimal() else 0
    width = max([column + 1, *(len(row) for _, row in table[:1] if file.column)])
    if table and (first := [name.strip() for name in table[0][1]]):
        headed = _value_column(first, file.column, layout)
        if file.column.isdecimal() and layout.size >= len(table):
            headed = None  # an answer that looks like the number of its column
        if headed is not None and task.form == "text" and layout.size == len(table):
            expected = (
                f"expected {layout.size:,} answers below the header {first[headed]!r}, and one is missing"
            )
            raise ReadingError(expected, "Add it; if the first line is an answer, write a header before it.")
        if headed is not None or (layout.size < len(table) and _heading(first[column:][:1], layout)):
            column, table = column if headed is None else headed, table[1:]
            width = len(first)
    rows = []
    for line, row in table:
        if row and len(row) != width:
            expected = f"expected {width} cell{'s' * (width > 1)}, as in every line, not {len(row)}"
            raise ReadingError(expected, "Write all columns, and separators within a cell in quotes.", line)
        rows.append((line, plain_cell(row[column] if row else "")))
    return _numbered(rows)


def _numbered(rows: Iterable[tuple[int, str]]) -> _Rows:
    """Rows of line and cell, with their numbers as indices."""
    lines = []
    cells = []
    for line, cell in rows:
        lines.append(line)
        cells.append(cell)
    return _Rows(lines, [*map(str, range(len(cells)))], cells)


def _heading(cell: Sequence[str], layout: Layout) -> bool:
    """Whether the first cell of a column without ids is its name: a usual one, or no value."""
    known = {word.casefold() for word in cell} & {"target", *VALUES}
    value = (*layout.words, *layout.synonyms) if layout.words else filter(is_number, cell)
    return bool(known or (not layout.form and cell and {*cell}.isdisjoint(value)))


def _json_rows(text: str, file: TestFile, task: Task, layout: Layout, role: Role) -> _Rows:
    """The answers of a JSON file: objects with an id and a value, at any depth, or ids to values."""
    keys = [file.column] if file.column else [*VALUES]
    keys += ["answers"] * (task.form == "text" and layout.value == "label")
    are_lines = file.path.casefold().endswith(".jsonl") and "\n" not in text.strip()
    answers = read_answers(
        text, keys, most=layout.most_rows, id_key=file.id, names=layout.names, are_lines=are_lines
    )
    if layout.value != "label" and not file.column:
        refuse_rivals_in_objects(answers, keys)
    _refuse_columns(answers, layout.size)
    if file.splits[role].ordered:
        answers = _by_unlisted_ids(answers, layout.size)
    examples = []
    cells = []
    numbered = False
    in_text = task.form == "text"
    lengths = file.gold.text if layout.value == "label" else ""
    read = partial(cell_text, task=task)
    for number, answer in enumerate(answers):
        numbered = numbered or answer.index is None
        examples.append(str(number if answer.index is None else answer.index))
        value = _with_length(answer, lengths) if lengths else answer.value
        # Most answers are words, and one look at all is faster than one at each.
        cells.append(value if type(value) is str and not in_text else _strict(answer.line, value, read))
    groups = [answer.group for answer in answers]
    return _Rows([answer.line for answer in answers], examples, _plain_cells(cells), (), groups, numbered)


def _with_length(answer: Answer, key: str) -> Any:
    """The weighted spans of a text, and one of weight 0 over the whole, if the text is under this key."""
    text = answer.record.get(key)
    if isinstance(answer.value, list) and isinstance(text, str):
        return [*answer.value, [0, len(text), 0]]
    return answer.value


def _refuse_columns(answers: Sequence[Answer], size: int) -> None:
    """Refuse a single answer that is the column of all, as `DataFrame.to_json` writes it."""
    column = answers[0].value if len(answers) == 1 < size else None
    if isinstance(column, dict | list) and len(column) == size:
        expected = f"expected an object for each example, and this is one with a column of {size:,} answers"
        raise ReadingError(
            expected, 'Write an object a line (in pandas: to_json(path, orient="records", lines=True)).'
        )


def _strict(line: int, content: Any, read: Callable[..., Any]) -> Any:
    """What is read of a line. Raises ReadingError for a NotationError."""
    try:
        return read(content)
    except NotationError as error:
        raise ReadingError(f"expected {error}", "Write it so.", line) from None


def _by_unlisted_ids(answers: list[Answer], size: int) -> list[Answer]:
    """The answers in the order of their ids, TEST_2 before TEST_10, if the manifest does not list these.

    Ids are indices if most of them are numbers below `size`, the number of examples.
    """
    ids = [str(answer.index) for answer in answers if answer.index is not None]
    indices = {*map(str, range(size))}
    if 2 * sum(name in indices for name in ids) >= len(ids) and all(map(str.isdecimal, ids)):
        return answers
    name, count = Counter(ids).most_common(1)[0]
    if count > 1:
        raise ReadingError(
            f"expected each id once, and {name[:20]} is there {count} times", "Keep one of each."
        )
    answers = sorted(answers, key=lambda answer: _natural(str(answer.index)))
    return [answer._replace(index=None) for answer in answers]


def _natural(name: str) -> list[tuple[int, str]]:
    """A key to sort names by, in which digits are numbers, of any length."""
    digits = (part.lstrip("0") if part.isdecimal() else part for part in re.split(r"(\d+)", name))
    return [(len(part) if part.isdecimal() else 0, part) for part in digits]
