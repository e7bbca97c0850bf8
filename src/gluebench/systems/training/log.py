"""The course of a run: a CSV file, TensorBoard if installed, lines, a live line, and a figure."""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from gluebench.benchmark.atomic import write_text
from gluebench.systems.training.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG = "log.csv"
TIMES = "times.csv"
TENSORBOARD = "tensorboard"
Row = Mapping[str, Any]
Say = Callable[[str], None]
OFTEN = 0.5
"""Seconds between two changes of the live line."""


class Log:
    """Writes the course of a run into its folder.

    `log.csv` holds what two runs of the same settings share; what is the clock's is in `times.csv`.
    """

    def __init__(self, folder: Path, *, tensorboard: bool) -> None:
        self._folder = folder
        self._wanted = tensorboard and find_spec("tensorboard") is not None
        self._board: Any = None

    def check(self, rows: Sequence[Row], times: Sequence[Row]) -> None:
        """Take the checks so far, the newest last."""
        write_text(self._folder / LOG, _csv(rows))
        write_text(self._folder / TIMES, _csv(times))
        if self._wanted:
            self._to_board(rows[-1])

    def close(self) -> None:
        """End the TensorBoard file."""
        if self._board is not None:
            self._board.close()

    def _to_board(self, row: Row) -> None:
        if self._board is None:
            from torch.utils.tensorboard import SummaryWriter

            # What an earlier, killed process wrote of later checks is passed over.
            self._board = SummaryWriter(str(self._folder / TENSORBOARD), purge_step=row["update"])
        for name, value in row.items():
            if name not in {"check", "update"} and value is not None:
                task, _, what = name.rpartition(" ")
                self._board.add_scalar(f"{what}/{task}" if task else what, value, row["update"])
        self._board.flush()


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_log(folder: Path) -> list[dict[str, float]]:
    """The checks of a run, as `log.csv` has them; an empty cell (the loss of no update) is left out."""
    with (folder / LOG).open(encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


class Pace:
    """How fast a run is, and how long it may still take."""

    def __init__(self, update: int, between: int, settings: Settings) -> None:
        self._first = update
        self._between = between
        self._all = between * settings.max_checks
        self._began = time.monotonic()

    def rate(self, update: int) -> float:
        """Updates in a second since this process began, checks among them."""
        return (update - self._first) / max(1e-9, time.monotonic() - self._began)

    def text(self, update: int) -> str:
        """The rate, and the time to the last check it may have."""
        rate = self.rate(update)
        left = duration((self._all - update) / rate) if rate else "unknown time"
        return f"{rate:.1f} updates/s, at most {left} left"

    def live(self, update: int) -> str:
        """The place between two checks."""
        done = update % self._between
        return (
            f"check {update // self._between + 1}: {done:,} of {self._between:,} updates, {self.text(update)}"
        )


def duration(seconds: float) -> str:
    """Seconds as they are read: "40 s", "12 min", "3.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def line(row: Row, tasks: Sequence[str], settings: Settings, *, pace: str) -> str:
    """One check as a line to read, scores times 100."""
    scores = ", ".join(f"{name} {100 * row[f'{name} score']:.1f}" for name in tasks)
    best = " (best)" if row["improved"] else ""
    alone = "" if len(tasks) == 1 else f"macro {100 * row['macro']:.1f}{best}: "
    after = best if len(tasks) == 1 else ""
    return (
        f"check {row['check']} of at most {settings.max_checks}, update {row['update']:,}: "
        f"{alone}{scores}{after}; learning rate {row['learning_rate']:.3g}; {pace}"
    )


class Live:
    """One line on a terminal that is written over; on anything else nothing at all."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._width = 0
        self._last = 0.0

    def show(self, text: Callable[[], str]) -> None:
        """Show the line, if the last one is not of just now."""
        if not self._shown or time.monotonic() - self._last < OFTEN:
            return
        self._last = time.monotonic()
        words = text()
        self._write(words.ljust(self._width))
        self._width = len(words)

    def clear(self) -> None:
        """Make room for other lines."""
        if self._shown and self._width:
            self._write(" " * self._width + "\r")
            self._width = 0

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text}")
        self._stream.flush()


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
