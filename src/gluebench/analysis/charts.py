"""Charts as SVG text, colored by CSS classes, without inline styles, scripts or external resources.

Each function returns an `<svg>` element for a page whose style sheet includes `STYLE`; `as_file` makes a
separate file of it. Show the numbers of every chart in a table too. Each color has its own shape of marks, so
that no reader needs the color.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import pairwise
from math import ceil, cos, floor, log10, radians, sin
from typing import NamedTuple

from gluebench.scoring.plots import HeatRow

STYLE = resources.files("gluebench.analysis").joinpath("static", "chart.css").read_text("utf-8")
"""CSS of the classes that charts use, light and dark, for the style sheet of a page."""
LETTER = 6.6
"""Width of a letter in the font size of charts, an upper estimate."""
_NAMESPACE = "http://www.w3.org/2000/svg"
INKS = 4
"""Number of colors, each with its own shape; further series reuse them."""
_SHAPES = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # disc
    "M{x} {y}m-4 -4h8v8h-8z",  # square
    "M{x} {y}m0 -5l5 9h-10z",  # triangle
    "M{x} {y}m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",  # diamond
)


def picture(title: str, desc: str, *, width: float, height: float, parts: Iterable[str]) -> str:
    """An `<svg>` element for a page; `desc` describes it to screen readers."""
    lines = [element("title", words=title), element("desc", words=desc)]
    lines.extend(parts)
    attributes = {
        "xmlns": _NAMESPACE,
        "class": "chart",
        "role": "img",
        "width": number(width),
        "height": number(height),
        "viewBox": f"0 0 {number(width)} {number(height)}",
    }
    inside = "\n".join(lines)
    return element("svg", attributes, f"\n{inside}\n")


def as_file(svg: str) -> str:
    """A chart as a separate SVG file, with its style sheet and a background."""
    head, _, rest = svg.partition("</desc>")
    background = element("rect", {"class": "chart-paper", "width": "100%", "height": "100%"})
    return f"{head}</desc>\n<style>\n{STYLE}</style>\n{background}{rest}\n"


def element(
    name: str, attributes: Mapping[str, str | float] | None = None, inside: str = "", *, words: str = ""
) -> str:
    """One XML element; `inside` is markup and `words` is text. Empty attributes are left out."""
    start = name
    for key, value in (attributes or {}).items():
        text = escape(value) if isinstance(value, str) else number(value)
        if text:
            start += f' {key}="{text}"'
    content = inside + escape(words, quote=False)
    if not content:
        return f"<{start}/>"
    return f"<{start}>{content}</{name}>"


def label(x: float, y: float, words: str, *, anchor: str = "", kind: str = "", turn: float = 0) -> str:
    """Text with its baseline on `y`; `anchor` is start (the default), middle or end."""
    turned = f"rotate({number(turn)} {number(x)} {number(y)})" if turn else ""
    return element(
        "text", {"x": x, "y": y, "class": kind, "text-anchor": anchor, "transform": turned}, words=words
    )


def rectangle(kind: str, x: float, y: float, *, width: float, height: float) -> str:
    """A box with its upper left corner at (x, y)."""
    return element("rect", {"class": kind, "x": x, "y": y, "width": width, "height": height})


def path(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    where = " L".join(f"{number(x)} {number(y)}" for x, y in points)
    return element("path", {"class": kind, "d": f"M{where}"})


def number(value: float) -> str:
    """Format a length with at most two decimals, so that all machines give the same text."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def width_of(words: str) -> float:
    """Estimated width of a text; East Asian letters are twice as wide as others."""
    return LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words)


def mark(x: float, y: float, order: int, note: str = "") -> str:
    """A mark at (x, y) with the shape and color number `order`."""
    shape = _SHAPES[order % INKS].format(x=number(x), y=number(y))
    title = element("title", words=note) if note else ""
    return element("path", {"class": f"chart-mark chart-ink-{order % INKS}", "d": shape}, title)


# Margins around the plot area.
LEFT = 62.0
RIGHT = 24.0
TOP = 16.0
BOTTOM = 52.0
WIDTH = 640.0
ROOM = 0.05
"""Margin of a scale at both ends, as a share of its range."""


