"""Lines over a common axis, told apart by dashes and marks as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gluebench.analysis.charts.axes import BOTTOM, LEFT, RIGHT, TOP, Scale, scale_over, x_axis, y_axis
from gluebench.analysis.charts.marks import INKS, mark
from gluebench.analysis.charts.svg import label, path, picture, width_of


class Series(NamedTuple):
    """One line."""

    label: str
    points: tuple[tuple[float, float], ...]


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_title: str,
    y_title: str,
    logarithmic: bool = False,
    width: float = 640,
    height: float = 360,
) -> str:
    """Lines with their names at their ends; `logarithmic` is of x. Raises ValueError for no points."""
    right = width - RIGHT - max((width_of(each.label) for each in series), default=0)
    every = [point for each in series for point in each.points]
    across = scale_over((x for x, _ in every), LEFT, right, logarithmic=logarithmic)
    up = scale_over((y for _, y in every), height - BOTTOM, TOP)
    parts = [*x_axis(across, up.start, x_title, top=TOP), *y_axis(up, LEFT, y_title, right=right)]
    for order, each in enumerate(series):
        parts += _line(each, across, up, order)
    about = f"{y_title} by {x_title}: " + "; ".join(each.label for each in series)
    return picture(title, about, width=width, height=height, parts=parts)


def _line(series: Series, across: Scale, up: Scale, order: int) -> list[str]:
    places = [(across.at(x), up.at(y)) for x, y in series.points]
    if not places:
        return []
    marks = [mark(x, y, order) for x, y in places]
    x, y = places[-1]
    return [path(places, f"chart-line chart-ink-{order % INKS}"), *marks, label(x + 9, y + 4, series.label)]
