"""Plots of results with matplotlib: points with their intervals, and heat maps. Install gluebench[plot].

Colors are those of Okabe and Ito, distinct with any color vision; shape, filling and words repeat what they
show. The same figures give the same file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gluebench.benchmark import figures
from gluebench.benchmark.extras import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDINGS = (".png", ".svg", ".pdf")
BLUE = "#0072B2"
BLACK = "#000000"
GRAY = "#666666"
GRID = "#DDDDDD"
SHADES = ("#F1F7FC", "#C6DDEF", "#8FBFE0", "#4F93C4", "#1B5E92")
"""From the lowest to the highest of a row."""
LIGHT_FROM = 4
"""The shade from which on text is light."""
ROW = 0.3
"""Height of a row, in inches."""
LONGEST = 42
"""Letters of a name; of a longer one the end is shown, which is where paths differ."""


class Row(NamedTuple):
    """One line of a forest plot."""

    label: str
    value: float | None
    """Where the mark stands, in the units of the axis; None for no mark."""
    low: float | None = None
    high: float | None = None
    """Ends of the whisker; None for none."""
    note: str = ""
    """What stands to the right of the axis."""
    filled: bool = True
    """Whether the mark is filled."""
    whole: bool = False
    """Whether it sums up the others: then it is a black diamond."""

    @classmethod
    def of(
        cls,
        label: str,
        fractions: Sequence[float | None],
        note: str,
        *,
        filled: bool = True,
        whole: bool = False,
        factor: float = 100,
    ) -> Row:
        """A row of a value and the ends of its interval, given as fractions and drawn times `factor`."""
        scaled = [None if fraction is None else factor * fraction for fraction in fractions]
        value, low, high = scaled
        return cls(label, value, low, high, note, filled, whole)


class HasLoss(Protocol):
    """A score."""

    @property
    def loss(self) -> bool | None:
        """Whether it is a negated loss."""


class Plottable(Protocol):
    """A result that can be drawn."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it."""


def forest(
    sections: Sequence[Sequence[Row]], *, title: str, axis: str, zero: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw a point with its interval for each row, the first on top, with a line between sections.

    `axis` names the axis and its unit; `zero` marks 0. Returns the Axes, whose lines have the rows' labels.
    Raises ImportError without matplotlib.
    """
    rows = [row for section in sections for row in section]
    ax = _axes(len(rows), ax)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    if zero:
        ax.axvline(0, color=GRAY, linewidth=1, linestyle="--", zorder=1)
    for place, row in enumerate(rows):
        _draw_row(ax, place, row)
    for between in _ends(sections):
        ax.axhline(between, color=GRAY, linewidth=0.6, label="_section")
    _name_rows(ax, [short_name(row.label) for row in rows])
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel(axis)
    ax.set_title(fill(title, 80), loc="left", fontsize="medium", parse_math=False)
    return ax


def _name_rows(ax: Axes, labels: Sequence[str]) -> None:
    ax.set_yticks(range(len(labels)), labels, parse_math=False)
    ax.tick_params(axis="y", length=0)


def forest_of_scores(
    average: HasLoss | None,
    tasks: Mapping[str, HasLoss],
    sets: Mapping[str, HasLoss],
    row: Callable[..., Row],
    *,
    loss: bool,
    title: str,
    over: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw an average, the tasks in order and diagnostic sets; those in another unit are left out.

    `row` makes a Row of a name and its score; `over` says what the intervals are over.
    """
    in_other_unit = [name for name, score in {**tasks, **sets}.items() if bool(score.loss) != loss]
    average_rows = [row("macro-average", average, whole=True)] if average else []
    task_rows = [row(name, score) for name, score in tasks.items() if name not in in_other_unit]
    set_rows = [row(name, score) for name, score in sets.items() if name not in in_other_unit]
    best_is_smallest = 1 if loss else -1
    task_rows.sort(key=lambda row: (row.value or 0.0) * best_is_smallest)
    heading = f"{figures.axis(loss)} with 95 % interval{over}"
    title += figures.without(in_other_unit)
    return forest([average_rows, task_rows, set_rows], title=title, axis=heading, ax=ax)


def _draw_row(ax: Axes, place: int, row: Row) -> None:
    color = BLUE
    size = 6
    if row.whole:
        color = BLACK
        size = 7
    face = color if row.filled else "white"
    if row.low is not None and row.high is not None:
        [line] = ax.plot([row.low, row.high], [place, place], color=color, label=f"{row.label} interval")
        line.set(linewidth=1.6, marker="|", markersize=7, zorder=2)
    if row.value is not None:
        [mark] = ax.plot([row.value], [place], "D" if row.whole else "o", color=color, label=row.label)
        mark.set(markersize=size, markerfacecolor=face, zorder=3)
    if row.note:
        beside = ax.get_yaxis_transform()  # x counts the width of the axes, y the rows
        ax.text(1.02, place, row.note, transform=beside, va="center", fontsize="small", parse_math=False)


def _ends(sections: Sequence[Sequence[Row]]) -> list[float]:
    """Between which rows one section ends and another begins."""
    ends = []
    rows = 0
    for section in sections:
        if section and rows:
            ends.append(rows - 0.5)
        rows += len(section)
    return ends


def bars(counts: Mapping[str, int], *, title: str, axis: str, ax: Axes | None = None) -> Axes:
    """Draw the share of each of these counts in percent, with the count beside it. Returns the Axes."""
    ax = _axes(len(counts), ax)
    total = sum(counts.values()) or 1
    shares = [100 * count / total for count in counts.values()]
    ax.barh(range(len(counts)), shares, height=0.7, color=BLUE)
    for place, (share, count) in enumerate(zip(shares, counts.values(), strict=True)):
        ax.annotate(f"{count:,}", (share, place), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(counts)), [short_name(name) for name in counts], parse_math=False)
    longest = max(shares + [1.0])
    ax.set(ylim=(len(counts) - 0.4, -0.6), xlim=(0, 1.12 * longest), xlabel=axis)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title, loc="left", fontsize="medium", parse_math=False)
    return ax


