"""The course of runs as a figure: scores, losses and learning rate over updates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.systems.training.log import read_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = list[dict[str, float]]


def draw_curves(runs: Mapping[str, Path], to: Path) -> None:
    """Draw the logs in these folders, by the name each is to have, into a PNG, PDF or SVG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 9), layout="constrained")
    FigureCanvasAgg(figure)
    above, middle, below = figure.subplots(3, 1, sharex=True)
    for number, (name, folder) in enumerate(runs.items()):
        rows = read_log(folder)
        style = ("-", "--", ":", "-.")[number % 4]
        _scores(above, rows, name, linestyle=style)
        _lines(middle, rows, " loss", linestyle=style, named=number == 0)
        below.plot([row["update"] for row in rows], [row["learning_rate"] for row in rows], style, color="C7")
    _label(above, "dev score × 100")
    _label(middle, "training loss")
    below.set(xlabel="update", ylabel="learning rate", yscale="log")
    figure.savefig(to)


def _scores(axes: Axes, rows: Rows, name: str, *, linestyle: str) -> None:
    updates = [row["update"] for row in rows]
    macro = [100 * row["macro"] for row in rows]
    axes.plot(updates, macro, color="black", linewidth=2, linestyle=linestyle, label=f"macro, {name}")
    best = max(range(len(rows)), key=lambda check: macro[check])
    axes.plot(updates[best], macro[best], "o", color="black")
    _lines(axes, rows, " score", linestyle=linestyle, named=linestyle == "-", factor=100.0)


def _lines(axes: Axes, rows: Rows, ending: str, *, linestyle: str, named: bool, factor: float = 1.0) -> None:
    """One line for each task, the same colour in every panel."""
    tasks = [name.removesuffix(" score") for name in rows[0] if name.endswith(" score")]
    for number, task in enumerate(tasks):
        points = [(row["update"], factor * row[task + ending]) for row in rows if task + ending in row]
        label: dict[str, Any] = {"label": task} if named else {}
        if points:
            axes.plot(
                *zip(*points, strict=True), color=f"C{number}", linewidth=1, linestyle=linestyle, **label
            )


def _label(axes: Axes, title: str) -> None:
    axes.set_ylabel(title)
    axes.legend(fontsize="x-small", ncols=3)
