"""Error bars as records, without numpy."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


class Bar(NamedTuple):
    """The ends of an interval, or why there is none."""

    low: float | None
    high: float | None
    withheld: str | None = None


NO_BAR = Bar(None, None)
"""No interval was asked for."""
