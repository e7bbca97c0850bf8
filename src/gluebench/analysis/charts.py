"""Charts as SVG text, colored by CSS classes, without inline styles, scripts or external resources.

Each function returns an `<svg>` element for a page whose style sheet includes `STYLE`; `as_file` makes a
separate file of it. Show the numbers of every chart in a table too. Each color has its own shape of marks, so
that no reader needs the color.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
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
QUIET = -1
"""The color of what does not stand out."""
MOST_NAMED = 40
"""Rows of a chart that have names, and points that its description lists."""
MOST_LINES = 1000
"""Rows of a chart that have a line and a link each; more are drawn as one band."""
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
    linked = any(part.startswith("<a ") for part in lines)  # what is in an image cannot be reached
    attributes = {
        "xmlns": _NAMESPACE,
        "class": "chart",
        "role": "group" if linked else "img",
        "width": number(width),
        "height": number(height),
        "viewBox": f"0 0 {number(width)} {number(height)}",
    }
    inside = "\n".join(lines)
    return element("svg", attributes, f"\n{inside}\n")


def as_file(svg: str) -> str:
    """A chart as a separate SVG file, with its style sheet and a background, without links into a site."""
    head, _, rest = re.sub(r' (href|tabindex)="[^"]*"', "", svg).partition("</desc>")
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
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    return LETTER * (len(words) + wide)


def mark(x: float, y: float, order: int) -> str:
    """A mark at (x, y) with the shape and color number `order`; a small square for `QUIET`."""
    if order == QUIET:
        return dots([(x, y)])
    shape = _SHAPES[order % INKS].format(x=number(x), y=number(y))
    return element("path", {"class": f"chart-mark {ink(order)}", "d": shape})


def dots(places: Iterable[tuple[float, float]]) -> str:
    """Small grey squares in one shape."""
    drawn = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    return element("path", {"class": "chart-dot", "d": drawn})


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
    scale: Scale,
    y: float,
    title: str,
    *,
    top: float,
    words: Callable[[float], str] | None = None,
    ticks: Sequence[float] = (),
) -> list[str]:
    """Ticks below the axis at `y`, formatted by `words`, and grid lines up to `top`."""
    parts = []
    texts = []
    last = ""
    free_from = float("-inf")
    for tick in ticks or scale.ticks():
        x = scale.position(tick)
        parts.append(path([(x, y), (x, top)], "chart-grid"))
        text = (words or tick_text)(tick)
        half = width_of(text) / 2
        if text != last and x - half > free_from:  # dates of one minute are the same text
            texts.append(label(x, y + 17, text, anchor="middle", kind="chart-quiet"))
            free_from = x + half + LETTER
            last = text
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


class ChartPoint(NamedTuple):
    """A row of an interval chart, or a point of a scatter chart: a value with its interval, if it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    link: str = ""
    """Where a click on it leads."""
    ink: int = 0
    """0 for the accent, 1 for the second color, `QUIET` for grey: a small point without name and interval."""
    note: str = ""
    """What a row says on hover, if that is not its label with its numbers."""
    x: float = 0.0
    """Where a point stands across."""


