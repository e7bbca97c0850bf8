"""What somebody may still send to a benchmark: how much is used, what remains, when the next one is possible.

Every upload counts in one of two ways. One that was graded, or may yet be, costs quota. A rejected one
(invalid, failed, withdrawn before its grading) costs none and has a cap of its own. Grading something again
changes neither: what scored once has cost its quota.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import Policy
from gluebench.leaderboard.limits.clock import WINDOWS, Tally, Window, first_allowed, precise
from gluebench.leaderboard.limits.models import Departure, Override
from gluebench.leaderboard.submissions.models import OPEN, Result, Status, Submission, SubmissionQuerySet

FIELDS = {
    "day": "per_day",
    "month": "per_month",
    "total": "total",
    "at_once": "at_once",
    "invalid": "invalid_per_day",
}
"""The limits, and the policy's name for each."""

ENDED = Q(status__in=[Status.INVALID, Status.FAILED])
AGAIN = Q(status__in=OPEN, finished__isnull=False)
"""Being graded another time."""
SCORED = Q(Exists(Result.objects.filter(submission=OuterRef("pk"), report__isnull=False)))
REJECTED = ~SCORED & (ENDED | AGAIN & (Q(verdict="invalid") | ~Q(failure="")))
"""Rejected uploads: they cost no quota."""
FIRST_TIME = Q(status__in=OPEN, finished__isnull=True)
"""Waiting for their first grading, or in it."""
COUNTED = {"at_once": FIRST_TIME, "invalid": REJECTED}
"""What counts against a limit; against the others, what costs quota."""
PHRASES = {"total": "in all", "at_once": "at the same time"}


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit, as it stands now."""

    name: str
    """"day", "month", "total", "at_once", or "invalid": rejected uploads of a day."""
    used: int
    limit: int | None
    """None: no limit."""
    phrase: str
    """What the limit is of, in words: "in 24 hours"."""
    next: datetime | None = None
    """Where nothing remains: when one more is allowed; None where no moment is known."""

    @property
    def remaining(self) -> int | None:
        """How many more are allowed now; None for no limit."""
        return None if self.limit is None else max(0, self.limit - self.used)

    def as_dict(self) -> dict[str, Any]:
        """The limit for JSON."""
        return {
            "name": self.name,
            "used": self.used,
            "limit": self.limit,
            "remaining": self.remaining,
            "next": None if self.next is None else self.next.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """All limits of one benchmark, for one person, at one moment."""

    limits: tuple[Limit, ...]
    per: str
    """Whose submissions are counted: "person", or "team" where the person is in one."""
    open: bool
    """Whether the benchmark takes submissions at all."""
    next: datetime | None
    """Where something is blocked: when one more is allowed; None where no moment is known."""

    def __getitem__(self, name: str) -> Limit:
        return {limit.name: limit for limit in self.limits}[name]

    @property
    def remaining(self) -> int | None:
        """How many more may be sent now; None for any number."""
        if not self.open or self["invalid"].remaining == 0:
            return 0
        left = [limit.remaining for limit in self.limits if limit.name != "invalid"]
        return min((number for number in left if number is not None), default=None)

    @property
    def blocked(self) -> list[str]:
        """Why nothing can be sent now, in sentences; empty where something can."""
        if not self.open:
            return ["This benchmark takes no submissions at present."]
        return [_sentence(limit, self.per) for limit in self.limits if limit.remaining == 0]

    def as_dict(self) -> dict[str, Any]:
        """The usage for JSON: moments in ISO 8601, UTC."""
        return {
            "open": self.open,
            "per": self.per,
            "remaining": self.remaining,
            "next": None if self.next is None else self.next.isoformat(),
            "blocked": self.blocked,
            "limits": [limit.as_dict() for limit in self.limits],
        }


def usage(benchmark: Benchmark, user: User, now: datetime | None = None) -> Usage:
    """What this person may still send to a benchmark. Costs one query for each limit, and one or two more."""
    now = now or timezone.now()
    policy = benchmark.policy
    exceptions = list(Override.objects.of(benchmark, user, now))
    changes = [one.until for one in exceptions if one.until is not None]
    sent = Submission.objects.filter(counted_with(user, policy), benchmark=benchmark)
    limits, tallies = [], {}
    for name, field in FIELDS.items():
        # Rejected uploads are counted over 24 hours under either policy.
        window = WINDOWS.get(("day", "sliding") if name == "invalid" else (name, policy.window))
        tally = tallies[name] = _tally(name, _cap(field, policy, exceptions), window, sent, now)
        moment = None if tally.allows(now) else first_allowed([tally], now, changes)
        phrase = window.phrase if window else PHRASES[name]
        limits.append(Limit(name, tally.used(now), tally.cap(now), phrase, moment))
    per = "team" if policy.per == "team" and user.team_id is not None else "person"
    usage = Usage(tuple(limits), per, benchmark.open, None)
    if not usage.blocked or not benchmark.open:
        return usage
    del tallies["at_once"]
    moment = first_allowed([*tallies.values()], now, changes)
    return replace(usage, next=moment if moment != now else None)


def counted_with(user: User, policy: Policy) -> Q:
    """The submissions that count together with this person's.

    Per team: one's own, those of the team's people, those sent for the team; and of a team that one left,
    what it had sent by then, so that leaving and joining evades nothing.
    """
    mine = Q(owner=user)
    if policy.per != "team":
        return mine
    if user.team_id is not None:
        mine |= Q(owner__team=user.team_id) | Q(group=user.team_id)
    for left in Departure.objects.filter(user=user).exclude(team=user.team_id):
        mine |= Q(group=left.team_id, submitted__lte=left.at)
    return mine


def _cap(field: str, policy: Policy, exceptions: Sequence[Override]) -> Callable[[datetime], int | None]:
    usual: int | None = getattr(policy, field)
    special = [(one.until, getattr(one, field, None)) for one in exceptions]

    def cap(moment: datetime) -> int | None:
        in_force = (n for until, n in special if n is not None and (until is None or until > moment))
        return next(in_force, usual)

    return cap


def _tally(
    name: str,
    cap: Callable[[datetime], int | None],
    window: Window | None,
    sent: SubmissionQuerySet,
    now: datetime,
) -> Tally:
    rows = sent.filter(COUNTED.get(name, ~REJECTED))
    if window is not None:  # a clock that was ahead evades nothing: there is no upper end
        rows = rows.filter(submitted__gte=window.start(now))
    if window is None or cap(now) is None:
        return Tally(cap, lasting=rows.count())
    return Tally(cap, [window.end(sent) for sent in rows.order_by().values_list("submitted", flat=True)])


def _sentence(limit: Limit, per: str) -> str:
    whose = "Your team's" if per == "team" else "Your"
    thing = "rejected upload" if limit.name == "invalid" else "submission"
    what = f"{limit.limit} {thing}{'' if limit.limit == 1 else 's'}"
    if limit.name == "at_once" and limit.limit:
        return f"{whose} limit is {what} waiting or being graded {limit.phrase}; 0 remain until one is done."
    if limit.name == "invalid":
        what += " (invalid, failed or withdrawn before grading)"
    sentence = f"{whose} limit is {what} {limit.phrase}; 0 remain."
    if limit.next is not None:
        return f"{sentence} The next one is possible from {precise(limit.next)}."
    return f"{sentence} Only the benchmark's organizer can allow more."
