"""How scores and intervals are written for readers: times 100 with one decimal, as in the paper's tables."""

from __future__ import annotations


def percent(value: float | None) -> str:
    """A fraction as a percentage with one decimal; "-" for None."""
    return "-" if value is None else f"{round(100 * value, 1) + 0.0:.1f}"  # 0.0 for -0.0


def interval(low: float | None, high: float | None) -> str:
    """The interval with a space before it, to append to its value; empty if an end is None."""
    return "" if low is None or high is None else f" [{percent(low)}, {percent(high)}]"
