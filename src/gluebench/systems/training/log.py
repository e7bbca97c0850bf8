"""Logs of a run: a CSV file, trackers of experiments, lines, a progress bar, and a figure."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark.atomic import write_text
from gluebench.benchmark.tables import to_csv
from gluebench.scoring.plots import write
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trackers import Trackers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG = "log.csv"
TIMES = "times.csv"
Row = Mapping[str, Any]


class Log:
    """Log of a run, written into its folder.

    `log.csv` is the same for two runs of the same settings; times are in `times.csv`.
    """

    def __init__(self, folder: Path, trackers: Trackers) -> None:
        self._folder = folder
        self._trackers = trackers

    def check(self, rows: Sequence[Row], times: Sequence[Row]) -> None:
        """Write the checks so far, the newest last."""
        for name, table in ((LOG, rows), (TIMES, times)):
            write_text(self._folder / name, to_csv(list(table[0]), table))
        self._trackers.log(rows[-1])

    def close(self) -> None:
        """End the trackers."""
        self._trackers.close()


def read_log(folder: Path) -> list[dict[str, float]]:
    """Read the checks of a run from `log.csv`; empty cells (the loss of no update) are left out."""
    with (folder / LOG).open(encoding="utf-8", newline="") as file:
        rows = []
        for row in csv.DictReader(file):
            rows.append({name: float(value) for name, value in row.items() if value})
        return rows


class Pace:
    """Speed of a run and estimate of its remaining time, also as a bar in a terminal if it is `shown`."""

    def __init__(self, update: int, last: int, *, shown: bool) -> None:
        from tqdm import tqdm

        self._first = update
        self._last = last
        self._began = time.monotonic()
        off = None if shown else True  # None: unless standard error is a terminal
        self.bar = tqdm(total=last, initial=update, unit=" updates", leave=False, disable=off)

    def text(self, update: int) -> str:
        """Format the updates per second or minute of this process, and the time to the last check."""
        rate = (update - self._first) / max(1e-9, time.monotonic() - self._began)
        left = self.bar.format_interval((self._last - update) / rate) if rate else "unknown time"
        speed = f"{rate:.1f} updates/s"
        if rate < 1:
            speed = f"{60 * rate:.1f} updates a minute"
        return f"{speed}, at most {left} left"


def check_line(row: Row, tasks: Sequence[str], settings: Settings, *, pace: str) -> str:
    """Format one check as a line, scores times 100."""
    scores = ", ".join(f"{name} {100 * row[f'{name} score']:.1f}" for name in tasks)
    best = " (best)" if row["improved"] else ""
    if math.isnan(row["macro"]):
        marked = "no dev examples"
    elif len(tasks) == 1:
        marked = f"{scores}{best}"
    else:
        marked = f"macro {100 * row['macro']:.1f}{best}: {scores}"
    updates = sum(row[f"{name} updates"] for name in tasks)
    loss = sum(row[f"{name} loss"] * row[f"{name} updates"] for name in tasks if row[f"{name} updates"])
    return (
        f"check {row['check']} of at most {settings.max_checks}, update {row['update']:,}: "
        f"{marked}; loss {loss / updates:.3f}; learning rate {row['learning_rate']:.3g}; {pace}"
    )


def draw_curves(runs: Mapping[str, Path], to: Path) -> None:
    """Draw the logs in these folders, labeled by their keys, into a PNG, PDF or SVG file.

    The same logs give the same file.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 9), layout="constrained")
    scores, losses, rates = figure.subplots(3, 1, sharex=True)
    for number, (name, folder) in enumerate(runs.items()):
        rows = read_log(folder)
        style = ("-", "--", ":", "-.")[number % 4]
        updates = [row["update"] for row in rows]
        macro = [100 * row["macro"] for row in rows]
        scores.plot(updates, macro, style, color="black", linewidth=2, label=f"macro, {name}")
        best = macro.index(max(macro))
        scores.plot(updates[best], macro[best], "o", color="black")
        _plot_lines(scores, rows, " score", style, named=style == "-", factor=100.0)
        _plot_lines(losses, rows, " loss", style, named=number == 0)
        rates.plot(updates, [row["learning_rate"] for row in rows], style, color="C7")
    for axes, title in ((scores, "dev score × 100"), (losses, "training loss")):
        axes.set_ylabel(title)
        axes.legend(fontsize="x-small", ncols=3)
    rates.set(xlabel="update", ylabel="learning rate", yscale="log")
    write(figure, to)


def _plot_lines(
    axes: Axes, rows: list[dict[str, float]], ending: str, style: str, *, named: bool, factor: float = 1.0
) -> None:
    """Plot one line for each task, in the same color in every panel."""
    tasks = [name.removesuffix(" score") for name in rows[0] if name.endswith(" score")]
    for number, task in enumerate(tasks):
        points = [(row["update"], factor * row[task + ending]) for row in rows if task + ending in row]
        label = task if named else None
        if points:
            axes.plot(*zip(*points, strict=True), style, color=f"C{number}", linewidth=1, label=label)
