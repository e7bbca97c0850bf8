"""The records of a file, the one shape that every format becomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class ReadingError(ValueError):
    """A file that cannot be read as its format or its declaration says."""

    def __init__(self, expected: str, fix: str, line: int | None = 1) -> None:
        super().__init__(f"{expected}; {fix}")
        self.expected = expected
        """What was expected, as the end of a sentence that begins with "expected"."""
        self.fix = fix
        """What to do about it, a sentence."""
        self.line = line
        """The line, counted from 1; None where it concerns the whole file."""


class Declared(NamedTuple):
    """What is known of a file before it is read; whatever is empty or None is found in its content."""

    delimiter: str = ""
    """Character between the cells of a row; in a line of its own kind, "\\n" for one value a line."""
    quoted: bool | None = None
    """Whether cells may stand in quotation marks. By default those between tabs may not, others may."""
    header: bool | None = None
    """Whether the first row has the names of the columns."""
    columns: tuple[str, ...] = ()
    """Columns that are used: if the first row has them, it is the header."""
    path: str = ""
    """Keys that lead to the records of nested JSON, as "passage.questions.answers"."""


class Records(NamedTuple):
    """The rows of a table, the objects of a JSON file or the lines of a text."""

    format: str
    """What it was read as: "TSV", "CSV", "lines", "JSON", "JSON lines", "Parquet", "Arrow"."""
    names: tuple[str, ...]
    """Names of the columns, of nested JSON with the keys that lead there; empty without a header."""
    rows: list[list[Any]]
    """Cells are text, in JSON and typed columns values; None where an object lacks the key."""
    lines: Sequence[int]
    """The line where each row begins, counted from 1; the row's number in files without lines."""
    groups: Sequence[int] | None = None
    """Number of the object whose list holds the record, where lists are nested, as answers in questions."""
    notes: tuple[str, ...] = ()
    """What was found rather than declared, a sentence each."""

    def find(self, name: str) -> int | None:
        """The position of a column, by its name or the last keys of it, letter case aside.

        Of several that end in these keys, the innermost: the record's own. A leading dot means the whole
        name: of an answer in a question, "idx" is that of the answer and ".idx" that of the outermost object.
        """
        suffix = name.casefold()
        matching = []
        for at, full in enumerate(self.names):
            key = f".{full.casefold()}"
            if key == suffix or (not suffix.startswith(".") and key.endswith(f".{suffix}")):
                matching.append(at)
        return max(matching, key=lambda at: self.names[at].count("."), default=None)

    def column(self, name: str) -> list[Any]:
        """The cells of a column. Raises ReadingError if there is none of that name."""
        at = self.find(name)
        if at is None:
            there = ", ".join(self.names) or "no header"
            raise ReadingError(f"expected a column {name}, not {there[:200]}", "Name the column so.")
        return [row[at] for row in self.rows]
