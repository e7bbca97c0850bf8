"""The columns of a difference in the tables of a comparison."""

from gluebench.analysis.compare.scores import Difference
from gluebench.benchmark.figures import between, percent, points
from gluebench.benchmark.tables import Column, numeric


def _show_a(difference: Difference | None) -> str:
    if difference is None:
        return "-"
    return percent(difference.a, difference.loss)


def _show_b(difference: Difference | None) -> str:
    if difference is None:
        return "-"
    return percent(difference.b, difference.loss)


def _show_difference(difference: Difference | None) -> str:
    """A minus B with its interval, or why that is withheld."""
    if difference is None:
        return "-"
    loss = difference.loss
    cell = f"{points(difference.difference, loss):>5}{between(difference.low, difference.high, loss)}"
    if difference.withheld:
        cell += f" ({difference.withheld})"
    elif difference.same:
        cell += " (same answers)"
    return cell


DIFFERENCE_COLUMNS = [
    numeric("A", _show_a),
    numeric("B", _show_b),
    Column("A - B [95 % interval]", show=_show_difference),
]
"""Three columns that show the same Difference; "-" for None."""
