"""Reading an organizer's tables: CSV as spreadsheets write it, TSV without quoting, prepared Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gluebench.data.dataset import read_dataset
from gluebench.data.errors import DataError


class Declared(NamedTuple):
    """What a prepared table says of itself, so that it need not be detected."""

    inputs: tuple[str, ...]
    licence: str
    made: str
    """A sentence on where it comes from; empty where nothing is known."""


class RawTable(NamedTuple):
    """A table as it was read, every cell text."""

    path: Path
    format: str
    """How it was read: "CSV, comma"."""
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    """Line of the file on which each row begins; for Parquet the number of the row, from 1."""
    declared: Declared | None = None
    """Of prepared data alone."""

    def column(self, name: str) -> list[str]:
        """The cells of one column."""
        at = self.header.index(name)
        return [row[at] for row in self.rows]


class _Row(NamedTuple):
    line: int
    cells: list[str]


def read_table(path: Path, *, encoding: str = "utf-8") -> RawTable:
    """Read .csv (quoted, parted by commas or semicolons), .tsv (no quoting) or a prepared .parquet.

    Blank lines are passed over. Raises DataError with the line of everything that is wrong.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return read_parquet(path)
    text = _text(path, encoding)
    if suffix == ".csv":
        first = text.partition("\n")[0]
        delimiter = ";" if ";" in first and "," not in first else ","
        read, shown = (
            _csv_rows(path, text, delimiter),
            "CSV, " + ("semicolon" if delimiter == ";" else "comma"),
        )
    else:
        read, shown = _tsv_rows(text), "TSV, no quoting"
    rows = [row for row in read if row.cells and row.cells != [""]]
    if not rows:
        raise DataError([f"{path}: is empty; expected a header and rows"])
    header = tuple(name.strip() for name in rows[0].cells)
    problems = [*_header_problems(path, header), *_width_problems(path, len(header), rows[1:])]
    if len(rows) == 1:
        problems.append(f"{path}:1: has a header and no rows")
    if problems:
        raise DataError(problems)
    return RawTable(path, shown, header, [row.cells for row in rows[1:]], [row.line for row in rows[1:]])


def _text(path: Path, encoding: str) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not {encoding} text (byte {data[error.start]:#04x}); save it as UTF-8, or give --encoding"
        raise DataError([f"{path}:{line}: {message}"]) from None
    except LookupError:
        raise DataError([f"--encoding {encoding}: is no encoding known here; try utf-8 or cp1252"]) from None


def _csv_rows(path: Path, text: str, delimiter: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = (
                f"is no valid CSV ({error}); look for a quotation mark that is not doubled or not closed"
            )
            raise DataError([f"{path}:{line}: the row that begins here {message}"]) from None
        yield _Row(line, cells)
        line = reader.line_num + 1


def _tsv_rows(text: str) -> Iterator[_Row]:
    """Rows by line feeds alone: other separators of Unicode may stand within a sentence."""
    for number, line in enumerate(text.split("\n"), 1):
        yield _Row(number, line.removesuffix("\r").split("\t"))


def _header_problems(path: Path, header: tuple[str, ...]) -> Iterator[str]:
    for name, count in Counter(name.casefold() for name in header).items():
        if count > 1:
            yield f'{path}:1: {count} columns are called "{name}"; expected different names'


def _width_problems(path: Path, width: int, rows: list[_Row]) -> Iterator[str]:
    for row in rows:
        if len(row.cells) != width:
            yield f"{path}:{row.line}: {len(row.cells)} columns, expected {width} as in the header"


def read_parquet(path: Path) -> RawTable:
    """One split of a prepared task; its columns are known from the `dataset.json` beside it.

    Raises DataError where that is missing, ModuleNotFoundError without pyarrow.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    record = read_dataset(path.parent)
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError([f"{path}: not a Parquet file that can be read ({error})"]) from None
    columns = [["" if cell is None else str(cell) for cell in each.to_pylist()] for each in table.columns]
    recipe = record.origin.recipe
    made = f"Built by the recipe {recipe} from {record.origin.location}." if recipe else ""
    return RawTable(
        path,
        "Parquet",
        tuple(table.column_names),
        [list(row) for row in zip(*columns, strict=True)],
        list(range(1, table.num_rows + 1)),
        Declared(record.columns, record.licence, made),
    )
