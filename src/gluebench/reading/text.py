"""Texts, and the rows of tables in them: cells between tabs, commas, semicolons or bars, or plain lines."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from gluebench.reading.records import ReadingError

LINE = "\n"
"""Delimiter of a text with one value in each line."""
DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
"""What separates the cells of a table, in words."""
SEEN = 50
"""Lines, rows or records by which the shape of a file is recognized."""


class Row(NamedTuple):
    """A row of a table."""

    line: int
    """The line where it begins, counted from 1."""
    cells: list[str]


def decode(data: bytes, *, encoding: str = "", errors: str = "strict") -> str:
    """The text of a file, without a byte order mark and with line feeds as line ends.

    It is UTF-8 or UTF-16, see `unicode_form`, unless another encoding is named; `errors` are those of
    `bytes.decode`. Raises ReadingError with the first line that is no text, LookupError for an encoding that
    does not exist.
    """
    name = encoding or unicode_form(data)
    try:
        text = data.decode(name, errors)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        title = encoding or "UTF-8"
        byte = data[error.start : error.start + 1].hex()
        raise ReadingError(
            f"expected {title} text, not the byte 0x{byte}", "Save it as UTF-8.", line
        ) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff")


def unicode_form(data: bytes) -> str:
    """The name of UTF-16, which shows by its mark or by the zero bytes of the first characters, or UTF-8."""
    head = data[:64]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(head) > 3 and not head[1::2].strip(b"\0"):
        return "utf-16-le"
    if len(head) > 3 and not head[::2].strip(b"\0"):
        return "utf-16-be"
    return "utf-8"


def as_utf8(data: bytes) -> bytes:
    """The text in UTF-8, if it is UTF-16 without a fault; else the same bytes."""
    if unicode_form(data) == "utf-8":
        return data
    try:
        return decode(data).encode()
    except ReadingError:
        return data


def find_delimiter(text: str) -> str:
    """What separates the cells: what stands in the first line and most often equally in the next ones.

    A tab in the first line decides. A line feed for one value in each line.
    """
    lines = [line for line in text[: 1 << 16].split("\n")[:SEEN] if line.strip()]
    if "\t" in "".join(lines[:1]):
        return "\t"
    best = LINE
    most = 0
    for delimiter in (",", ";", "|"):
        widths = _widths(lines, delimiter)
        if not widths or widths[0] < 2:
            continue
        equal = widths.count(widths[0])
        if 2 * equal > len(widths) and equal > most:
            best = delimiter
            most = equal
    if best == LINE and any("\t" in line for line in lines[1:2]):
        return "\t"
    return best


def _widths(lines: list[str], delimiter: str) -> list[int]:
    """The number of cells in each row that begins in these lines; empty if they are no such table."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return []
    return [len(cells) for cells in rows if cells]


def read_table(text: str, delimiter: str, *, quoted: bool | None = None) -> Iterator[Row]:
    """The rows of a table. Raises ReadingError at a quotation mark that is not closed or not doubled.

    Cells between tabs have no quotation marks unless `quoted` says so; cells between other delimiters have
    them, and may hold delimiters and line ends. A blank line is a row without cells.
    """
    if quoted is None:
        quoted = delimiter not in ("\t", LINE)
    if quoted and '"' in text:
        return _read_quoted(text, delimiter)
    lines = text.removesuffix("\n").split("\n")
    if delimiter == LINE:
        cells = ([line] if line else [] for line in lines)
    else:
        cells = (line.split(delimiter) if line else [] for line in lines)
    return map(Row, count(1), cells)


def _read_quoted(text: str, delimiter: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    first = 1
    try:
        for cells in reader:
            yield Row(first, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        expected = f"expected a row of cells between {DELIMITERS.get(delimiter, repr(delimiter))} ({error})"
        fix = "Look for a quotation mark that is not doubled or not closed."
        raise ReadingError(expected, fix, first) from None