class HeatCell(NamedTuple):
    """What one cell shows."""

    text: str
    level: int | None = None
    """The shade, 0 to 4; None for none."""
    note: str = ""
    """The text that a pointer over the cell shows."""


class HeatRow(NamedTuple):
    """One line of cells."""

    label: str
    cells: tuple[HeatCell, ...]
    heading: bool = False
    """Whether it stands above the rows that follow, which are then set in."""


def heat(
    columns: Sequence[str], rows: Sequence[HeatRow], *, title: str, notes: str, ax: Axes | None = None
) -> Axes:
    """Draw shaded cells with their text, the first row on top; `notes` stand below.

    Returns the Axes. Raises ImportError without matplotlib.
    """
    widest = 0
    for row in rows:
        for cell in row.cells:
            widest = max(widest, len(cell.text))
    ax = _axes(len(rows), ax, width=4 + len(columns) * max(0.7, 0.09 * widest))
    for y, row in enumerate(rows):
        for x, cell in enumerate(row.cells):
            _draw_cell(ax, x, y, cell, heading=row.heading)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    _name_rows(ax, [row.label for row in rows])
    names = [short_name(name) for name in columns]
    ax.set_xticks(range(len(columns)), names, rotation=30, ha="left", parse_math=False)
    ax.tick_params(axis="x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set_title(fill(title, 80), loc="left", fontsize="medium", parse_math=False, pad=12)
    ax.set_xlabel(fill(notes, 90), loc="left", fontsize="small", color=GRAY)
    for row, label in zip(rows, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if row.heading else "normal")
    return ax


def _draw_cell(ax: Axes, x: int, y: int, cell: HeatCell, *, heading: bool) -> None:
    color = "white"
    text_color = "black"
    if cell.level is not None:
        color = SHADES[cell.level]
        if cell.level >= LIGHT_FROM:
            text_color = "white"
    ax.bar(x, 1, 1, y - 0.5, color=color, edgecolor="white", linewidth=1)
    text = ax.text(x, y, cell.text, ha="center", va="center", parse_math=False)
    text.set(color=text_color, fontsize="small", fontweight="bold" if heading else "normal")


def short_name(name: str) -> str:
    """The end of a long name."""
    if len(name) <= LONGEST:
        return name
    return f"…{name[1 - LONGEST :]}"


def _axes(rows: int, ax: Axes | None, *, width: float = 7.5) -> Axes:
    """The axes given, or those of a new figure that is high enough."""
    if ax is None:
        _, ax = _matplotlib("matplotlib.pyplot").subplots(
            figsize=(width, 1.4 + ROW * max(rows, 2)), layout="constrained"
        )
    assert ax is not None
    return ax


def _matplotlib(module: str) -> Any:
    return optional(module, "Drawing", '"gluebench[plot]"')


def save(result: Plottable, path: str | os.PathLike[str]) -> None:
    """Draw a result into a file, as `write` does. Raises ImportError without matplotlib."""
    pyplot = _matplotlib("matplotlib.pyplot")
    with pyplot.ioff():
        figure = result.plot().figure
        try:
            write(figure, path)
        finally:
            pyplot.close(figure)


def write(figure: Any, path: str | os.PathLike[str], **margins: float) -> None:
    """Write a figure to a file, whose ending names the format: .png, .svg or .pdf.

    The same figures give the same bytes. Raises ValueError for another ending.
    """
    ending = Path(path).suffix.casefold()
    if ending not in ENDINGS:
        raise ValueError(f"{os.fspath(path)} ends in {ending!r}; expected one of {', '.join(ENDINGS)}")
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[ending]
    with _matplotlib("matplotlib").rc_context({"svg.hashsalt": "gluebench"}):
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata=undated, **margins)
