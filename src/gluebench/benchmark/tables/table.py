"""A table: columns that say how their values are shown, sections of rows, and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escape_controls(text: str) -> str:
    """The text with control characters written out, so that a line stays one line."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def show_value(value: Any) -> str:
    """A value as it is; empty for None."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)


def show_count(value: Any) -> str:
    """A whole number with commas between thousands; empty for None."""
    return "" if value is None else f"{value:,}"


class Best(str):
    """The text of a value that is the best of its column, which Markdown, LaTeX and HTML print bold."""


class Column(NamedTuple):
    """A column of values of one kind."""

    title: str
    is_number: bool = False
    """Numbers are aligned at the right, and their column is never narrowed."""
    show: Callable[[Any], str] = show_value
    """A value as people read it."""
    unit: str = ""
    """Follows the title in the heading."""
    name: str = ""
    """Its key in CSV and JSON; the title if empty."""
    group: str = ""
    """A heading over this column and its neighbors of the same group, in LaTeX."""
    for_people: bool = True
    """Whether text, Markdown, LaTeX and HTML have it; CSV and JSON have every column."""

    @property
    def heading(self) -> str:
        """The title with its unit."""
        return f"{self.title} {self.unit}".rstrip()


def numeric(title: str, show: Callable[[Any], str] = show_value, *, name: str = "") -> Column:
    """A column of numbers."""
    return Column(title, is_number=True, show=show, name=name)


def names_and_numbers(title: str, numbers: Iterable[str]) -> list[Column | str]:
    """A column of names with this title, then columns of numbers with theirs."""
    columns: list[Column | str] = [title]
    columns += map(numeric, numbers)
    return columns


class Section(NamedTuple):
    """A group of rows, after a rule and an optional heading."""

    rows: Sequence[Sequence[Any]]
    title: str = ""


class Table:
    """Columns, rows and notes, for every form of output."""

    def __init__(
        self,
        columns: Iterable[Column | str],
        rows: Iterable[Sequence[Any]] = (),
        *,
        sections: Iterable[Section] = (),
        title: str = "",
        notes: Iterable[str] = (),
    ) -> None:
        """Make a table of `rows`, or of several `sections`; a column given by its title alone is of text."""
        self.columns = [Column(column) if isinstance(column, str) else column for column in columns]
        self.sections = list(sections)
        rows = list(rows)
        if rows:
            self.sections.append(Section(rows))
        self.title = title
        self.notes = list(notes)
        """Sentences printed under the table."""

    @property
    def rows(self) -> list[Sequence[Any]]:
        """The rows of all sections."""
        rows: list[Sequence[Any]] = []
        for section in self.sections:
            rows += section.rows
        return rows

    @property
    def names(self) -> list[str]:
        """The keys of the columns in CSV and JSON."""
        return [column.name or column.title for column in self.columns]

    def records(self) -> list[dict[str, Any]]:
        """Each row as a mapping from the keys of the columns to values."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def of_columns(self, positions: Sequence[int]) -> Table:
        """The table of some columns, without title and notes."""
        sections = []
        for section in self.sections:
            rows = [[row[position] for position in positions] for row in section.rows]
            sections.append(Section(rows, section.title))
        return Table([self.columns[position] for position in positions], sections=sections)

    def for_people(self) -> Table:
        """The columns and values that people read, as text with its control characters escaped.

        Names of files and systems may have them.
        """
        shown = [position for position, column in enumerate(self.columns) if column.for_people]
        table = self.of_columns(shown)
        sections = []
        for section in table.sections:
            rows = []
            for row in section.rows:
                texts = [column.show(value) for column, value in zip(table.columns, row, strict=True)]
                rows.append([type(text)(escape_controls(text)) for text in texts])
            sections.append(Section(rows, escape_controls(section.title)))
        columns = []
        for column in table.columns:
            heading = escape_controls(column.heading)
            columns.append(Column(heading, column.is_number, group=escape_controls(column.group)))
        notes = [escape_controls(note) for note in self.notes]
        return Table(columns, sections=sections, title=escape_controls(self.title), notes=notes)
