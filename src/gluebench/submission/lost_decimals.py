"""Numbers whose decimal points an export removed: 3.41 became 341, and 3.412 became 3412."""

from __future__ import annotations

from gluebench.submission.column import Column
from gluebench.submission.problems import Problem

_PERCENT = 100
"""Whole numbers up to this size are a legal scale."""
_LARGEST = 1e20
"""No format writes a score with more digits than this; larger numbers have another cause."""


def lost_decimals(
    name: str, data: bytes, column: Column, score_range: tuple[float, float] | None
) -> Problem | None:
    """The error of a file most of whose numbers are whole and more than ten times outside the range.

    A fraction outside the range shows that the points are there: then the file has another scale, and that is
    legal. `data` are the bytes that `column` was read from, header included.
    """
    if score_range is None:
        return None
    low, high = score_range
    if not all(number.is_integer() or low <= number <= high for number in column.numbers):
        return None
    limit = max(10 * abs(low), 10 * abs(high), _PERCENT)
    indices = [index for index, number in enumerate(column.numbers) if limit < abs(number) < _LARGEST]
    if 2 * len(indices) <= len(column):
        return None
    start = data.index(b"\n%d\t" % indices[0]) + 1
    value = data[start : data.index(b"\n", start)].split(b"\t")[1].decode()[:60]
    expected = (
        f"expected scores from {low:g} to {high:g}, and {len(indices):,} of {len(column):,} are whole "
        f"numbers beyond {limit:g}, as if their decimal points were lost"
    )
    fix = (
        "Write each number with its decimal point (3.412, not 3412); a spreadsheet or an export whose locale "
        "has decimal commas removes it. If you mean this scale, divide: a correlation stays the same."
    )
    line = data.count(b"\n", 0, start) + 1
    return Problem("lost-decimals", "error", name, expected, fix, line, indices[0], value)
