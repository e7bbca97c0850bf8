"""Horizontal bars with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gluebench.analysis.charts.axes import BOTTOM, RIGHT, TOP, Scale, x_axis
from gluebench.analysis.charts.svg import element, label, path, picture, width_of

ROW = 26.0


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
