"""The gate that every submission goes through: who may send one, decided under a lock."""

from __future__ import annotations

import math
from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone

from gluebench.leaderboard.accounts.models import Team, User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.limits.quota import Usage, usage
from gluebench.leaderboard.submissions.models import Submission


class QuotaError(Exception):
    """A submission that a limit does not allow now. The message says which, and when the next may come."""

    def __init__(self, usage: Usage, message: str = "") -> None:
        self.usage = usage
        super().__init__(message or " ".join(usage.blocked))

    @property
    def next(self) -> datetime | None:
        """The first moment at which one more is allowed; None where no moment is known."""
        return self.usage.next


class ClosedError(QuotaError):
    """The benchmark takes no submissions from anybody, or the account is closed."""


def ask(submission: Submission) -> None:
    """Raise QuotaError if a submission sent now would not be taken. Holds no lock: `take` decides."""
    _require(submission, submission.benchmark, submission.owner)


def take(submission: Submission) -> None:
    """Let a submission in, counted for its author's team; call it in the transaction that saves the row.

    Of several at the same time, for one person or one team, each waits here until the one before it is
    saved: by a lock on the rows of person and team (PostgreSQL), or because a transaction that may write
    is alone (SQLite, IMMEDIATE). Raises QuotaError.
    """
    user, team = hold(submission.owner_id)
    benchmark = Benchmark.objects.get(pk=submission.benchmark_id)  # read anew: its policy may have changed
    if not user.is_active:  # deleted while the file came in: nothing more may hang on it
        raise ClosedError(usage(benchmark, user), "This account is closed.")
    _require(submission, benchmark, user)
    submission.group = team


def _require(submission: Submission, benchmark: Benchmark, user: User) -> None:
    if _sent_before(submission):
        return
    now = usage(benchmark, user)
    if now.blocked:
        raise QuotaError(now) if now.open else ClosedError(now)


def _sent_before(submission: Submission) -> bool:
    """Whether this very upload came in before: no limit refuses it, and saving it again is not possible."""
    known = Submission.objects.filter(owner=submission.owner_id, retry_key=submission.retry_key)
    return submission.retry_key is not None and known.exists()


def hold(user: int) -> tuple[User, Team | None]:
    """Lock a person, then the person's team, until the transaction ends; always in this order."""
    person = User.objects.select_for_update(no_key=True).get(pk=user)
    if person.team_id is None:
        return person, None
    return person, Team.objects.select_for_update(no_key=True).get(pk=person.team_id)


def refused(response: HttpResponse, refusal: QuotaError) -> HttpResponse:
    """An answer as programs know it: 429 and how many seconds to wait, or 403 for a closed benchmark."""
    response.status_code = 403 if isinstance(refusal, ClosedError) else 429
    if refusal.next is not None:
        wait = (refusal.next - timezone.now()).total_seconds()
        response["Retry-After"] = str(max(1, math.ceil(wait)))
    return response
