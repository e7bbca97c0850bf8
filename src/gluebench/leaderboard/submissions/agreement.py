"""How far two submissions agree, row by row. Runs in the grader's limited process; opens no label."""

from __future__ import annotations

from itertools import starmap
from math import isclose
from operator import eq
from typing import Any

from gluebench.submission import Column, Submission

TOLERANCE = 0.01
"""Numbers agree that differ by at most this, or by this share of the larger one."""
STEP = 10
"""Fewest rows by which a stated agreement changes, so that it tells nothing of a single row."""


def agreement(first: Submission, second: Submission) -> dict[str, Any]:
    """The share of equal predictions, and of how many rows, diagnostic sets included.

    A file that only one has agrees nowhere. The share is rounded down, to a thousandth and to tens of rows;
    it is 1 only if all are equal.
    """
    equal = rows = 0
    for name in first.predictions.keys() | second.predictions.keys():
        columns = [each.predictions[name] for each in (first, second) if name in each.predictions]
        rows += max(map(len, columns))
        equal += _equal(*columns) if len(columns) == 2 else 0
    thousandths = 1000 if equal == rows else equal // STEP * STEP * 1000 // rows
    return {"equal": thousandths / 1000, "rows": rows}


def _equal(one: Column, other: Column) -> int:
    if one.labels:
        return sum(map(eq, one.codes, other.codes))
    return sum(starmap(_same, zip(one.values, other.values, strict=True)))


def _same(one: Any, other: Any) -> bool:
    """Whether two numbers, texts or tuples of them agree."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(starmap(_same, zip(one, other, strict=True)))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)
