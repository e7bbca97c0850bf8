"""Read rows of predictions in many formats: tabs, commas, spaces, JSON; UTF-8 or UTF-16."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gluebench.reading.notation import NotationError, is_number, loaded
from gluebench.submission.problems import Problem
from gluebench.submission.rows import Layout

KEYS = ("index", "idx", "id", "guid", "example_id", "pairid", "", "unnamed: 0")
"""Common names of the index column, in any letter case, the most reliable first."""
VALUES = (
    *("prediction", "predictions", "predicted_label", "predicted", "pred", "preds", "label", "labels"),
    *("output", "answer", "answers", "class", "score", "scores"),
)
"""Common names of the column of predictions."""
_MOST_COLUMNS = 100
_SEPARATORS = {
    "\t": "tabs",
    ";": "semicolons",
    ",": "commas",
    "|": "bars",
    "\\t": "a backslash and a t",
    " ": "spaces",
}


class NotRecognizedError(Exception):
    """No rows could be read; `line` is the line that is not JSON as expected, else 0."""

    def __init__(self, line: int = 0, text: str = "", expected: object = "") -> None:
        super().__init__(line)
        self.line, self.text, self.expected = line, text, expected

    def problem(self, name: str) -> Problem:
        """The error in a file of JSON lines."""
        example = 'an object with "prediction", as {"index": 0, "prediction": "entailment"}'
        expected, fix = f"expected {self.expected or example}", "Write one such object a line."
        return Problem("json-line", "error", name, expected, fix, self.line, None, self.text[:60])


@dataclass
class Cells:
    """Rows of cells with their line numbers, and format mistakes as (code, detail)."""

    header: list[str] | None = None
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    departures: list[tuple[str, str]] = field(default_factory=list)


def cells_of(data: bytes, layout: Layout) -> Cells:
    """The cells of a file. Raises NotRecognizedError."""
    cells = Cells()
    text = _decoded(data, cells)
    numbered = list(enumerate(re.split(r"\r\n|\r|\n", text), 1))
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _read_json(text, numbered, layout.most_rows)
        except NotRecognizedError:
            if not re.match(r"\s*\[ *[-+.0-9]", text):  # otherwise these may be class probabilities
                raise
    lines = [(line, content) for line, content in numbered if content.strip()]
    if not lines:
        raise NotRecognizedError
    separator = _separator([content for _, content in lines[:20]])
    if separator not in ("", "\t"):
        cells.departures.append(("separator", _SEPARATORS[separator]))
    for line, row in _split(lines, separator):
        if len(row) > _MOST_COLUMNS:
            raise NotRecognizedError
        padded = len(row) > 2 and not row[-1].strip()
        while len(row) > 2 and not row[-1].strip():
            row.pop()
        if padded and len(row) == 2 and cells.departures[-1:] != [("quotes", "")]:
            cells.departures.append(("quotes", ""))
        cells.rows.append(row)
        cells.lines.append(line)
    _take_header(cells, layout)
    return cells


def _decoded(data: bytes, cells: Cells) -> str:
    """Decode the text; UTF-16 is recognized by its byte order mark or by zero bytes at the start."""
    head = data[:64]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        order = "utf-16"
    elif len(head) > 3 and not head[1::2].strip(b"\0"):
        order = "utf-16-le"
    elif len(head) > 3 and not head[::2].strip(b"\0"):
        order = "utf-16-be"
    elif b"\0" in head or head[:2] == b"PK":  # not a text
        raise NotRecognizedError
    else:
        return data.decode("utf-8-sig", "backslashreplace")
    cells.departures.append(("encoding", ""))
    return data.decode(order, "replace")


def _separator(lines: list[str]) -> str:
    """A tab if one of the first two rows has one, else the first separator of the first and most rows."""
    if any("\t" in line for line in lines[:2]):
        return "\t"
    for separator in _SEPARATORS:
        having = [separator in line.strip() for line in lines]
        if having[0] and 2 * sum(having) > len(lines):
            return separator
    return ""


def _split(lines: list[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator in (",", ";", "|"):
        try:
            yield from [*_read_csv(lines, separator)]
            return
        except csv.Error:  # a field is too long to be a prediction
            pass
    for line, content in lines:
        if separator == " ":
            yield line, content.split()
        else:
            yield line, content.split(separator) if separator else [content]


def _read_csv(lines: list[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((content for _, content in lines), delimiter=separator, skipinitialspace=True)
    before = 0
    for row in reader:
        yield lines[before][0], row
        before = reader.line_num


def _take_header(cells: Cells, layout: Layout) -> None:
    """Take the first row as header unless it has numbers or labels; a single cell must be a known name."""
    first = cells.rows[0]
    resplit = re.split(r"[,;|\s]+", first[0].strip())
    if len(first) == 1 and len(resplit) == 2 == len(cells.rows[-1]):  # has another separator
        first = resplit
    folded = [cell.strip().strip("\"'").casefold() for cell in first]
    labels = {word.casefold() for word in (*layout.words, *layout.synonyms)}
    if len(first) == 1:
        is_header = folded[0] in (*KEYS, *VALUES)
    elif {*folded} == {word.casefold() for word in layout.words} and len(cells.rows) > 1:
        is_header = _fractions(cells.rows[1])  # each column has the probabilities of a label
    else:
        is_header = folded[0] in KEYS or not any(cell in labels or is_number(cell) for cell in folded)
    if is_header:
        cells.header = first
        del cells.rows[0], cells.lines[0]


def _fractions(row: list[str]) -> bool:
    """Whether all cells are numbers, and not all whole."""
    return all(map(is_number, row)) and not all(cell.strip().isdecimal() for cell in row)


def _read_json(text: str, lines: list[tuple[int, str]], most: int) -> Cells:
    """Read JSON lines or one JSON value, up to `most` + 1 examples. Raises NotRecognizedError."""
    whole = _loaded(text, 1)
    if whole is not None:
        items = [(1, item, text) for item in _examples(whole)]
    else:
        items = [(line, _loaded(content, line), content) for line, content in lines if content.strip()]
    cells = Cells(header=["index", "prediction"], departures=[("json", "")])
    for line, item, source in items[: most + 1]:
        index, value = _pair(item)
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise NotRecognizedError(line, source)
        cells.rows.append([str(len(cells.rows)) if index is None else str(index), str(value)])
        cells.lines.append(line)
        if index is None:
            cells.departures[1:] = [("no-index", "")]
    if not cells.rows:
        raise NotRecognizedError(1, text.strip().splitlines()[0])
    return cells


def _loaded(text: str, line: int) -> Any:
    try:
        return loaded(text)
    except NotationError as error:
        raise NotRecognizedError(line, text.strip(), error) from None


def _examples(value: Any) -> list[Any]:
    """The examples of a JSON value: a list, an object with a list, or index to prediction."""
    if isinstance(value, dict):
        examples = _first(value, VALUES)
        if examples is None:
            return list(value.items())
        return examples if isinstance(examples, list) else [value]
    return value if isinstance(value, list) else [value]


def _pair(item: Any) -> tuple[Any, Any]:
    """Index (None if there is none) and value of one example."""
    if isinstance(item, dict):
        return _first(item, KEYS), _first(item, VALUES)
    if isinstance(item, list | tuple):
        return (item[0], item[1]) if len(item) == 2 and isinstance(item[0], int | str) else (None, None)
    return None, item


def _first(row: dict[str, Any], keys: Iterable[str]) -> Any:
    return next((row[key] for key in keys if key in row), None)
