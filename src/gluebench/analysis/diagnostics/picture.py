"""The heat map of a diagnostic set as SVG."""

from __future__ import annotations

from gluebench.analysis.charts import HeatCell, HeatRow, heat_chart
from gluebench.analysis.diagnostics.diagnosis import SetDiagnosis
from gluebench.analysis.diagnostics.heatmap import Cell, HeatMap, Line, heatmap

ABOUT = (
    "Each row is one category, with a scale of shades of its own: darker is higher among these systems (on a "
    "dark ground, lighter). Never compare two rows. Where systems are closer than an interval is wide, their "
    "shades are close too. No shade: too few examples to say, or no other system to compare with."
)


def heat_picture(found: SetDiagnosis) -> str:
    """An `<svg>` of systems across and phenomena down, shaded within each phenomenon only."""
    return map_picture(heatmap(found.task, found.reports), title=f"{found.task.title}, by phenomenon")


def map_picture(cells: HeatMap, *, title: str) -> str:
    """The same of a map that was made elsewhere."""
    rows = [
        HeatRow(_label(line), tuple(map(_cell, line.cells, cells.systems, [line] * len(cells.systems))),
                line.kind != "fine")
        for line in cells.lines
    ]  # fmt: skip
    return heat_chart(f"{title}: {cells.metric} x 100", ABOUT, cells.systems, rows)


def _label(line: Line) -> str:
    return f"{line.name or 'All'} ({line.n})"


def _cell(cell: Cell, system: str, line: Line) -> HeatCell:
    score = cell.score
    if score.value is None:
        return HeatCell("-", None, f"{system}, {line.name or 'all'}: {score.withheld or 'no score'}")
    note = f"{system}, {line.name or 'all'}: {_percent(score.value)}"
    if score.low is not None and score.high is not None:
        note += f" [{_percent(score.low)}, {_percent(score.high)}]"
    return HeatCell(_percent(score.value), cell.level, note + (f" ({score.withheld})" * bool(score.withheld)))


def _percent(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:.1f}"
