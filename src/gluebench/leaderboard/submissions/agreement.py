"""How far two submissions agree, row by row. Runs in the grader's limited process; opens no label."""

from __future__ import annotations

from math import isclose
from typing import Any

from gluebench.submission import Submission

LEAST = 0.95
"""Share of equal predictions from which two agree; of a smaller one, nobody learns it."""
TOLERANCE = 0.01
"""Numbers agree that differ by at most this, or by this share of the larger one."""
STEP = 10
"""Fewest rows by which a stated share changes, so that it tells nothing of a single row."""


def agreement(first: Submission, second: Submission) -> dict[str, Any]:
    """The share of `equal` predictions, of how many `rows`, diagnostic sets included; None below `LEAST`.

    A file that only one has agrees nowhere. The share is rounded down, to a thousandth and to tens of rows;
    it is 1 only if all are equal.
    """
    equal = rows = 0
    for name in first.predictions.keys() | second.predictions.keys():
        columns = [each.predictions[name].values for each in (first, second) if name in each.predictions]
        rows += max(map(len, columns))
        equal += sum(map(_same, *columns)) if len(columns) == 2 else 0
    share = 1 if equal == rows else equal // STEP * STEP * 1000 // rows / 1000
    return {"equal": share if share >= LEAST else None, "rows": rows}


def _same(one: Any, other: Any) -> bool:
    """Whether two label codes, numbers, texts or tuples of them agree."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)
