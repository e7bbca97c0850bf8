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
    inside = "\n".join([element("title", words=title), element("desc", words=desc), *parts])
    size = {"width": number(width), "height": number(height)}
    size["viewBox"] = "0 0 {width} {height}".format(**size)
    return element("svg", {"xmlns": _NAMESPACE, "class": "chart", "role": "img", **size}, f"\n{inside}\n")


def as_file(svg: str) -> str:
    """A chart as a separate SVG file, with its style sheet and a background."""
    head, _, rest = svg.partition("</desc>")
    background = element("rect", {"class": "chart-paper", "width": "100%", "height": "100%"})
    return f"{head}</desc>\n<style>\n{STYLE}</style>\n{background}{rest}\n"


def element(
    name: str, attributes: Mapping[str, str | float] | None = None, inside: str = "", *, words: str = ""
) -> str:
    """One XML element; `inside` is markup and `words` is text. Empty attributes are left out."""
    given = "".join(
        f' {key}="{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in (attributes or {}).items()
        if value != ""
    )
    content = inside + escape(words, quote=False)
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


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


LEFT, RIGHT, TOP, BOTTOM = 62.0, 24.0, 16.0, 52.0
"""Margins around the plot area."""
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

    def at(self, value: float) -> float:
        """The position of a value."""
        low, high, where = (log10(v) if self.logarithmic else v for v in (self.low, self.high, value))
        share = (where - low) / (high - low) if high != low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About `count` round values within the scale; powers of ten where it is logarithmic."""
        if self.logarithmic:
            return [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]
        if self.high == self.low:
            return [self.low]
        least = (self.high - self.low) / count
        power = 10.0 ** floor(log10(least))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
        first = ceil(self.low / step - 1e-9)
        return [at * step for at in range(first, floor(self.high / step + 1e-9) + 1)]


def scale_over(values: Iterable[float], start: float, stop: float, *, logarithmic: bool = False) -> Scale:
    """A scale over all values, with a margin at both ends. Raises ValueError without values."""
    numbers = list(values)
    if not numbers:
        raise ValueError("a chart needs at least one value")
    low, high = min(numbers), max(numbers)
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
    ticks = [(scale.at(tick), (words or shown)(tick)) for tick in scale.ticks()]
    return [
        *(path([(x, y), (x, top)], "chart-grid") for x, _ in ticks),
        path([(scale.start, y), (scale.stop, y)], "chart-axis"),
        *(label(x, y + 17, text, anchor="middle", kind="chart-quiet") for x, text in ticks),
        label((scale.start + scale.stop) / 2, y + 38, title, anchor="middle"),
    ]


def y_axis(scale: Scale, x: float, title: str, *, right: float) -> list[str]:
    """Ticks left of the axis at `x`, and grid lines to `right`."""
    ticks = [(scale.at(tick), shown(tick)) for tick in scale.ticks()]
    return [
        *(path([(x, y), (right, y)], "chart-grid") for y, _ in ticks),
        path([(x, scale.start), (x, scale.stop)], "chart-axis"),
        *(label(x - 8, y + 4, text, anchor="end", kind="chart-quiet") for y, text in ticks),
        label(14, (scale.start + scale.stop) / 2, title, anchor="middle", turn=-90),
    ]


def shown(value: float) -> str:
    """Format a tick: 20, 0.5, 300K, 1.2B."""
    size = abs(value)
    for least, letter in ((1e9, "B"), (1e6, "M"), (1e4, "K")):
        if size >= least:
            return f"{value / (1e3 if letter == 'K' else least):.4g}{letter}"
    return f"{round(value, 10) + 0.0:.6g}"


ROW = 26.0
CELL, COLUMN = 22.0, 52.0
"""Height and width of a cell of a heat map."""
TURN = 40.0
"""Rotation of the column headings in degrees."""


class Bar(NamedTuple):
    """One bar, with its interval if there is one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def bar_chart(title: str, bars: Sequence[Bar], *, axis: str) -> str:
    """A bar from zero for each value, the first at the top."""
    left = 16 + max((width_of(bar.label) for bar in bars), default=0)
    bottom = TOP + ROW * len(bars)
    values = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    room = (high - low) * 0.04
    ends = (low - room * (low < 0), high + room * (high > 0)) if room else (0.0, 1.0)
    scale = Scale(*ends, left, WIDTH - RIGHT)
    parts = x_axis(scale, bottom, axis, top=TOP)
    for row, bar in enumerate(bars):
        top = TOP + ROW * row
        middle = top + ROW / 2
        start, end = sorted((scale.at(0), scale.at(bar.value)))
        parts.append(label(scale.start - 8, middle + 4, bar.label, anchor="end"))
        parts.append(rectangle("chart-bar", start, top + 5, width=end - start, height=ROW - 10))
        if bar.low is not None and bar.high is not None:
            parts.append(path([(scale.at(bar.low), middle), (scale.at(bar.high), middle)], "chart-whisker"))
    desc = f"{len(bars)} bars: " + "; ".join(f"{bar.label} {bar.value:.4g}" for bar in bars)
    return picture(title, desc, width=WIDTH, height=bottom + BOTTOM, parts=parts)


