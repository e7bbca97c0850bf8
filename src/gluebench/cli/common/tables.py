"""A table as commands hand it over, and its rendering for a reader at a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

GAP = "  "
NARROWEST = 8
"""A column is never narrowed below this width."""
LONGEST_RULE = 100
"""Where nothing sets the width, rules and running text end here."""
_HOLD = "\N{NO-BREAK SPACE}"
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Section(NamedTuple):
    """Rows that belong together, set off by a rule and, where it has one, a heading."""

    rows: tuple[tuple[str, ...], ...]
    title: str = ""


class Table(NamedTuple):
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


class Paper(NamedTuple):
    """The width and color that a text is laid out for."""

    width: int | None = None
    """Columns of the terminal; None for no limit."""
    colour: bool = False


def as_text(table: Table, paper: Paper) -> str:
    """The table with aligned columns, rules between its sections, cells and notes folded to the width."""
    widths = _fitted([_column_width(table, position) for position in range(len(table.columns))], table, paper)
    total = sum(widths) + len(GAP) * (len(widths) - 1)
    rule = _styled("-" * min(total, paper.width or LONGEST_RULE), paper, _DIM)
    lines = [_styled(line, paper, _BOLD) for line in _folded(table.title, paper)]
    lines += [_styled(line, paper, _BOLD) for line in _lines(table.columns, widths, right=table.right)]
    for section in table.sections:
        lines.append(rule)
        if section.title:
            lines.append(_styled(section.title, paper, _BOLD))
        for cells in section.rows:
            lines += _lines(cells, widths, right=table.right)
    lines.append(rule)
    for note in table.notes:
        lines += _folded(note, paper)
    return "\n".join(lines) + "\n"


def _column_width(table: Table, position: int) -> int:
    cells = [table.columns[position], *(row[position] for row in table.lines())]
    return max(map(text_width, cells))


def _fitted(widths: list[int], table: Table, paper: Paper) -> list[int]:
    """The widths, with the widest text columns narrowed until the table fits; numbers are never folded."""
    if paper.width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - paper.width
    text = [position for position in range(len(widths)) if position not in table.right]
    whole = {position: max(NARROWEST, _longest_word(table, position)) for position in text}
    for narrowest in (
        whole,
        dict.fromkeys(text, NARROWEST),
    ):  # words are broken only where nothing else helps
        while excess > 0:
            wide = [position for position in text if widths[position] > narrowest[position]]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths


def _longest_word(table: Table, position: int) -> int:
    cells = [table.columns[position], *(row[position] for row in table.lines())]
    return max(
        text_width(indent) + text_width(word)
        for indent, text in map(_parted, cells)
        for word in text.split(" ")
    )


def _parted(cell: str) -> tuple[str, str]:
    """Its indent, and its text with intervals held together."""
    text = cell.lstrip()
    return cell[: len(cell) - len(text)], _bound(text)


def _bound(cell: str) -> str:
    """The cell with an interval as one word: "[83.0, 86.4]"."""
    return re.sub(r"(\[-?[\d.]+,) (?=-?[\d.]+\])", r"\1" + _HOLD, cell)


def _lines(cells: Sequence[str], widths: Sequence[int], *, right: frozenset[int]) -> list[str]:
    """One row as the lines it takes, more than one where a cell is folded."""
    folded = [_wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    height = max(map(len, folded))
    return [
        GAP.join(
            _placed(lines[at] if at < len(lines) else "", widths[position], right=position in right)
            for position, lines in enumerate(folded)
        ).rstrip()
        for at in range(height)
    ]


def _placed(cell: str, width: int, *, right: bool) -> str:
    padding = " " * (width - text_width(cell))
    return padding + cell if right else cell + padding


def _wrapped(cell: str, width: int) -> list[str]:
    """The cell in lines of at most `width` columns, its indent kept."""
    if text_width(cell) <= width:
        return [cell]
    import textwrap

    indent = " " * min(len(cell) - len(cell.lstrip()), width // 2)
    letters = width if cell.isascii() else max(len(indent) + 1, width * len(cell) // text_width(cell))
    bound = _bound(cell.strip())
    held = bound if max(map(len, bound.split(" "))) + len(indent) <= letters else cell.strip()
    lines = textwrap.wrap(
        held, letters, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return [line.replace(_HOLD, " ") for line in lines] or [""]


def text_width(text: str) -> int:
    """Columns it takes on a terminal: two for the wide letters of East Asian scripts."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)


def running_text(lines: Iterable[str], paper: Paper) -> str:
    """Sentences, each folded to the width."""
    return "".join(f"{folded}\n" for line in lines for folded in _folded(line, paper))


def _folded(text: str, paper: Paper) -> list[str]:
    return _wrapped(text, max(20, min(paper.width or LONGEST_RULE, LONGEST_RULE))) if text else []


def _styled(text: str, paper: Paper, style: str) -> str:
    return f"{style}{text}{_PLAIN}" if paper.colour else text
