"""Bars, points and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, radians, sin
from typing import NamedTuple

from gluebench.analysis.charts.axes import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    scale_over,
    shown,
    x_axis,
    y_axis,
)
from gluebench.analysis.charts.svg import element, label, mark, path, picture, width_of

ROW = 26.0
CELL, COLUMN = 22.0, 52.0
"""Height and width of a cell of a heat map."""
TURN = 40.0
"""Degrees that the headings of the columns rise by."""


class Bar(NamedTuple):
    """One bar and, where there is one, its interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def bar_chart(
    title: str, bars: Sequence[Bar], *, axis: str, width: float = 640, ends: tuple[float, float] | None = None
) -> str:
    """A bar from zero for each value, the first on top; `ends` are those of the axis."""
    left = 16 + max((width_of(bar.label) for bar in bars), default=0)
    bottom = TOP + ROW * len(bars)
    low, high = ends or _ends(bars)
    scale = Scale(low, high, left, width - RIGHT)
    parts = x_axis(scale, bottom, axis, top=TOP)
    for row, bar in enumerate(bars):
        parts += _bar(bar, scale, TOP + ROW * row)
    about = f"{len(bars)} bars: " + "; ".join(f"{bar.label} {bar.value:.4g}" for bar in bars)
    return picture(title, about, width=width, height=bottom + BOTTOM, parts=parts)


def _ends(bars: Sequence[Bar]) -> tuple[float, float]:
    values = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    room = (high - low) * 0.04
    return (low - room * (low < 0), high + room * (high > 0)) if room else (0.0, 1.0)


def _bar(bar: Bar, scale: Scale, top: float) -> list[str]:
    middle = top + ROW / 2
    ends = sorted((scale.at(0), scale.at(bar.value)))
    box: dict[str, str | float] = {"class": "chart-bar", "x": ends[0], "y": top + 5}
    parts = [
        label(scale.start - 8, middle + 4, bar.label, anchor="end"),
        element("rect", {**box, "width": ends[1] - ends[0], "height": ROW - 10}),
    ]
    if bar.low is not None and bar.high is not None:
        parts.append(path([(scale.at(bar.low), middle), (scale.at(bar.high), middle)], "chart-whisker"))
    return parts


class Point(NamedTuple):
    """One point, with the ends of its interval in y where there is one."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    group: int = 0
    """Points of one group share shape and colour."""


def scatter_chart(
    title: str,
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    front: Sequence[tuple[float, float]] = (),
    logarithmic: bool = False,
    width: float = 640,
    height: float = 400,
    x_words: Callable[[float], str] = shown,
) -> str:
    """Named points; `front` is joined by steps from left to right, as a Pareto front is.

    `logarithmic` is of x, whose ticks are written by `x_words`. Raises ValueError for no points.
    """
    across = scale_over((point.x for point in points), LEFT, width - RIGHT, logarithmic=logarithmic)
    heights = [v for point in points for v in (point.y, point.low, point.high) if v is not None]
    up = scale_over(heights, height - BOTTOM, TOP)
    parts = x_axis(across, up.start, x_title, top=TOP, words=x_words)
    parts += y_axis(up, LEFT, y_title, right=width - RIGHT)
    if len(front) > 1:
        parts.append(path(_steps(front, across, up), "chart-front"))
    for point in points:
        parts += _point(point, across, up, x_words)
    about = f"{y_title} by {x_title}: " + "; ".join(f"{p.label} ({x_words(p.x)}, {p.y:.4g})" for p in points)
    return picture(title, about, width=width, height=height, parts=parts)


def _steps(front: Sequence[tuple[float, float]], across: Scale, up: Scale) -> list[tuple[float, float]]:
    places: list[tuple[float, float]] = []
    for x, y in sorted(front):
        if places:
            places.append((across.at(x), places[-1][1]))
        places.append((across.at(x), up.at(y)))
    return places


def _point(point: Point, across: Scale, up: Scale, x_words: Callable[[float], str]) -> list[str]:
    x, y = across.at(point.x), up.at(point.y)
    parts = []
    if point.low is not None and point.high is not None:
        parts.append(path([(x, up.at(point.low)), (x, up.at(point.high))], "chart-whisker"))
    parts.append(mark(x, y, point.group, f"{point.label}: {x_words(point.x)}, {point.y:.4g}"))
    ends = x + 10 + width_of(point.label) > across.stop
    parts.append(label(x - 7 if ends else x + 7, y - 7, point.label, anchor="end" if ends else ""))
    return parts


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
        parts += _row(row, left, top + CELL * number)
    width = left + COLUMN * len(columns) + max(16.0, longest * cos(radians(TURN)) - COLUMN / 2)
    return picture(title, about, width=round(width), height=round(top + CELL * len(rows) + 10), parts=parts)


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
        element("rect", {**box, "width": COLUMN, "height": CELL}),
        label(x + COLUMN - 8, y + 15, cell.text, anchor="end", kind=f"chart-on-{level}"),
    ]
    return element("g", {}, "".join(inside))