class Point(NamedTuple):
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
    points: Sequence[Point],
    *,
    x_title: str,
    y_title: str,
    front: Sequence[tuple[float, float]] = (),
    logarithmic: bool = False,
    width: float = WIDTH,
    height: float = 400,
    x_words: Callable[[float], str] = shown,
) -> str:
    """Named points; `front` is drawn as steps from left to right, such as a Pareto front.

    `logarithmic` applies to x, whose ticks `x_words` formats. Raises ValueError without points.
    """
    across = scale_over((point.x for point in points), LEFT, width - RIGHT, logarithmic=logarithmic)
    heights = [v for point in points for v in (point.y, point.low, point.high) if v is not None]
    up = scale_over(heights, height - BOTTOM, TOP)
    parts = x_axis(across, up.start, x_title, top=TOP, words=x_words)
    parts += y_axis(up, LEFT, y_title, right=width - RIGHT)
    if len(front) > 1:
        corners = [(across.at(x), up.at(y)) for x, y in sorted(front)]
        steps = [place for (_, y), (x, after) in pairwise(corners) for place in ((x, y), (x, after))]
        parts.append(path([corners[0], *steps], "chart-front"))
    for point in points:
        x, y = across.at(point.x), up.at(point.y)
        if point.low is not None and point.high is not None:
            parts.append(path([(x, up.at(point.low)), (x, up.at(point.high))], "chart-whisker"))
        parts.append(mark(x, y, point.group, f"{point.label}: {x_words(point.x)}, {point.y:.4g}"))
        ends = x + 10 + width_of(point.label) > across.stop
        parts.append(label(x - 7 if ends else x + 7, y - 7, point.label, anchor="end" if ends else ""))
    desc = f"{y_title} by {x_title}: " + "; ".join(f"{p.label} ({x_words(p.x)}, {p.y:.4g})" for p in points)
    return picture(title, desc, width=width, height=height, parts=parts)


def heat_chart(title: str, desc: str, columns: Sequence[str], rows: Sequence[HeatRow]) -> str:
    """Rows of shaded cells, each with its text, so that it is readable without color.

    `desc` explains the shades to screen readers.
    """
    left = 32 + max((width_of(row.label) * (1.06 if row.heading else 1) for row in rows), default=0)
    longest = max(map(width_of, columns), default=0)
    top = 16 + longest * sin(radians(TURN)) + 6
    parts = [
        label(left + COLUMN * (place + 0.4), top - 6, name, turn=-TURN, kind="chart-strong")
        for place, name in enumerate(columns)
    ]
    for number, row in enumerate(rows):
        y = top + CELL * number
        indent, kind = (8, "chart-strong") if row.heading else (20, "")
        parts.append(label(indent, y + 15, row.label, kind=kind))
        for place, cell in enumerate(row.cells):
            level, x = "none" if cell.level is None else str(cell.level), left + COLUMN * place
            note = element("title", words=cell.note) if cell.note else ""
            box = rectangle(f"chart-heat chart-heat-{level}", x, y, width=COLUMN, height=CELL)
            text = label(x + COLUMN - 8, y + 15, cell.text, anchor="end", kind=f"chart-on-{level}")
            parts.append(element("g", {}, note + box + text))
    width = left + COLUMN * len(columns) + max(16.0, longest * cos(radians(TURN)) - COLUMN / 2)
    return picture(title, desc, width=round(width), height=round(top + CELL * len(rows) + 10), parts=parts)
