"""Systems beside each other in each phenomenon, with shades that mean nothing across phenomena.

The GLUE paper warns against comparing a system's categories with each other (section 4): they differ in their
examples. So each line of the map has a scale of its own, which spans at least an interval's width: where
the systems are closer than that, shades stay close too, and noise is not made to look like a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.analysis.charts import heat_chart
from gluebench.benchmark import Task
from gluebench.benchmark.figures import ends, percent
from gluebench.scoring import DiagnosticReport, Score
from gluebench.scoring.intervals import TOO_FEW
from gluebench.scoring.plots import HeatCell, HeatRow, heat
from gluebench.scoring.report import diagnostic_of, rounded, score_words
from gluebench.scoring.tags import OVERALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIELDS = ("kind", "category", "n", "system", "value", "low", "high", "withheld", "level")
LEVELS = 5
"""Shades, from the lowest (0) to the highest of a line."""
MOST_WITH_INTERVALS = 3
"""Systems side by side that leave room for intervals."""
ROWS_APART = (
    "Each row has shades of its own: darker is higher among these systems. Never compare two rows: they "
    "differ in their examples."
)
"""The note below a heat map."""
ABOUT = (
    "Each row is one category, with a scale of shades of its own: darker is higher among these systems (on a "
    "dark ground, lighter). Never compare two rows. Where systems are closer than an interval is wide, their "
    "shades are close too. No shade: too few examples to say, or no other system to compare with."
)


class CategoryRow(NamedTuple):
    """One category across all systems."""

    kind: str
    """"overall", "coarse" or "fine"."""
    name: str
    """Empty for the whole set."""
    n: int
    scores: tuple[Score, ...]
    """In the order of the systems."""
    levels: tuple[int | None, ...]
    """The shade of each, 0 to LEVELS - 1 within the line; None for no shade: no value, a category too small
    to say, or no other system to compare with."""


class HeatMap(NamedTuple):
    """What a heat map shows, for a table as well as for a picture."""

    metric: str
    systems: tuple[str, ...]
    lines: tuple[CategoryRow, ...]
    """The whole set, then each coarse category followed by its fine ones."""

    def records(self) -> Iterator[tuple[object, ...]]:
        """One row of FIELDS for each cell, numbers as fractions: the map as CSV."""
        for line in self.lines:
            for system, score, level in zip(self.systems, line.scores, line.levels, strict=True):
                cell = (rounded(score.value), rounded(score.low), rounded(score.high))
                yield (line.kind, line.name, line.n, system, *cell, score.withheld, level)


def heatmap(task: Task, reports: Mapping[str, DiagnosticReport]) -> HeatMap:
    """The heat map of some systems (by the names to show) on one diagnostic set.

    Categories that no report has are left out; all reports must be of the same gold.
    """
    of_systems = []
    for report in reports.values():
        of_systems.append({(kind, name): score for kind, name, score in report.parts()})
    categories = [(OVERALL, "")]
    for coarse in task.coarse():
        categories.append(("coarse", coarse))
        categories += [("fine", fine.name) for fine in task.phenomena if fine.coarse == coarse]
    lines = []
    for category in categories:
        known = [scores[category] for scores in of_systems if category in scores]
        if known:
            n = known[0].n
            missing = Score(None, None, None, n)
            scores_of_line = tuple(scores.get(category, missing) for scores in of_systems)
            lines.append(CategoryRow(*category, n, scores_of_line, tuple(levels(scores_of_line))))
    return HeatMap(task.metrics[0].title, tuple(reports), tuple(lines))


def stored_heatmap(task: Task, reports: Mapping[str, Mapping[str, Any]]) -> HeatMap:
    """The same from the JSON of reports, each its part on this set."""
    return heatmap(task, {name: diagnostic_of(values) for name, values in reports.items()})


def levels(scores: Sequence[Score]) -> list[int | None]:
    """The shade of each score among those of the same category.

    The scale is as wide as the scores are apart, or as the median of their intervals where that is wider,
    and lies about the middle of the scores. A score that is too few to say has no shade and does not
    widen the scale.
    """
    shown = [score for score in scores if score.withheld != TOO_FEW]
    values = [score.value for score in shown if score.value is not None]
    if len(values) < 2:
        return [None] * len(scores)
    widths = [score.high - score.low for score in scores if score.low is not None and score.high is not None]
    lowest = min(values)
    highest = max(values)
    span = highest - lowest
    if widths:
        span = max(span, median(widths))
    start = (lowest + highest - span) / 2
    shades: list[int | None] = []
    for score in scores:
        if score.value is None or score.withheld == TOO_FEW:
            shades.append(None)
        elif span == 0.0:
            shades.append(LEVELS // 2)
        else:
            shades.append(min(int((score.value - start) / span * LEVELS), LEVELS - 1))
    return shades


def heat_picture(task: Task, cells: HeatMap) -> str:
    """An `<svg>` of systems across and phenomena down, shaded within each phenomenon only."""
    title = f"{task.title}, by phenomenon: {cells.metric} x 100"
    return heat_chart(title, ABOUT, cells.systems, _picture_rows(cells))


def heat_plot(task: Task, reports: Mapping[str, DiagnosticReport], ax: Axes | None = None) -> Axes:
    """The same drawn with matplotlib, with intervals where there is room. Raises ImportError without it."""
    shown = heatmap(task, reports)
    rows = _picture_rows(shown, with_intervals=len(shown.systems) <= MOST_WITH_INTERVALS)
    title = f"{task.title}: {shown.metric} x 100, by phenomenon (examples)"
    return heat(shown.systems, rows, title=title, notes=ROWS_APART, ax=ax)


def _picture_rows(cells: HeatMap, *, with_intervals: bool = False) -> list[HeatRow]:
    rows = []
    for line in cells.lines:
        shown: list[HeatCell] = []
        for score, level, system in zip(line.scores, line.levels, cells.systems, strict=True):
            place = f"{system}, {line.name or 'all'}"
            if score.value is None:
                shown.append(HeatCell("-", None, f"{place}: {score.withheld or 'no score'}"))
                continue
            note = f"{place}: {score_words(score)}"
            if score.withheld:
                note += f" ({score.withheld})"
            shown.append(HeatCell(cell_words(score, with_interval=with_intervals), level, note))
        rows.append(HeatRow(f"{line.name or 'All'} ({line.n})", tuple(shown), line.kind != "fine"))
    return rows


def cell_words(score: Score, *, with_interval: bool) -> str:
    """A score as a cell shows it: "84.8", or with its interval, or why there is none."""
    if not with_interval:
        return percent(score.value)
    return f"{percent(score.value)} {ends(score.low, score.high, score.withheld)}".rstrip()
