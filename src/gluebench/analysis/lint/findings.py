"""What a lint says: findings, each with its number and what to do."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]
"""An error spoils scores, a warning has to be known or mended, a note is a figure to publish."""
SHOWN = 5
"""So many rows are named; the rest are counted."""


class Finding(NamedTuple):
    """One thing that was found, or measured."""

    severity: Severity
    check: str
    """What was looked for: "duplicates"."""
    where: str
    """The split, or the two: "train, test"."""
    number: float
    """How many rows or labels; for a measurement its value as a fraction."""
    text: str
    advice: str = ""
    """What to do; empty for a note that asks for nothing."""
    rows: tuple[str, ...] = ()
    """The first few, by index."""


class TaskLint(NamedTuple):
    """All that was found in one task, errors first."""

    task: str
    findings: tuple[Finding, ...]
    private: bool
    """Whether it tells of test labels."""


ORDER: tuple[Severity, ...] = ("error", "warning", "note")


def shown(rows: list[str]) -> tuple[str, ...]:
    """The first of the rows."""
    return tuple(rows[:SHOWN])


def percent(share: float) -> str:
    """A fraction as it is read: times 100, one decimal."""
    return f"{100 * share:.1f} %"


def repeat(number: int) -> str:
    """ "1 row repeats" or "3 rows repeat"."""
    return f"{counted(number, 'row')} {'repeats' if number == 1 else 'repeat'}"


def counted(number: int, noun: str) -> str:
    """ "1 row" or "1,204 rows"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
