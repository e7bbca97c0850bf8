"""Charts as SVG text: classes for all that is coloured, no inline style, no script, nothing from elsewhere.

A function gives an `<svg>` element to stand in a page, whose style sheet takes in `STYLE`; `as_file` makes
it a file of its own. A chart never stands alone: give its numbers as a table too.
"""

from gluebench.analysis.charts.axes import Scale
from gluebench.analysis.charts.plots import (
    Bar,
    HeatCell,
    HeatRow,
    Point,
    bar_chart,
    heat_chart,
    scatter_chart,
)
from gluebench.analysis.charts.svg import STYLE, as_file

__all__ = [
    "STYLE",
    "Bar",
    "HeatCell",
    "HeatRow",
    "Point",
    "Scale",
    "as_file",
    "bar_chart",
    "heat_chart",
    "scatter_chart",
]
