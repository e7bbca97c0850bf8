"""Intervals in closed form, and when an interval would be a pretence."""

from __future__ import annotations

from typing import NamedTuple

Z = 1.959963984540054
"""97.5 % point of the normal distribution: every interval is of 95 %, two-sided."""

TOO_FEW = "too few to say"
UNDEFINED = "not defined"


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


def wilson(hits: int, n: int) -> Interval:
    """Wilson's score interval for a proportion of n independent examples, n at least 1."""
    share = hits / n
    middle = share + Z * Z / (2 * n)
    margin = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5
    scale = 1 + Z * Z / n
    low, high = (middle - margin) / scale, (middle + margin) / scale
    return Interval(0.0 if hits == 0 else max(0.0, low), 1.0 if hits == n else min(1.0, high))
