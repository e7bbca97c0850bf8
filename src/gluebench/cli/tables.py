"""A table as commands hand it over, and its rendering for a reader at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = "  "
NARROWEST = 8
"""A column is never cut below this width."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that belong together, set off by a rule and, where it has one, a heading."""

    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, ready to be set in any of the output forms."""

    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    title: str = ""
    right: frozenset[int] = frozenset()
    """Positions of the columns that are set flush right."""
    notes: tuple[str, ...] = ()
    """Sentences to stand under the table."""

    def lines(self) -> list[tuple[str, ...]]:
        """Every row of every section, headings left out."""
        return [row for section in self.sections for row in section.rows]


@dataclass(frozen=True, slots=True)
class Paper:
    """What the text is set for."""

    width: int | None = None
    """Columns of the terminal; None for no limit."""
    colour: bool = False


def as_text(table: Table, paper: Paper) -> str:
    """The table with aligned columns, rules between its sections, and notes folded to the width."""
    widths = _fitted([_column_width(table, position) for position in range(len(table.columns))], table, paper)
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    rule = _styled("-" * total, paper, dim=True)
    lines = [_styled(table.title, paper, bold=True)] if table.title else []
    lines.append(_styled(_row(table.columns, widths, right=table.right), paper, bold=True))
    for section in table.sections:
        lines.append(rule)
        if section.title:
            lines.append(_styled(section.title, paper, bold=True))
        lines += [_row(cells, widths, right=table.right) for cells in section.rows]
    lines.append(rule)
    for note in table.notes:
        lines += _folded(note, min(paper.width or 100, 100))
    return "\n".join(lines) + "\n"


def _column_width(table: Table, position: int) -> int:
    cells = [table.columns[position], *(row[position] for row in table.lines())]
    return max(map(_width, cells))


def _fitted(widths: list[int], table: Table, paper: Paper) -> list[int]:
    """The widths, with the widest text columns cut until the table fits; numbers are never cut."""
    if paper.width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - paper.width
    text = [position for position in range(len(widths)) if position not in table.right]
    while excess > 0:
        widest = max(text, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], *, right: frozenset[int]) -> str:
    placed = [
        _placed(cell, widths[position], right=position in right) for position, cell in enumerate(cells)
    ]
    return GAP.join(placed).rstrip()


def _placed(cell: str, width: int, *, right: bool) -> str:
    if _width(cell) > width:
        cell = _cut(cell, width)
    padding = " " * (width - _width(cell))
    return padding + cell if right else cell + padding


def _cut(cell: str, width: int) -> str:
    while _width(cell) > width - 3:
        cell = cell[:-1]
    return cell.rstrip() + "..."


def _width(text: str) -> int:
    """Columns it takes on a terminal: two for the wide letters of East Asian scripts."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)


def _folded(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(width, 20))


def _styled(text: str, paper: Paper, *, bold: bool = False, dim: bool = False) -> str:
    if not paper.colour:
        return text
    return f"\x1b[{'1' if bold else '2' if dim else '0'}m{text}\x1b[0m"
