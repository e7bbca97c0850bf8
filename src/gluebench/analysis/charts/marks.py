"""Marks for points: a shape for each colour, so that no reader needs the colour."""

from __future__ import annotations

from gluebench.analysis.charts.svg import element, number

INKS = 4
"""Colours, each with a shape of its own; further series begin again."""
_SHAPES = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # disc
    "M{x} {y}m-4 -4h8v8h-8z",  # square
    "M{x} {y}m0 -5l5 9h-10z",  # triangle
    "M{x} {y}m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",  # diamond
)


def mark(x: float, y: float, order: int, note: str = "") -> str:
    """A mark at a place, of the shape and colour that stand at `order`."""
    shape = _SHAPES[order % INKS].format(x=number(x), y=number(y))
    told = element("title", words=note) if note else ""
    return element("path", {"class": f"chart-mark chart-ink-{order % INKS}", "d": shape}, told)