class Scale(NamedTuple):
    """A map from values to positions: `low` is drawn at `start` and `high` at `stop`."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False
    """Whether positions are proportional to logarithms; values must then be positive."""

    def position(self, value: float) -> float:
        """The position of a value."""
        low = self.low
        high = self.high
        if self.logarithmic:
            low = log10(low)
            high = log10(high)
            value = log10(value)
        share = 0.5
        if high != low:
            share = (value - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About `count` round values within the scale; powers of ten where it is logarithmic."""
        if self.logarithmic:
            powers = range(ceil(log10(self.low)), floor(log10(self.high)) + 1)
            return [10.0**power for power in powers]
        if self.high == self.low:
            return [self.low]
        least = (self.high - self.low) / count
        power = 10.0 ** floor(log10(least))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
        # The tolerance keeps a tick at an end whose quotient is rounded to the wrong side.
        first = ceil(self.low / step - 1e-9)
        last = floor(self.high / step + 1e-9)
        return [multiple * step for multiple in range(first, last + 1)]


def scale_over(values: Iterable[float], start: float, stop: float, *, logarithmic: bool = False) -> Scale:
    """A scale over all values, with a margin at both ends. Raises ValueError without values."""
    numbers = list(values)
    if not numbers:
        raise ValueError("a chart needs at least one value")
    low = min(numbers)
    high = max(numbers)
    if logarithmic:
        if low <= 0:
            raise ValueError(f"{low:g} has no place on a logarithmic scale; expected values above 0")
        wider = (high / low) ** ROOM if high > low else 2.0
        return Scale(low / wider, high * wider, start, stop, True)
    more = (high - low) * ROOM or abs(high) * ROOM or 1.0
    return Scale(low - more, high + more, start, stop)


def x_axis(
    scale: Scale, y: float, title: str, *, top: float, words: Callable[[float], str] | None = None
) -> list[str]:
    """Ticks below the axis at `y`, formatted by `words`, and grid lines up to `top`."""
    parts = []
    texts = []
    for tick in scale.ticks():
        x = scale.position(tick)
        parts.append(path([(x, y), (x, top)], "chart-grid"))
        text = (words or tick_text)(tick)
        texts.append(label(x, y + 17, text, anchor="middle", kind="chart-quiet"))
    parts.append(path([(scale.start, y), (scale.stop, y)], "chart-axis"))
    parts += texts
    parts.append(label((scale.start + scale.stop) / 2, y + 38, title, anchor="middle"))
    return parts


def y_axis(scale: Scale, x: float, title: str, *, right: float) -> list[str]:
    """Ticks left of the axis at `x`, and grid lines to `right`."""
    parts = []
    texts = []
    for tick in scale.ticks():
        y = scale.position(tick)
        parts.append(path([(x, y), (right, y)], "chart-grid"))
        texts.append(label(x - 8, y + 4, tick_text(tick), anchor="end", kind="chart-quiet"))
    parts.append(path([(x, scale.start), (x, scale.stop)], "chart-axis"))
    parts += texts
    parts.append(label(14, (scale.start + scale.stop) / 2, title, anchor="middle", turn=-90))
    return parts


def tick_text(value: float) -> str:
    """Format a tick: 20, 0.5, 300K, 1.2B."""
    size = abs(value)
    # From 10,000 on in thousands.
    for least, unit, letter in ((1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "K")):
        if size >= least:
            return f"{value / unit:.4g}{letter}"
    return f"{round(value, 10) + 0.0:.6g}"


ROW = 26.0
CELL = 22.0
"""Height of a cell of a heat map."""
COLUMN = 52.0
"""Width of a cell of a heat map."""
TURN = 40.0
"""Rotation of the column headings in degrees."""


class ChartBar(NamedTuple):
    """One bar, with its interval if there is one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def bar_chart(title: str, bars: Sequence[ChartBar], *, axis: str) -> str:
    """A bar from zero for each value, the first at the top."""
    left = 16 + max((width_of(bar.label) for bar in bars), default=0)
    bottom = TOP + ROW * len(bars)
    values = [0.0]
    for bar in bars:
        values += [value for value in (bar.value, bar.low, bar.high) if value is not None]
    low = min(values)
    high = max(values)
    room = (high - low) * 0.04
    if not room:
        high = 1.0
    # Zero is the end of bars on one side of it, without a margin.
    if low < 0:
        low -= room
    if high > 0:
        high += room
    scale = Scale(low, high, left, WIDTH - RIGHT)
    parts = x_axis(scale, bottom, axis, top=TOP)
    for row, bar in enumerate(bars):
        top = TOP + ROW * row
        middle = top + ROW / 2
        start, end = sorted((scale.position(0), scale.position(bar.value)))
        parts.append(label(scale.start - 8, middle + 4, bar.label, anchor="end"))
        parts.append(rectangle("chart-bar", start, top + 5, width=end - start, height=ROW - 10))
        if bar.low is not None and bar.high is not None:
            ends = [(scale.position(bar.low), middle), (scale.position(bar.high), middle)]
            parts.append(path(ends, "chart-whisker"))
    desc = f"{len(bars)} bars: " + "; ".join(f"{bar.label} {bar.value:.4g}" for bar in bars)
    return picture(title, desc, width=WIDTH, height=bottom + BOTTOM, parts=parts)


class ScatterPoint(NamedTuple):
    """One point, with the ends of its interval in y if there is one."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    group: int = 0
    """Points of one group share shape and color."""


