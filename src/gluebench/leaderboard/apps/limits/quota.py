"""Quotas: how much is used, when the next submission is possible, and who may submit now.

Every upload counts in one of two ways. One that was graded, or may yet be, costs quota. A rejected one
(invalid, failed, withdrawn before its grading) costs none and has a separate cap. Grading a submission
again changes neither: one that has scored once still costs quota.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Team, User, acting_for, former_teams, team_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy
from gluebench.leaderboard.apps.common.problems import ProblemError
from gluebench.leaderboard.apps.limits.models import Override, obstacle_for
from gluebench.leaderboard.apps.phases.models import policy_at
from gluebench.leaderboard.apps.phases.moments import SubmissionSlot, slot_of, team_in
from gluebench.leaderboard.apps.submissions.models import Result, Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.queries import OPEN, Status

DAY, MONTH = timedelta(hours=24), timedelta(days=30)


def _day_start(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _month_start(moment: datetime) -> datetime:
    return _day_start(moment).replace(day=1)


class Window(NamedTuple):
    """A stretch of time in which submissions are counted."""

    start: Callable[[datetime], datetime]
    """From a moment, the start of its window: what was sent later counts; in a calendar, the start too."""
    end: Callable[[datetime], datetime]
    """From the moment of a submission, when it stops counting."""
    phrase: str
    """The window in a sentence."""


WINDOWS = {
    ("day", "sliding"): Window(lambda now: now - DAY, lambda sent: sent + DAY, "in 24 hours"),
    ("month", "sliding"): Window(lambda now: now - MONTH, lambda sent: sent + MONTH, "in 30 days"),
    ("day", "calendar"): Window(_day_start, lambda sent: _day_start(sent) + DAY, "today (UTC)"),
    ("month", "calendar"): Window(
        _month_start, lambda sent: _month_start(_month_start(sent) + timedelta(days=31)), "this month (UTC)"
    ),
}


Cap = Callable[[datetime], int | None]
"""From a moment, a limit; None for no limit."""


class LimitCount(NamedTuple):
    """What is counted against one limit."""

    cap: Cap
    ends: Sequence[datetime] = ()
    """When each counted submission stops counting. Where no limit is set, it may be left empty."""
    lasting: int = 0
    """Submissions that count at any time."""

    def used(self, moment: datetime) -> int:
        """How many count at a moment, if nothing more is sent."""
        return self.lasting + sum(end > moment for end in self.ends)

    def allows(self, moment: datetime) -> bool:
        """Whether one more may be sent at a moment."""
        cap = self.cap(moment)
        return cap is None or self.used(moment) < cap


def first_allowed(
    tallies: Sequence[LimitCount], now: datetime, changes: Iterable[datetime] = ()
) -> datetime | None:
    """The first moment from now on at which all of them allow one more; None where there is none.

    `changes`: the moments at which a limit changes. More is allowed only from one of these, or when a
    submission stops counting, so that all these moments are tried.
    """
    moments = {now, *changes, *(end for tally in tallies for end in tally.ends)}
    later = sorted(moment for moment in moments if moment >= now)
    return next((moment for moment in later if all(tally.allows(moment) for tally in tallies)), None)


def precise(moment: datetime) -> str:
    """A moment in words, to the second; rounded up, so that it is never too early."""
    whole = moment.replace(microsecond=0) + timedelta(seconds=1 if moment.microsecond else 0)
    return f"{whole.day} {whole:%B %Y, %H:%M:%S} UTC"


FIELDS = {
    "day": "per_day",
    "month": "per_month",
    "total": "total",
    "at_once": "at_once",
    "invalid": "invalid_per_day",
}
"""The limits, and the policy's name for each."""

ENDED = Q(status__in=[Status.INVALID, Status.FAILED]) | Q(status=Status.KEPT, reproduces=None)
AGAIN = Q(status__in=OPEN, finished__isnull=False)
"""Being graded another time."""
SCORED = Q(Exists(Result.objects.filter(submission=OuterRef("pk"), report__isnull=False)))
REJECTED = ~SCORED & (ENDED | AGAIN & (Q(verdict="invalid") | ~Q(failure="")))
"""Rejected uploads: they cost no quota."""
FIRST_TIME = Q(status__in=OPEN, finished__isnull=True)
"""Waiting for their first grading, or in it."""
COUNTED = {"at_once": FIRST_TIME, "invalid": REJECTED}
"""Submissions that count against these limits; against the others, all but rejected ones count."""
PHRASES = {"total": "in all", "at_once": "at the same time"}


