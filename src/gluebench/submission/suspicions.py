"""What looks wrong without opening a label: warnings, and numbers that lost their decimal points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import inf
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.submission.problems import SHOWN_PER_FILE, Problem
from gluebench.submission.submission import Column

_CLEARLY = 0.15
"""Share of all rows that must be better explained by a swapped label map before we speak up."""
_MOST_LABELS = 6
"""Label sets up to this size are tried in every order."""
_PERCENT = 100
"""Whole numbers up to this size are a legal scale."""
_LARGEST = 1e20
"""No format writes a score with more digits than this; larger numbers have another cause."""


class Suspicions(NamedTuple):
    """Warnings about one file, and how many more of each kind there are."""

    problems: list[Problem]
    unshown: dict[str, int]


def suspicions(name: str, column: Column, task: Task) -> Suspicions:
    """Warnings about the predictions of one file."""
    if column.constant:
        value = column.labels[column.codes[0]] if column.labels else f"{column.numbers[0]:g}"
        expected = "expected predictions that differ between examples"
        return Suspicions(
            [_warning("constant", name, expected, "Check that the model ran.", value=value)], {}
        )
    if not column.labels:
        return _outside(name, column, task)
    swapped = _swapped(name, column, task)
    return Suspicions([swapped] if swapped else [], {})


def _swapped(name: str, column: Column, task: Task) -> Problem | None:
    """Compare the predicted label shares with the training shares, as they are and in every other order."""
    known = [label.share for label in task.labels if label.share is not None]
    if len(known) != len(task.labels) or not 2 <= len(known) <= _MOST_LABELS:
        return None
    predicted = [count / len(column) for count in column.counts()]
    as_is = _distance(predicted, known)
    order = min(
        permutations(range(len(known))), key=lambda order: _distance([predicted[at] for at in order], known)
    )
    if as_is - _distance([predicted[at] for at in order], known) < _CLEARLY:
        return None
    shares = ", ".join(f"{word} {share:.0%}" for word, share in zip(task.words, predicted, strict=True))
    usual = ", ".join(f"{word} {share:.0%}" for word, share in zip(task.words, known, strict=True))
    expected = (
        f"expected label shares near those of training ({usual}); these fit better with the labels swapped"
    )
    return _warning(
        "swapped-labels", name, expected, "Check the order of the model's label ids.", value=shares
    )


def _distance(predicted: Sequence[float], known: Sequence[float]) -> float:
    """Total variation distance: the share of rows that would have to change."""
    return sum(abs(one - other) for one, other in zip(predicted, known, strict=True)) / 2


def _outside(name: str, column: Column, task: Task) -> Suspicions:
    low, high = task.score_range or (-inf, inf)
    rows = [index for index, number in enumerate(column.numbers) if not low <= number <= high]
    expected = f"expected a score from {low:g} to {high:g}"
    fix = "It is graded as it is, but GLUE's own site refuses such a file: clip it if you submit there."
    problems = [
        _warning("outside-range", name, expected, fix, value=f"{column.numbers[index]:.6g}", index=index)
        for index in rows[:SHOWN_PER_FILE]
    ]
    more = len(rows) - len(problems)
    return Suspicions(problems, {"outside-range": more} if more else {})


def _warning(
    code: str, name: str, expected: str, fix: str, *, value: str | None = None, index: int | None = None
) -> Problem:
    return Problem(code, "warning", name, expected, fix, None, index, value)


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