def interval_chart(
    title: str,
    rows: Sequence[ChartPoint],
    *,
    axis: str,
    zero: bool = False,
    ranks: bool = False,
    width: float = 460,
) -> str:
    """A mark with its interval for each value, the first at the top.

    `zero` draws the line of no difference; `ranks` are whole numbers from 1.
    More than `MOST_NAMED` rows are thin lines without names, numbered from the top; more than `MOST_LINES`
    are one band, from the lowest to the highest end of the rows that share a pixel.
    """
    named = len(rows) <= MOST_NAMED
    height = ROW
    if not named:
        least = 2.5 if len(rows) <= MOST_LINES else 0
        height = max(least, MOST_NAMED * ROW / len(rows))
    left = LEFT
    if named:
        left = 16 + max((width_of(row.label) for row in rows), default=0)
    bottom = TOP + height * len(rows)
    ends = [0.0] if zero else []
    for row in rows:
        ends += [value for value in (row.value, row.low, row.high) if value is not None]
    scale = scale_over(ends or [0.0], left, width - RIGHT)
    ticks = [tick for tick in scale.ticks() if not ranks or (tick > 1 and tick == int(tick))]
    if ranks:
        ticks = [1.0] + [tick for tick in ticks if scale.position(tick) > scale.position(1) + 30]
    parts = x_axis(scale, bottom, axis, top=TOP, ticks=ticks)
    if zero:
        x = scale.position(0)
        parts.append(path([(x, TOP), (x, bottom)], "chart-zero"))
    if not named:
        numbers = Scale(1, len(rows), TOP + height / 2, bottom - height / 2)
        for tick in [1.0] + [tick for tick in numbers.ticks() if numbers.position(tick) > TOP + 20]:
            parts.append(
                label(left - 8, numbers.position(tick) + 4, tick_text(tick), anchor="end", kind="chart-quiet")
            )
    if len(rows) > MOST_LINES:
        parts += _draw_band(rows, scale, height)
    else:
        parts += _draw_rows(rows, scale, height, named=named)
    desc = f"{len(rows)} rows: " + "; ".join(row.note or _note(row) for row in rows[:MOST_NAMED])
    return picture(title, desc, width=width, height=bottom + BOTTOM, parts=parts)


def _draw_rows(rows: Sequence[ChartPoint], scale: Scale, height: float, *, named: bool) -> Iterator[str]:
    """The interval of each row; if they are `named`, with its name and its mark."""
    kind = "chart-interval" if named else "chart-thin"
    for at, row in enumerate(rows):
        middle = TOP + height * (at + 0.5)
        inside = ""
        if named:
            inside += label(scale.start - 8, middle + 4, row.label, anchor="end")
        if row.low is not None and row.high is not None:
            start = scale.position(row.low)
            line = f"M{start:.1f} {middle:.1f}H{scale.position(row.high):.1f}"
            inside += element("path", {"class": f"{kind} {ink(row.ink)}", "d": line})
        if named:
            inside += mark(scale.position(row.value), middle, row.ink)
        yield linked(inside, row.link, row.note or _note(row), is_stop=named)


def _draw_band(rows: Sequence[ChartPoint], scale: Scale, height: float) -> list[str]:
    """The area of the intervals of all rows, and a line through their values."""
    in_a_pixel = ceil(1 / height)
    lows = []
    highs = []
    values = []
    for first in range(0, len(rows), in_a_pixel):
        part = rows[first : first + in_a_pixel]
        y = TOP + height * (first + len(part) / 2)
        values.append((scale.position(part[len(part) // 2].value), y))
        ends = [row.low for row in part if row.low is not None]
        if ends:
            lows.append((scale.position(min(ends)), y))
            highs.append((scale.position(max(row.high for row in part if row.high is not None)), y))
    return [path(lows + highs[::-1], "chart-band"), path(values, "chart-values")]


def _note(row: ChartPoint) -> str:
    text = f"{row.label}: {row.value:.4g}"
    if row.low is None or row.high is None:
        return text
    return f"{text}, {row.low:.4g} to {row.high:.4g}"


def ink(order: int) -> str:
    """The class of a color."""
    return "chart-ink-quiet" if order == QUIET else f"chart-ink-{order % INKS}"


def linked(inside: str, link: str, note: str, *, is_stop: bool) -> str:
    """Marks with a text on hover, as a link if there is one; `is_stop` lets the Tab key stop at it."""
    title = element("title", words=note)
    if not link:
        return element("g", {}, title + inside)
    attributes = {"href": link, "tabindex": "-1"}
    if is_stop:
        attributes = {"href": link, "aria-label": note}
    return element("a", attributes, title + inside)


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
