"""Scales and axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor, log10
from typing import NamedTuple

from gluebench.analysis.charts.svg import label, path

LEFT, RIGHT, TOP, BOTTOM = 62.0, 24.0, 16.0, 52.0
"""Room around what is plotted."""


class Scale(NamedTuple):
    """From values to places: `low` stands at `start` and `high` at `stop`."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False
    """Powers of ten are equally far apart; values must be positive."""

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high, where = (log10(v) if self.logarithmic else v for v in (self.low, self.high, value))
        share = (where - low) / (high - low) if high != low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About `count` round values within the scale; powers of ten where it is logarithmic."""
        if self.logarithmic:
            return [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        if self.high == self.low:
            return [self.low]
        step = _round_step((self.high - self.low) / count)
        first = ceil(self.low / step - 1e-9)
        return [at * step for at in range(first, floor(self.high / step + 1e-9) + 1)]


def scale_over(
    values: Iterable[float], start: float, stop: float, *, logarithmic: bool = False, room: float = 0.05
) -> Scale:
    """A scale that holds all values, with some room at either end. Raises ValueError for none."""
    numbers = list(values)
    if not numbers:
        raise ValueError("a chart needs at least one value")
    low, high = min(numbers), max(numbers)
    if logarithmic:
        if low <= 0:
            raise ValueError(f"{low:g} has no place on a logarithmic scale; expected values above 0")
        wider = (high / low) ** room if high > low else 2.0
        return Scale(low / wider, high * wider, start, stop, True)
    more = (high - low) * room or abs(high) * room or 1.0
    return Scale(low - more, high + more, start, stop)


def x_axis(
    scale: Scale, y: float, title: str, *, top: float, words: Callable[[float], str] | None = None
) -> list[str]:
    """Ticks below the line at `y`, written by `words`, and grid lines up to `top`."""
    words = words or shown
    parts = [path([(scale.at(tick), y), (scale.at(tick), top)], "chart-grid") for tick in scale.ticks()]
    parts.append(path([(scale.start, y), (scale.stop, y)], "chart-axis"))
    parts += [
        label(scale.at(tick), y + 17, words(tick), anchor="middle", kind="chart-quiet")
        for tick in scale.ticks()
    ]
    middle = (scale.start + scale.stop) / 2
    return [*parts, label(middle, y + 38, title, anchor="middle")]


def y_axis(scale: Scale, x: float, title: str, *, right: float) -> list[str]:
    """Ticks left of the line at `x`, and grid lines to `right`."""
    parts = [path([(x, scale.at(tick)), (right, scale.at(tick))], "chart-grid") for tick in scale.ticks()]
    parts.append(path([(x, scale.start), (x, scale.stop)], "chart-axis"))
    parts += [
        label(x - 8, scale.at(tick) + 4, shown(tick), anchor="end", kind="chart-quiet")
        for tick in scale.ticks()
    ]
    return [*parts, label(14, (scale.start + scale.stop) / 2, title, anchor="middle", turn=-90)]


def shown(value: float) -> str:
    """A tick as it is read: 20, 0.5, 300K, 1.2B."""
    size = abs(value)
    for least, letter in ((1e9, "B"), (1e6, "M"), (1e4, "K")):
        if size >= least:
            return f"{value / (1e3 if letter == 'K' else least):.4g}{letter}"
    return f"{round(value, 10) + 0.0:.6g}"


def _round_step(step: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is no less."""
    power = 10.0 ** floor(log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * (1 - 1e-9))
