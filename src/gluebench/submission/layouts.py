"""Rows of predictions in formats that were not expected: tabs, commas, spaces, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gluebench.reading.nested import is_json
from gluebench.reading.notation import is_number
from gluebench.reading.records import ReadingError
from gluebench.reading.text import DELIMITERS, LINE, SEEN, Row, decode, find_delimiter, read_table
from gluebench.submission.answers import KEYS, VALUES, is_vector, read_answers, refuse_rivals_in_objects
from gluebench.submission.forms import plain_cell
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Layout

_MOST_COLUMNS = 100
_SEPARATORS = {**DELIMITERS, "\\t": "a backslash and a t", " ": "spaces"}
"""What separates the cells of a row, in words."""


class NotRecognizedError(Exception):
    """No rows could be read; `line` is the line that is not JSON as expected, else 0."""

    def __init__(self, line: int = 0, text: str = "", expected: str = "") -> None:
        super().__init__(line)
        self.line = line
        self.text = text
        self.expected = expected

    def problem(self, name: str) -> Problem:
        """The error in a file of JSON lines."""
        example = 'expected an object with "prediction", as {"index": 0, "prediction": "entailment"}'
        fix = "Write one such object a line."
        return Problem(
            "json-line", "error", name, self.expected or example, fix, self.line, None, self.text[:60]
        )


@dataclass
class Cells:
    """Rows of cells with their line numbers, and format mistakes as (code, detail)."""

    header: list[str] | None = None
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    departures: list[tuple[str, str]] = field(default_factory=list)


def bare_name(title: str) -> str:
    """The name of a column without blanks and quotes around it."""
    return title.strip().strip("\"'")


def read_cells(data: bytes, layout: Layout) -> Cells:
    """The cells of a file. Raises NotRecognizedError, TwoColumnsError."""
    text = decode(data, errors="backslashreplace")
    if "\0" in text[:64] or text.startswith("PK"):
        raise NotRecognizedError
    if is_json(text):
        try:
            return _json_cells(text, layout)
        except NotRecognizedError:
            if not re.match(r"\s*\[ *[-+.0-9]", text):  # otherwise these may be class probabilities
                raise
    cells = _table_cells(text)
    if not cells.rows:
        raise NotRecognizedError
    _take_header(cells, layout)
    return cells


def tabbed_cells(data: bytes, *, header: bool) -> Cells:
    """The cells between tabs, below the header if there is one. Raises ReadingError for what is no text."""
    cells = Cells()
    for line, row in read_table(decode(data), "\t"):
        if row:
            cells.rows.append(row)
            cells.lines.append(line)
    if header:
        del cells.rows[0], cells.lines[0]
    return cells


def _table_cells(text: str) -> Cells:
    separator = _separator(text)
    cells = Cells()
    if separator not in (LINE, "\t"):
        cells.departures.append(("separator", _SEPARATORS[separator]))
    padded = False
    for line, row in _split(text, separator):
        if not any(map(str.strip, row)):
            continue
        if len(row) > _MOST_COLUMNS:
            raise NotRecognizedError
        width = len(row)
        while len(row) > 2 and not row[-1].strip():
            row.pop()
        if len(row) == 2 < width:
            padded = True
        cells.rows.append(row)
        cells.lines.append(line)
    if padded:
        cells.departures.append(("quotes", ""))
    return cells


def _separator(text: str) -> str:
    """What is between the cells; blanks, or a backslash and a t, if the first row and most others have it."""
    delimiter = find_delimiter(text)
    if delimiter != LINE:
        return delimiter
    lines = [line.strip() for line in text[: 1 << 16].split("\n") if line.strip()][:SEEN]
    for separator in ("\\t", " "):
        count = sum(separator in line for line in lines)
        if 2 * count > len(lines) and separator in lines[0]:
            return separator
    return LINE


def _split(text: str, separator: str) -> Iterator[Row]:
    """The rows of a text; as it stands, if its quotation marks are not those of a table."""
    if separator in DELIMITERS:
        try:
            rows = list(read_table(text, separator))
        except ReadingError:  # a quotation mark is text, or a field is too long to be a prediction
            pass
        else:
            # A line end within quotes would end the row when it is read again.
            for line, cells in rows:
                yield Row(line, [plain_cell(cell) if "\n" in cell else cell for cell in cells])
            return
    for line, content in enumerate(text.split("\n"), 1):
        if separator == LINE:
            cells = [content]
        elif separator == " ":
            cells = content.split()
        else:
            cells = content.split(separator)
        yield Row(line, cells)


def _take_header(cells: Cells, layout: Layout) -> None:
    """Take the first row as header unless it has numbers or labels; a single cell must be a known name."""
    first = cells.rows[0]
    resplit = re.split(r"[,;|\s]+", first[0].strip())
    if len(first) == 1 and len(resplit) == 2 == len(cells.rows[-1]):  # has another separator
        first = resplit
    folded = [bare_name(cell).casefold() for cell in first]
    labels = {word.casefold() for word in layout.known_words}
    if len(first) == 1:
        is_header = folded[0] in KEYS or folded[0] in VALUES
    elif set(folded) == {word.casefold() for word in layout.words} and len(cells.rows) > 1:
        is_header = _fractions(cells.rows[1])  # each column has the probabilities of a label
    else:
        is_header = folded[0] in KEYS or not any(cell in labels or is_number(cell) for cell in folded)
    if is_header:
        cells.header = first
        del cells.rows[0], cells.lines[0]


def _fractions(row: list[str]) -> bool:
    """Whether all cells are numbers, and not all whole."""
    return all(map(is_number, row)) and not all(cell.strip().isdecimal() for cell in row)


def _json_cells(text: str, layout: Layout) -> Cells:
    """The rows of index and prediction of JSON. Raises NotRecognizedError."""
    try:
        answers = read_answers(text, VALUES, most=layout.most_rows, names=layout.names)
    except ReadingError as error:
        line = error.line or 1
        raise NotRecognizedError(line, text.split("\n")[line - 1].strip(), error.expected) from None
    refuse_rivals_in_objects(answers, VALUES)
    cells = Cells(header=["index", "prediction"], departures=[("json", "")])
    numbered = False
    columns = zip(answers.lines, answers.indices, answers.values, strict=True)
    for number, (line, index, value) in enumerate(columns):
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int | str):
            index = value[0]
            value = value[1]
        if isinstance(value, dict) or (is_vector(value) and len(value) > 1):
            value = json.dumps(value)  # probabilities, with their labels or without
        if not isinstance(value, str | int | float):
            raise NotRecognizedError(line, json.dumps(value))
        if index is None:
            numbered = True
            index = number
        cells.rows.append([str(index), str(value)])
        cells.lines.append(line)
    if not cells.rows:
        raise NotRecognizedError(1, text.strip().split("\n")[0])
    if numbered:
        cells.departures.append(("no-index", ""))
    return cells
