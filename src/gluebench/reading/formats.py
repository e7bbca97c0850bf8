"""Read a file of any format: what is declared holds, and the rest shows in its content."""

from __future__ import annotations

from collections.abc import Collection

from gluebench.reading.nested import is_json, read_json
from gluebench.reading.records import Declared, ReadingError, Records
from gluebench.reading.text import DELIMITERS, LINE, Row, decode, find_delimiter, read_table

_ANY = Declared()


def read_records(
    data: bytes, declared: Declared = _ANY, *, encoding: str = "", usual: Collection[str] = ()
) -> Records:
    """The records of a file of text or JSON; the name of the file says nothing about its format.

    `usual` are common names of columns: they show a header, and which list of nested JSON has the records.
    Raises ReadingError for what cannot be read.
    """
    text = decode(data, encoding=encoding)
    names = declared.columns or tuple(usual)
    if not declared.delimiter and is_json(text):
        try:
            return read_json(text, path=declared.path, usual=names)
        except ReadingError:
            # A table whose first cell is a list, as of probabilities, begins like JSON.
            first = text.lstrip().partition("\n")[0]
            if declared.path or not any(delimiter in first for delimiter in ("\t", "]")):
                raise
    return _read_text(text, declared, names)


def _read_text(text: str, declared: Declared, names: Collection[str]) -> Records:
    delimiter = declared.delimiter or find_delimiter(text)
    rows = [row for row in read_table(text, delimiter, quoted=declared.quoted) if row.cells]
    if not rows:
        raise ReadingError("expected rows, and the file is empty", "Write the file again.")
    has_header = declared.header
    if has_header is None:
        has_header = _is_header(rows[0], names)
    header: tuple[str, ...] = ()
    if has_header:
        header = tuple(name.strip() for name in rows.pop(0).cells)
    title = {LINE: "lines", "\t": "TSV"}.get(delimiter, "CSV")
    notes: tuple[str, ...] = ()
    if title == "CSV" and not declared.delimiter:
        notes = (f"cells between {DELIMITERS[delimiter]}",)
    cells = [row.cells for row in rows]
    lines = [row.line for row in rows]
    return Records(title, header, cells, lines, None, notes)


def _is_header(first: Row, names: Collection[str]) -> bool:
    """Whether one of the first cells is a name that is expected of a column."""
    folded = {name.casefold() for name in names}
    return any(cell.strip().casefold() in folded for cell in first.cells)
