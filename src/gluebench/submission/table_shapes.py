"""Tables of other shapes than index<TAB>value: CSV, several columns, parts of answers, or no index at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from gluebench.benchmark import Task, TestFile
from gluebench.reading.notation import PLACE, NotationError, NumberError, decimal, is_number, join_parts
from gluebench.reading.records import ReadingError
from gluebench.reading.text import LINE, Row, find_delimiter
from gluebench.reading.text import read_table as split_table
from gluebench.submission.answers import VALUES, id_name
from gluebench.submission.forms import plain_cell
from gluebench.submission.rows import Layout
from gluebench.submission.tables import of_truth

_BITS = {"0": False, "1": True, "0.0": False, "1.0": True}
"""How a cell says whether an example has a label."""


class ShapedRows(NamedTuple):
    """The rows of index or id and value, column by column."""

    lines: Sequence[int]
    examples: Sequence[str]
    """Index or id of each row."""
    cells: Sequence[str]
    tied: Sequence[int] = ()
    """Lines of rankings with equal scores."""
    groups: Sequence[int] = ()
    """Number of the list that holds each row, in JSON with lists in objects; else empty."""
    numbered: bool = False
    """Whether an index is that of the row, since the file says none."""


def plain_cells(cells: Sequence[str]) -> Sequence[str]:
    """See `plain_cell`; nearly all are plain, which shows at once for all."""
    together = "".join(cells)
    if "\t" in together or "\n" in together or "\r" in together:
        return list(map(plain_cell, cells))
    return cells


def rows_of_table(
    text: str, file: TestFile, task: Task, layout: Layout, suffix: str, *, ordered: bool
) -> ShapedRows:
    """The answers of a table in the shape that the manifest says. Raises ReadingError for any other."""
    if file.columns:
        return _rows_of_label_columns(text, file, task, layout, suffix, ordered=ordered)
    if ordered:
        return _rows_in_order(text, file, task, layout, suffix)
    if file.parts:
        return _rows_of_parts(text, file, layout, suffix, task)
    table = _read_columns(text, [file.column], file.id, layout, suffix)
    return ShapedRows(table.lines, table.examples, table.columns[0])


def _delimiter(text: str, suffix: str) -> str:
    """What is between the cells of a table; where that does not show, commas in a file that is named so."""
    delimiter = find_delimiter(text)
    if delimiter == LINE and suffix == "csv":
        return ","
    return delimiter


class _Columns(NamedTuple):
    """Some columns of a table."""

    lines: list[int]
    examples: list[str]
    columns: list[Sequence[str]]


class _Positions(NamedTuple):
    """Where columns of a table are."""

    ids: int | None
    """That of the ids; None where rows are numbered."""
    values: list[int]


def _read_columns(
    text: str, columns: Sequence[str], id_column: str, layout: Layout, suffix: str, *, ordered: bool = False
) -> _Columns:
    """The ids, and the cells of some columns of a table; of an `ordered` one, rows are numbered."""
    table = split_table(text, _delimiter(text, suffix))
    first, header = next(table, Row(1, []))
    names = [name.strip() for name in header]
    positions = _find_columns(names, columns, id_column, layout, ordered=ordered)
    if positions is None and all(map(str.isdecimal, columns)):
        # The first line is no header, and the ids are the first column.
        table = chain([Row(first, header)], table)
        names = list(map(str, range(1, len(header) + 1)))
        if set(columns).issubset(names):
            positions = _Positions(None if ordered else 0, [names.index(column) for column in columns])
    if positions is None:
        raise _missing_columns(names, columns, id_column, layout, ordered=ordered)

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

    if positions.ids is None:
        examples = list(map(str, range(len(rows))))
    else:
        examples = [row[positions.ids].strip() for row in rows]
    cells = []
    for at in positions.values:
        cells.append(plain_cells([row[at] for row in rows]))
    return _Columns(lines, examples, cells)


def _find_columns(
    names: Sequence[str], columns: Sequence[str], id_column: str, layout: Layout, *, ordered: bool
) -> _Positions | None:
    """The positions of columns by their names in a header; None if one is not there."""
    values = []
    for column in columns:
        value = _value_column(names, column, layout)
        if value is not None:
            values.append(value)
    index = None
    if not ordered:
        index = _id_column(names, columns, id_column)
    if len(values) < len(columns) or (index is None and not ordered):
        return None
    return _Positions(index, values)


def _missing_columns(
    names: Sequence[str], columns: Sequence[str], id_column: str, layout: Layout, *, ordered: bool
) -> ReadingError:
    """The error of a table without these columns."""
    ids = ""
    if id_column and not ordered:
        ids = f"a column {id_column} and "
    elif not ordered:
        ids = "a column of ids (id, index) and "
    title = "columns" if len(columns) > 1 else "column"
    listed = ", ".join(column or layout.value for column in columns)
    there = repr(", ".join(names)[:60]) if names else "an empty file"
    expected = f"expected a header with {ids}the {title} {listed}, not {there}"
    return ReadingError(expected, "Write these names in the first line.")


def _id_column(names: Sequence[str], columns: Sequence[str], id_column: str) -> int | None:
    """The column of ids: the declared one, else one with a usual name that is declared as nothing else."""
    name: str | None = id_column
    if not id_column:
        name = id_name(name for name in names if name not in columns)
    if name is None or name not in names:
        return None
    return names.index(name)


def _rows_of_label_columns(
    text: str, file: TestFile, task: Task, layout: Layout, suffix: str, *, ordered: bool
) -> ShapedRows:
    """The answers of a table with a column for each label: of sets 1 or 0, else a probability.

    The gold of probabilities is 1 in the column of the label.
    """
    ones = task.form == "sets" or layout.form is None
    table = _read_columns(text, file.columns, file.id, layout, suffix, ordered=ordered)
    join_numbers = partial(join_parts, separator=" ")
    joined_cells = []
    for line, *cells in zip(table.lines, *table.columns, strict=True):
        if ones:
            cell = task.separator.join(_labels_of_bits(line, cells, task))
        else:
            cell = strict(line, map(str.strip, cells), join_numbers)
        joined_cells.append(cell)
    return ShapedRows(table.lines, table.examples, joined_cells)


def _labels_of_bits(line: int, cells: Sequence[str], task: Task) -> list[str]:
    """The labels whose cell in a line is 1. Raises ReadingError for a cell that is not 0 or 1."""
    labels = []
    for label, cell in zip(task.vocabulary, cells, strict=True):
        if cell not in _BITS:
            fix = of_truth(cell, ("0", "1")) or "Write one."
            raise ReadingError(f"expected 0 or 1 for each label, not {cell[:20]!r}", fix, line)
        if _BITS[cell]:
            labels.append(label)
    return labels


def _rows_of_parts(text: str, file: TestFile, layout: Layout, suffix: str, task: Task) -> ShapedRows:
    """The answers of a table whose rows are items of rankings, or spans; empty for ids without rows."""
    known = layout.ids or list(map(str, range(layout.size)))
    lines: dict[str, int] = dict.fromkeys(known, 1)
    parts: dict[str, list[tuple[str, str]]] = {example: [] for example in known}
    table = _read_columns(text, [file.column, file.parts], file.id, layout, suffix)
    for line, example, part, about in zip(table.lines, table.examples, *table.columns, strict=True):
        lines[example] = line
        parts.setdefault(example, []).append((part, _read_part(part, about, task, line)))

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
    return ShapedRows([lines[example] for example in parts], list(parts), cells, tied)


def _read_part(part: str, about: str, task: Task, line: int) -> str:
    """A span with its label, from its cell or its positions as "3 4 5"; or the score of an item."""
    if task.form == "ranking":
        try:
            decimal(about)
        except NumberError:
            expected = f"expected a number as the score of {part}, not {about[:20]!r}"
            raise ReadingError(expected, "Write one.", line) from None
        strict(line, [part], partial(join_parts, separator=" "))
        return about
    words = part.split()
    if words and all(map(PLACE.fullmatch, words)):
        first = int(words[0])
        end = first + len(words)
        if list(map(int, words)) != list(range(first, end)):
            expected = "expected the positions of one span, in order"
            raise ReadingError(expected, "Write each span by itself.", line)
        part = f"{first}-{end}"
    return f"{part}:{about}" if about else part


def _value_column(names: Sequence[str], column: str, layout: Layout) -> int | None:
    """The column that the manifest names, in other letter case if need be; in gold also that called label."""
    possible = []
    if column:
        possible.append(column)
    if not column or layout.value == "label":
        possible.append(layout.value)
    folded = [name.casefold() for name in names]
    for name in possible:
        if names.count(name) > 1:
            expected = f"expected one column {name}, not {names.count(name)}"
            raise ReadingError(expected, "Leave the others out.")
        if name in names:
            return names.index(name)
        if folded.count(name.casefold()) == 1:
            return folded.index(name.casefold())
    return None


def _rows_in_order(text: str, file: TestFile, task: Task, layout: Layout, suffix: str) -> ShapedRows:
    """One value in each line; of tokens without a column, one in each line and a blank line after each."""
    delimiter = "\t"
    if suffix == "csv" or (file.column and suffix != "tsv"):  # elsewhere a comma is one of the answer
        delimiter = _delimiter(text, suffix)
    head = text.lstrip("\n").partition("\n")[0]
    names = [name.strip() for name in head.split(delimiter)]
    if task.form == "tokens" and not (file.column and file.column in names):
        return _rows_of_token_lines(text)

    table = list(split_table(text, delimiter))
    column = 0
    if file.column.isdecimal():
        column = int(file.column) - 1
    width = column + 1
    if file.column and table:
        width = max(width, len(table[0].cells))
    if table and table[0].cells:
        names = [name.strip() for name in table[0].cells]
        headed_column = _headed_column(names, column, len(table), file, task, layout)
        if headed_column is not None:
            column = headed_column
            width = len(names)
            del table[0]

    lines = []
    cells = []
    for line, row in table:
        cell = ""
        if row and len(row) != width:
            unit = "cells" if width > 1 else "cell"
            expected = f"expected {width} {unit}, as in every line, not {len(row)}"
            raise ReadingError(expected, "Write all columns, and separators within a cell in quotes.", line)
        if row:
            cell = plain_cell(row[column])
        lines.append(line)
        cells.append(cell)
    return _number_rows(lines, cells)


def _headed_column(
    names: Sequence[str], column: int, rows: int, file: TestFile, task: Task, layout: Layout
) -> int | None:
    """The column of values below a header of these names; None if the first of the rows is no header.

    Raises ReadingError if one answer is missing below it, since it may then be an answer itself.
    """
    named = _value_column(names, file.column, layout)
    if file.column.isdecimal() and layout.size >= rows:
        named = None  # an answer that looks like the number of its column
    if named is not None and task.form == "text" and layout.size == rows:
        expected = f"expected {layout.size:,} answers below the header {names[named]!r}, and one is missing"
        raise ReadingError(expected, "Add it; if the first line is an answer, write a header before it.")
    if named is None and layout.size < rows and column < len(names) and _is_heading(names[column], layout):
        return column
    return named


def _rows_of_token_lines(text: str) -> ShapedRows:
    """The last word of each line is the tag of a token; a blank line ends an example."""
    lines: list[int] = []
    examples: list[list[str]] = []
    tags: list[str] = []
    for line, content in enumerate(text.split("\n"), 1):
        words = content.split()
        if not words:
            tags = []
            continue
        if not tags:
            lines.append(line)
            examples.append(tags)
        tags.append(words[-1])
    return _number_rows(lines, list(map(" ".join, examples)))


def _number_rows(lines: Sequence[int], cells: Sequence[str]) -> ShapedRows:
    """The rows of these cells, with their numbers as indices."""
    return ShapedRows(lines, list(map(str, range(len(cells)))), cells)


def _is_heading(cell: str, layout: Layout) -> bool:
    """Whether the first cell of a column without ids is its name: a usual one, or no value."""
    name = cell.casefold()
    if name == "target" or name in VALUES:
        return True
    if layout.form:
        return False
    if layout.words:
        return cell not in layout.known_words
    return not is_number(cell)


def strict(line: int, content: Any, read: Callable[..., Any]) -> Any:
    """What is read of a line. Raises ReadingError for a NotationError."""
    try:
        return read(content)
    except NotationError as error:
        raise ReadingError(f"expected {error}", "Write it so.", line) from None
