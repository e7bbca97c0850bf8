"""When a limit allows one more: counting with moments alone. Knows no Django.

What was sent counts until a moment: a day or 30 days later (sliding), or the end of its day or month in UTC
(calendar); nothing else depends on time but exceptions that run out. So the first moment at which one more is
allowed is one of these, and all of them are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAY = timedelta(hours=24)
MONTH = timedelta(days=30)


def day_start(moment: datetime) -> datetime:
    """The midnight of UTC that begins the day of a moment."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def month_start(moment: datetime) -> datetime:
    """The midnight of UTC that begins the month of a moment."""
    return day_start(moment).replace(day=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in which submissions are counted."""

    start: Callable[[datetime], datetime]
    """What was sent after this counts at a moment; for a calendar, at this moment too."""
    end: Callable[[datetime], datetime]
    """Until when something sent at a moment counts."""
    phrase: str
    """The window in a sentence."""


WINDOWS = {
    ("day", "sliding"): Window(lambda now: now - DAY, lambda sent: sent + DAY, "in 24 hours"),
    ("month", "sliding"): Window(lambda now: now - MONTH, lambda sent: sent + MONTH, "in 30 days"),
    ("day", "calendar"): Window(day_start, lambda sent: day_start(sent) + DAY, "today (UTC)"),
    ("month", "calendar"): Window(
        month_start, lambda sent: month_start(month_start(sent) + timedelta(days=31)), "this month (UTC)"
    ),
}


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted against one limit."""

    cap: Callable[[datetime], int | None]
    """The limit at a moment; None for no limit."""
    ends: Sequence[datetime] = ()
    """When each counted submission stops counting. Where no limit is set, it may be left empty."""
    lasting: int = 0
    """Those that count whatever the time is."""

    def used(self, moment: datetime) -> int:
        """How many count at a moment, if nothing more is sent."""
        return self.lasting + sum(end > moment for end in self.ends)

    def allows(self, moment: datetime) -> bool:
        """Whether one more may be sent at a moment."""
        cap = self.cap(moment)
        return cap is None or self.used(moment) < cap


def first_allowed(
    tallies: Sequence[Tally], now: datetime, changes: Iterable[datetime] = ()
) -> datetime | None:
    """The first moment from now on at which all of them allow one more; None where there is none.

    `changes`: the moments at which a limit itself changes.
    """
    moments = {now, *changes, *(end for tally in tallies for end in tally.ends)}
    later = sorted(moment for moment in moments if moment >= now)
    return next((moment for moment in later if all(tally.allows(moment) for tally in tallies)), None)


def precise(moment: datetime) -> str:
    """A moment in words, to the second: rounded up, so that what is promised holds."""
    whole = moment.replace(microsecond=0) + timedelta(seconds=1 if moment.microsecond else 0)
    return f"{whole.day} {whole:%B %Y, %H:%M:%S} UTC"
