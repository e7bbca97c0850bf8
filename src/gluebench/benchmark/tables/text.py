"""A table as plain text, fitted to the width of a terminal."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gluebench.benchmark.tables.table import Table

GAP = "  "
NARROWEST = 8
"""A column is never narrowed below this width."""
LONGEST_RULE = 100
"""Width of rules and running text if the output sets no width; running text is never wider."""
_HOLD = "\N{NO-BREAK SPACE}"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_PLAIN = "\x1b[0m"


class Paper(NamedTuple):
    """The width and color that a text is laid out for."""

    width: int | None = None
    """Columns of the terminal; None for no limit."""
    color: bool = False


def to_text(table: Table, paper: Paper) -> str:
    """The table with aligned columns and rules between sections; cells and notes are wrapped to the width.

    A table that is too wide with its narrowest columns is printed in parts, each with the first column.
    """
    table = table.for_people()
    lines = [_in_style(line, paper, _BOLD) for line in _wrap_text(table.title, paper)]
    for part in _fitting_parts(table, paper):
        lines += _part_lines(part, paper)
    for note in table.notes:
        lines += _wrap_text(note, paper)
    return "\n".join(lines) + "\n"


def _fitting_parts(table: Table, paper: Paper) -> list[Table]:
    """The table, or its columns in parts that fit."""
    widths = _column_widths(table, paper)
    if paper.width is None or _total(widths) <= paper.width:
        return [table]
    parts = []
    positions = [0]
    for position in range(1, len(widths)):
        together = [widths[at] for at in positions]
        is_full = _total(together + [widths[position]]) > paper.width
        if is_full and len(positions) > 1:
            parts.append(table.of_columns(positions))
            positions = [0]
        positions.append(position)
    return parts + [table.of_columns(positions)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _part_lines(table: Table, paper: Paper) -> list[str]:
    """The headings and rows, with rules."""
    widths = _column_widths(table, paper)
    rule = _in_style("-" * min(_total(widths), paper.width or LONGEST_RULE), paper, _DIM)
    titles = [column.title for column in table.columns]
    lines = [_in_style(line, paper, _BOLD) for line in _row_lines(table, titles, widths)]
    for section in table.sections:
        lines.append(rule)
        if section.title:
            lines.append(_in_style(section.title, paper, _BOLD))
        for cells in section.rows:
            lines += _row_lines(table, cells, widths)
    lines.append(rule)
    return lines


def _column_widths(table: Table, paper: Paper) -> list[int]:
    """Widths of columns: the widest text columns shrink until the table fits, number columns never."""
    texts = []
    for position, column in enumerate(table.columns):
        texts.append([column.title] + [row[position] for row in table.rows])
    widths = [max(map(text_width, cells)) for cells in texts]
    if paper.width is None:
        return widths
    excess = _total(widths) - paper.width
    text_columns = [position for position, column in enumerate(table.columns) if not column.is_number]
    unbroken = {position: max(NARROWEST, _longest_word(texts[position])) for position in text_columns}
    for narrowest in (unbroken, dict.fromkeys(text_columns, NARROWEST)):  # break words only as a last resort
        while excess > 0:
            wide = [position for position in text_columns if widths[position] > narrowest[position]]
            if not wide:
                break
            widest = max(wide, key=widths.__getitem__)
            widths[widest] -= 1
            excess -= 1
    return widths


def _longest_word(cells: Sequence[str]) -> int:
    """The width of a column of these cells in which no word needs to be broken."""
    longest = 0
    for cell in cells:
        text = cell.lstrip()
        indent = len(cell) - len(text)
        for word in _hold_intervals(text).split(" "):
            longest = max(longest, indent + text_width(word))
    return longest


def _hold_intervals(cell: str) -> str:
    """The cell with a no-break space inside each interval, so that "[83.0, 86.4]" stays on one line."""
    return re.sub(r"(\[-?[\d.]+,) (?=-?[\d.]+\])", r"\1" + _HOLD, cell)


def _row_lines(table: Table, cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The printed lines of one row, several if a cell is wrapped."""
    wrapped_cells = [_wrap_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for parts in itertools.zip_longest(*wrapped_cells, fillvalue=""):
        line = []
        for column, part, width in zip(table.columns, parts, widths, strict=True):
            blanks = " " * (width - text_width(part))
            line.append(blanks + part if column.is_number else part + blanks)
        lines.append(GAP.join(line).rstrip())
    return lines


def _wrap_cell(cell: str, width: int) -> list[str]:
    """The cell in lines of at most `width` columns, its indent kept."""
    if text_width(cell) <= width:
        return [cell]
    import textwrap

    indent = " " * min(len(cell) - len(cell.lstrip()), width // 2)
    letters = width
    if not cell.isascii():  # as many letters as have the width on average
        letters = max(len(indent) + 1, width * len(cell) // text_width(cell))
    text = _hold_intervals(cell.strip())
    if max(map(len, text.split(" "))) + len(indent) > letters:  # an interval is too long for a line
        text = cell.strip()
    lines = textwrap.wrap(
        text, letters, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return [line.replace(_HOLD, " ") for line in lines] or [""]


def text_width(text: str) -> int:
    """Columns of a text on a terminal: two for each wide East Asian character, none for a combining one."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)


def running_text(lines: Iterable[str], paper: Paper) -> str:
    """Sentences, each wrapped to the width."""
    text = ""
    for line in lines:
        for wrapped in _wrap_text(line, paper):
            text += f"{wrapped}\n"
    return text


def _wrap_text(text: str, paper: Paper) -> list[str]:
    """A sentence in lines; none for an empty one."""
    if not text:
        return []
    width = min(paper.width or LONGEST_RULE, LONGEST_RULE)
    return _wrap_cell(text, max(20, width))


def _in_style(text: str, paper: Paper, style: str) -> str:
    if not paper.color:
        return text
    return f"{style}{text}{_PLAIN}"
