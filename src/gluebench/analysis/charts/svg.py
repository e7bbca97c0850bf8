"""SVG elements as text, and marks with a shape for each color, so that no reader needs the color."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape
from importlib import resources

STYLE = resources.files("gluebench.analysis.charts").joinpath("static", "chart.css").read_text("utf-8")
"""The classes that charts use, light and dark: a part of a page's style sheet."""
LETTER = 6.6
"""Width of a letter at the size charts are set in, rather too wide than too narrow."""
_NAMESPACE = "http://www.w3.org/2000/svg"
INKS = 4
"""Colours, each with a shape of its own; further series begin again."""
_SHAPES = (
    "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # disc
    "M{x} {y}m-4 -4h8v8h-8z",  # square
    "M{x} {y}m0 -5l5 9h-10z",  # triangle
    "M{x} {y}m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",  # diamond
)


def picture(title: str, about: str, *, width: float, height: float, parts: Iterable[str]) -> str:
    """An `<svg>` for a page, named by its title and described by a sentence."""
    inside = "\n".join([element("title", words=title), element("desc", words=about), *parts])
    size: dict[str, str | float] = {
        "width": width,
        "height": height,
        "viewBox": f"0 0 {number(width)} {number(height)}",
    }
    return element("svg", {"xmlns": _NAMESPACE, "class": "chart", "role": "img", **size}, f"\n{inside}\n")


def as_file(svg: str) -> str:
    """A chart as an SVG file of its own, with its style sheet and a ground to stand on."""
    head, _, rest = svg.partition("</desc>")
    ground = element("rect", {"class": "chart-paper", "width": "100%", "height": "100%"})
    return f"{head}</desc>\n<style>\n{STYLE}</style>\n{ground}{rest}\n"


def element(
    name: str, attributes: dict[str, str | float] | None = None, inside: str = "", *, words: str = ""
) -> str:
    """One element; `inside` is markup and `words` is text. Attributes that are empty are left out."""
    given = "".join(
        f' {key}="{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in (attributes or {}).items()
        if value != ""
    )
    content = inside + escape(words, quote=False)
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def label(x: float, y: float, words: str, *, anchor: str = "", kind: str = "", turn: float = 0) -> str:
    """Words at a place, their base line on `y`; `anchor` is start (the default), middle or end."""
    turned = f"rotate({number(turn)} {number(x)} {number(y)})" if turn else ""
    return element(
        "text", {"x": x, "y": y, "class": kind, "text-anchor": anchor, "transform": turned}, words=words
    )


def path(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    where = " L".join(f"{number(x)} {number(y)}" for x, y in points)
    return element("path", {"class": kind, "d": f"M{where}"})


def number(value: float) -> str:
    """A length with at most two decimals: the same text wherever it is computed."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def width_of(words: str) -> float:
    """About how wide words are; East Asian letters are twice as wide as others."""
    return LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words)


def mark(x: float, y: float, order: int, note: str = "") -> str:
    """A mark at a place, of the shape and colour that stand at `order`."""
    shape = _SHAPES[order % INKS].format(x=number(x), y=number(y))
    title = element("title", words=note) if note else ""
    return element("path", {"class": f"chart-mark chart-ink-{order % INKS}", "d": shape}, title)
