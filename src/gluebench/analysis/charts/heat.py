"""A heat map whose shades are classes; what they mean is for the caller to say."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import NamedTuple

from gluebench.analysis.charts.svg import element, label, picture, width_of

ROW, COLUMN = 22.0, 52.0
TURN = 40.0
"""Degrees that the headings of the columns rise by."""


class HeatCell(NamedTuple):
    """What one cell shows."""

    text: str
    level: int | None = None
    """The shade, 0 to 4; None for none."""
    note: str = ""
    """What a pointer over the cell is told."""


class HeatRow(NamedTuple):
    """One line of cells."""

    label: str
    cells: tuple[HeatCell, ...]
    heading: bool = False
    """Whether it stands above the rows that follow, which are then set in."""


def heat_chart(title: str, about: str, columns: Sequence[str], rows: Sequence[HeatRow]) -> str:
    """Rows of shaded cells, each with its text: read without colour, it is a table.

    `about` says what the shades mean, for those who do not see them.
    """
    left = 32 + max((width_of(row.label) * (1.06 if row.heading else 1) for row in rows), default=0)
    longest = max(map(width_of, columns), default=0)
    top = 16 + longest * sin(radians(TURN)) + 6
    parts = [
        label(left + COLUMN * (place + 0.4), top - 6, name, turn=-TURN, kind="chart-strong")
        for place, name in enumerate(columns)
    ]
    for number, row in enumerate(rows):
        parts += _row(row, left, top + ROW * number)
    width = left + COLUMN * len(columns) + max(16.0, longest * cos(radians(TURN)) - COLUMN / 2)
    return picture(title, about, width=round(width), height=round(top + ROW * len(rows) + 10), parts=parts)


def _row(row: HeatRow, left: float, top: float) -> list[str]:
    indent, kind = (8, "chart-strong") if row.heading else (20, "")
    parts = [label(indent, top + 15, row.label, kind=kind)]
    for place, cell in enumerate(row.cells):
        parts.append(_cell(cell, left + COLUMN * place, top))
    return parts


def _cell(cell: HeatCell, x: float, y: float) -> str:
    level = "none" if cell.level is None else str(cell.level)
    box: dict[str, str | float] = {"class": f"chart-heat chart-heat-{level}", "x": x, "y": y}
    inside = [
        element("title", words=cell.note) if cell.note else "",
        element("rect", {**box, "width": COLUMN, "height": ROW}),
        label(x + COLUMN - 8, y + 15, cell.text, anchor="end", kind=f"chart-on-{level}"),
    ]
    return element("g", {}, "".join(inside))
