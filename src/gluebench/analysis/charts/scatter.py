"""Points with names, and a line through those that none beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gluebench.analysis.charts.axes import BOTTOM, LEFT, RIGHT, TOP, Scale, scale_over, x_axis, y_axis
from gluebench.analysis.charts.marks import mark
from gluebench.analysis.charts.svg import label, path, picture, width_of


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
) -> str:
    """Named points; `front` is joined by steps from left to right, as a Pareto front is.

    `logarithmic` is of x. Raises ValueError for no points.
    """
    across = scale_over((point.x for point in points), LEFT, width - RIGHT, logarithmic=logarithmic)
    heights = [v for point in points for v in (point.y, point.low, point.high) if v is not None]
    up = scale_over(heights, height - BOTTOM, TOP)
    parts = [*x_axis(across, up.start, x_title, top=TOP), *y_axis(up, LEFT, y_title, right=width - RIGHT)]
    if len(front) > 1:
        parts.append(path(_steps(front, across, up), "chart-front"))
    for point in points:
        parts += _point(point, across, up)
    about = f"{y_title} by {x_title}: " + "; ".join(f"{p.label} ({p.x:.4g}, {p.y:.4g})" for p in points)
    return picture(title, about, width=width, height=height, parts=parts)


def _steps(front: Sequence[tuple[float, float]], across: Scale, up: Scale) -> list[tuple[float, float]]:
    places: list[tuple[float, float]] = []
    for x, y in sorted(front):
        if places:
            places.append((across.at(x), places[-1][1]))
        places.append((across.at(x), up.at(y)))
    return places


def _point(point: Point, across: Scale, up: Scale) -> list[str]:
    x, y = across.at(point.x), up.at(point.y)
    parts = []
    if point.low is not None and point.high is not None:
        parts.append(path([(x, up.at(point.low)), (x, up.at(point.high))], "chart-whisker"))
    parts.append(mark(x, y, point.group, f"{point.label}: {point.x:.6g}, {point.y:.4g}"))
    ends = x + 10 + width_of(point.label) > across.stop
    parts.append(label(x - 7 if ends else x + 7, y - 7, point.label, anchor="end" if ends else ""))
    return parts