def scatter_chart(
    title: str,
    points: Sequence[ScatterPoint],
    *,
    x_title: str,
    y_title: str,
    front: Sequence[tuple[float, float]] = (),
    logarithmic: bool = False,
    width: float = WIDTH,
    height: float = 400,
    x_words: Callable[[float], str] = tick_text,
) -> str:
    """Named points; `front` is drawn as steps from left to right, such as a Pareto front.

    `logarithmic` applies to x, whose ticks `x_words` formats. Raises ValueError without points.
    """
    across = scale_over((point.x for point in points), LEFT, width - RIGHT, logarithmic=logarithmic)
    heights = []
    for point in points:
        heights += [value for value in (point.y, point.low, point.high) if value is not None]
    up = scale_over(heights, height - BOTTOM, TOP)
    parts = x_axis(across, up.start, x_title, top=TOP, words=x_words)
    parts += y_axis(up, LEFT, y_title, right=width - RIGHT)
    if len(front) > 1:
        corners = [(across.position(x), up.position(y)) for x, y in sorted(front)]
        steps = corners[:1]
        for (_, y), (x, next_y) in pairwise(corners):
            steps += [(x, y), (x, next_y)]
        parts.append(path(steps, "chart-front"))
    for point in points:
        x = across.position(point.x)
        y = up.position(point.y)
        if point.low is not None and point.high is not None:
            parts.append(path([(x, up.position(point.low)), (x, up.position(point.high))], "chart-whisker"))
        parts.append(mark(x, y, point.group, f"{point.label}: {x_words(point.x)}, {point.y:.4g}"))
        if x + 10 + width_of(point.label) > across.stop:  # no room to the right of the mark
            parts.append(label(x - 7, y - 7, point.label, anchor="end"))
        else:
            parts.append(label(x + 7, y - 7, point.label))
    places = [f"{point.label} ({x_words(point.x)}, {point.y:.4g})" for point in points]
    desc = f"{y_title} by {x_title}: " + "; ".join(places)
    return picture(title, desc, width=width, height=height, parts=parts)


def heat_chart(title: str, desc: str, columns: Sequence[str], rows: Sequence[HeatRow]) -> str:
    """Rows of shaded cells, each with its text, so that it is readable without color.

    `desc` explains the shades to screen readers.
    """
    widths = [width_of(row.label) * (1.06 if row.heading else 1) for row in rows]  # headings are bold
    left = 32 + max(widths, default=0)
    longest = max(map(width_of, columns), default=0)
    top = 16 + longest * sin(radians(TURN)) + 6
    parts = []
    for place, name in enumerate(columns):
        x = left + COLUMN * (place + 0.4)
        parts.append(label(x, top - 6, name, turn=-TURN, kind="chart-strong"))
    for number, row in enumerate(rows):
        y = top + CELL * number
        if row.heading:
            parts.append(label(8, y + 15, row.label, kind="chart-strong"))
        else:
            parts.append(label(20, y + 15, row.label))
        for place, cell in enumerate(row.cells):
            x = left + COLUMN * place
            level = "none" if cell.level is None else str(cell.level)
            note = element("title", words=cell.note) if cell.note else ""
            box = rectangle(f"chart-heat chart-heat-{level}", x, y, width=COLUMN, height=CELL)
            text = label(x + COLUMN - 8, y + 15, cell.text, anchor="end", kind=f"chart-on-{level}")
            parts.append(element("g", {}, note + box + text))
    width = left + COLUMN * len(columns) + max(16.0, longest * cos(radians(TURN)) - COLUMN / 2)
    return picture(title, desc, width=round(width), height=round(top + CELL * len(rows) + 10), parts=parts)