class Limit(NamedTuple):
    """One limit and how much of it is used."""

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
            **{name: getattr(self, name) for name in ("name", "used", "limit", "remaining")},
            "next": self.next and self.next.isoformat(),
        }


@dataclass(frozen=True)
class Usage:
    """All limits of one benchmark, for one person, at one moment."""

    limits: tuple[Limit, ...]
    per: str
    """Whose submissions are counted: "person", or "team" where the person is in one."""
    open: bool
    """Whether the benchmark takes submissions at all."""
    next: datetime | None
    """Where something is blocked: when one more is allowed; None where no moment is known."""
    slot: SubmissionSlot
    """The phase that a submission sent now is for."""

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
    def is_by_grading(self) -> bool:
        """Whether only the number being graded at once limits how many may be sent now."""
        others = [limit.remaining for limit in self.limits if limit.name not in ("invalid", "at_once")]
        now = self["at_once"].remaining
        return now is not None and all(left is None or left > now for left in others)

    @property
    def blocked(self) -> list[str]:
        """Why nothing can be sent now, in sentences; empty where something can."""
        if not self.open:
            return [self.slot.closed or "This benchmark takes no submissions now."]
        return [_sentence(limit, self.per) for limit in self.limits if limit.remaining == 0]

    def as_dict(self) -> dict[str, Any]:
        """The usage for JSON: moments in ISO 8601, UTC."""
        return {
            "open": self.open,
            "per": self.per,
            "remaining": self.remaining,
            "next": self.next and self.next.isoformat(),
            "blocked": self.blocked,
            "limits": [limit.as_dict() for limit in self.limits],
        }


def usage(
    benchmark: Benchmark, user: User, now: datetime | None = None, *, began: datetime | None = None
) -> Usage:
    """What this person may still send to a benchmark, or to its phase at that moment.

    `began`: when the upload began. Costs one query for each limit, and two or three more.
    """
    now = now or timezone.now()
    slot = slot_of(benchmark, user, began or now, now)
    policy = policy_at(benchmark, slot.phase)
    team = team_for(user.pk, benchmark.pk)
    exceptions = list(Override.objects.for_user(benchmark, user, team, now))
    changes = [one.until for one in exceptions if one.until is not None]
    sent = Submission.objects.filter(shares_quota_with(user, team, benchmark, policy), benchmark=benchmark)
    sent = sent if slot.phase is None else sent.filter(phase=slot.phase)
    limits, tallies = [], {}
    for name, field in FIELDS.items():
        # Rejected uploads are counted over 24 hours under either policy.
        window = WINDOWS.get(("day", "sliding") if name == "invalid" else (name, policy.window))
        counted = sent.filter(COUNTED.get(name, ~REJECTED))
        tally = tallies[name] = _tally(_cap(field, policy, exceptions), window, counted, now)
        moment = None if tally.allows(now) else first_allowed([tally], now, changes)
        phrase = window.phrase if window else PHRASES[name]
        limits.append(Limit(name, tally.used(now), tally.cap(now), phrase, moment))
    per = "team" if policy.per == "team" and team is not None else "person"
    moment = None
    is_open = benchmark.open and not slot.closed
    if is_open and any(limit.remaining == 0 for limit in limits):
        del tallies["at_once"]
        moment = first_allowed([*tallies.values()], now, changes)
    return Usage(tuple(limits), per, is_open, moment if moment != now else None, slot)


def shares_quota_with(user: User, team: int | None, benchmark: Benchmark, policy: Policy) -> Q:
    """The submissions that count together with this person's.

    Per team: the person's own, those of the team's members, those sent for the team; and those that a
    former team had sent before the person left, so that changing teams does not evade a limit.
    """
    mine = Q(owner=user)
    if policy.per != "team":
        return mine
    if team is not None:
        mine |= Q(owner__in=acting_for([team], benchmark.pk)) | Q(group=team)
    for former, until in former_teams(user.pk, benchmark.pk):
        if former != team:
            mine |= Q(group=former, submitted__lte=until)
    return mine


def _cap(field: str, policy: Policy, exceptions: Sequence[Override]) -> Cap:
    usual: int | None = getattr(policy, field)
    special = [(one.until, getattr(one, field, None)) for one in exceptions]

    def cap(moment: datetime) -> int | None:
        in_force = (n for until, n in special if n is not None and (until is None or until > moment))
        return next(in_force, usual)

    return cap


