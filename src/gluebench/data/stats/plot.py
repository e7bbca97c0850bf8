"""Plots of data statistics; needs matplotlib, so import this module only to draw."""

import math
import os
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from gluebench.benchmark import Benchmark, Task
from gluebench.data.stats.describe import Labels, TaskStats
from gluebench.scoring.plots import write

# Okabe and Ito's colors, distinct with any color vision; shapes and labels show the same.
_PARTS = {"train": ("#0072B2", "o", -0.2), "dev": ("#E69F00", "^", 0.0), "test": ("#009E73", "s", 0.2)}
_SHADES = ("#56B4E9", "#E69F00", "#B8B8B8", "#009E73", "#CC79A7")
_RAMP = ("#F1F7FC", "#D6E6F4", "#ABCFE6", "#7CB3DA", "#5196C9")
_LINES = ("#0072B2", "#D55E00", "#009E73")
_ROW = 0.62
"""Height of a task, in inches."""
_AROUND = 2.1
"""Total height of titles, axis and legend, in inches."""


def draw(stats: Sequence[TaskStats], suite: Benchmark, path: str | os.PathLike[str]) -> None:
    """Write the figure to `path`, in the format of its suffix: .png, .svg, .pdf."""
    write(figure(stats, suite), path, pad_inches=0.15)


def figure(stats: Sequence[TaskStats], suite: Benchmark) -> Figure:
    """A row for each task that has data: its sizes, its label balance, its lengths."""
    tasks = [task for task in stats if any(task.splits.values())]
    drawn = Figure(
        figsize=(15, _AROUND + _ROW * max(len(tasks), 3)), layout=ConstrainedLayoutEngine(wspace=0.04)
    )
    sizes, labels, lengths = drawn.subplots(1, 3, sharey=True)
    drawn.suptitle(f"{suite.title or suite.name}: the examples on disk", fontsize=14)
    sizes.set_ylim(len(tasks) - 0.5, -0.5)  # the first task on top
    _draw_sizes(sizes, tasks)
    _draw_labels(labels, tasks, [suite.dataset(task.task) for task in tasks])
    _draw_lengths(lengths, tasks)
    sizes.set_yticks(range(len(tasks)), [task.task for task in tasks], fontsize=11)
    for axes in (sizes, labels, lengths):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    return drawn


def _role_of(split: str) -> str:
    """The part a split plays, by its name: "dev" for "dev_matched"; what else there is counts as training."""
    for part in _PARTS:
        if split == part or split.startswith(f"{part}_"):
            return part
    return "train"


def _draw_sizes(axes: Axes, tasks: Sequence[TaskStats]) -> None:
    counts = []
    for part, (color, marker, offset) in _PARTS.items():
        sizes = []
        heights = []
        for row, task in enumerate(tasks):
            for split in task.splits.values():
                if split is not None and split.examples and _role_of(split.split) == part:
                    sizes.append(split.examples)
                    heights.append(row + offset)
        if sizes:
            axes.scatter(sizes, heights, s=70, c=color, marker=marker, label=part, zorder=3)
        counts += sizes
    axes.set(xscale="log", title="Sizes", xlabel="examples (logarithmic)")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlim(
        10 ** math.floor(math.log10(min(counts)) - 0.05), 10 ** math.ceil(math.log10(max(counts)) + 0.05)
    )
    axes.grid(axis="both", color="#DDDDDD", linewidth=0.7)
    _legend(axes, len(tasks))


def _draw_labels(axes: Axes, tasks: Sequence[TaskStats], records: Sequence[Task]) -> None:
    for row, (stats, record) in enumerate(zip(tasks, records, strict=True)):
        labeled = next((split for split in stats.splits.values() if split and split.labels), None)
        if labeled is None or labeled.labels is None:
            axes.text(50, row, "labels hidden", ha="center", va="center", fontsize=9, color="#555555")
        else:
            _draw_balance(axes, row, labeled.labels, record)
            axes.text(101.5, row, labeled.split, va="center", fontsize=9)
    title = "Label balance (train, or the first split with labels)"
    axes.set(title=title, xlabel="% of the split", xlim=(0, 118))
    axes.set_xticks(range(0, 101, 20))


def _draw_balance(axes: Axes, row: int, labels: Labels, task: Task) -> None:
    left = 0.0
    shades = _SHADES if task.labels else _RAMP
    glosses = {label.word: f"{label.word} = {label.gloss}" for label in task.labels if len(label.word) < 3}
    for position, part in enumerate(labels.parts):
        width = 100 * part.share
        name = _fitting(glosses.get(part.name, part.name), width) or _fitting(part.name, width)
        axes.barh(row, width, left=left, height=0.66, color=shades[position % len(shades)], edgecolor="white")
        axes.text(left + width / 2, row, name, ha="center", va="center", fontsize=8)
        left += width


def _fitting(name: str, width: float) -> str:
    """The label on one or two lines if it fits into its bar; else empty."""
    letters = int(width / 1.6)
    if len(name) <= letters:
        return name
    cut = name.find("_") + 1 or name.find(" ") + 1
    if cut and max(cut, len(name) - cut) <= letters:
        return f"{name[:cut]}\n{name[cut:]}"
    return ""


def _draw_lengths(axes: Axes, tasks: Sequence[TaskStats]) -> None:
    for row, stats in enumerate(tasks):
        split = next(filter(None, stats.splits.values()))
        for position, (column, lengths) in enumerate(split.lengths.items()):
            height = row + 0.36 * (position - (len(split.lengths) - 1) / 2)
            color = _LINES[position % len(_LINES)]
            axes.plot([lengths.median, lengths.p95], [height, height], color=color, linewidth=1.8)
            axes.plot(lengths.median, height, "o", color=color)
            axes.plot(lengths.p95, height, "|", color=color, markersize=11, markeredgewidth=2)
            axes.annotate(
                column,
                (lengths.p95, height),
                (7, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=color,
            )
    axes.plot([], [], "o", color="#444444", label="median")
    axes.plot([], [], "|", color="#444444", markersize=11, markeredgewidth=2, label="95th percentile")
    axes.set(title="Lengths (train, or the first split)", xlabel="tokens in a text")
    axes.set_xlim(0, 1.18 * max(axes.get_xlim()[1], 10))
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    _legend(axes, len(tasks))


def _legend(axes: Axes, count: int) -> None:
    below = -0.6 / (_ROW * max(count, 3))  # 0.6 inches below, under the label of the axis
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, below), ncols=3, frameon=False, fontsize=9)