def _tally(cap: Cap, window: Window | None, rows: SubmissionQuerySet, now: datetime) -> LimitCount:
    if window is not None:  # no upper end: a row dated too late by a wrong clock counts too
        rows = rows.filter(submitted__gte=window.start(now))
    if window is None or cap(now) is None:
        return LimitCount(cap, lasting=rows.count())
    return LimitCount(cap, [window.end(sent) for sent in rows.order_by().values_list("submitted", flat=True)])


def _sentence(limit: Limit, per: str) -> str:
    whose = "Your team's" if per == "team" else "Your"
    noun = "rejected upload" if limit.name == "invalid" else "submission"
    amount = f"{limit.limit} {noun}{'' if limit.limit == 1 else 's'}"
    if limit.name == "at_once" and limit.limit:
        return (
            f"{whose} limit is {amount} waiting or being graded {limit.phrase}; 0 remain until one is done."
        )
    if limit.name == "invalid":
        amount += " (invalid, failed or withdrawn before grading)"
    sentence = f"{whose} limit is {amount} {limit.phrase}; 0 remain."
    if limit.next is not None:
        return f"{sentence} The next one is possible from {precise(limit.next)}."
    return f"{sentence} Only the benchmark's organizer can allow more."


class QuotaError(ProblemError):
    """A submission that is not taken now: by a limit, with the moment of the next, or for another reason.

    Its kind is "quota", that of an `Obstacle` (registration, rules), or "closed" (benchmark or account).
    """


def check_quota(submission: Submission) -> None:
    """Raise QuotaError if a submission sent now would not be taken; no lock: `reserve_quota` decides."""
    _require(submission, submission.benchmark, submission.owner)


def reserve_quota(submission: Submission, *, limited: bool = True) -> None:
    """Let a submission in, to its phase and counted for its team; in the transaction that saves the row.

    Of several at the same time, for one person or one team, each waits here until the one before it is
    saved: by a lock on the rows of person and team (PostgreSQL), or because a transaction that may write
    is alone (SQLite, IMMEDIATE). Raises QuotaError. Without limits, it is never late.
    """
    if not limited:
        submission.phase = slot_of(submission.benchmark, submission.owner, timezone.now()).phase
        return
    user, team = lock_user_and_team(submission.owner_id, submission.benchmark)
    benchmark = Benchmark.objects.get(pk=submission.benchmark_id)  # read again: its policy may have changed
    if not user.is_active:  # deleted during the upload: no new row may refer to it
        raise QuotaError(403, "closed", "This account is closed.")
    slot = _require(submission, benchmark, user)
    submission.phase, submission.late = slot.phase, slot.late
    submission.group = team
    if slot.phase is not None:
        submission.group_id = team_in(slot.phase, user.pk)
    if submission.has_team_name and submission.group is not None:
        submission.team = submission.group.name


def _require(submission: Submission, benchmark: Benchmark, user: User) -> SubmissionSlot:
    now = usage(benchmark, user, began=submission.began)
    # No limit refuses an upload that is already stored, and its retry key prevents a second row.
    known = Submission.objects.filter(owner=submission.owner_id, retry_key=submission.retry_key)
    if submission.retry_key is not None and known.exists():
        return now.slot
    obstacle = obstacle_for(benchmark, user)
    if obstacle is not None:
        page = reverse("join", args=[benchmark.name])
        way = f" See this site's page {page}"
        if obstacle.kind in ("registration", "rules"):
            way += ", or use the command `gluebench register`"
        raise QuotaError(403, obstacle.kind, f"{obstacle.reason}{way}.")
    if now.blocked and not now.open:
        raise QuotaError(403, "closed", " ".join(now.blocked))
    if now.blocked:
        wait = (now.next - timezone.now()).total_seconds() if now.next else None
        headers = {} if wait is None else {"Retry-After": str(max(1, math.ceil(wait)))}
        raise QuotaError(429, "quota", " ".join(now.blocked), next=now.next, headers=headers)
    return now.slot


def lock_user_and_team(user: int, benchmark: Benchmark | None) -> tuple[User, Team | None]:
    """Lock a person, then the person's team for a benchmark, until the transaction ends; in this order."""
    person = User.objects.select_for_update(no_key=True).get(pk=user)
    team = team_for(user, None if benchmark is None else benchmark.pk)
    if team is None:
        return person, None
    return person, Team.objects.select_for_update(no_key=True).get(pk=team)
