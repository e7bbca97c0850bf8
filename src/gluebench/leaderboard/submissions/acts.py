"""What authors and organisers may do with a submission once it is in: each act whole or not at all.

Who may do it is asked before, where the request comes in. Acts of organisers go into the log with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.grading import QUEUE_LEASE_SECONDS, hand_out
from gluebench.leaderboard.submissions.models import Kind, Revision, Status, Submission, renewed

UNGRADED = "It was withdrawn before it was graded, and counts against no limit."


def edit(submission: Submission, by: User, values: Mapping[str, Any]) -> Revision | None:
    """Change what is said of a submission; what stood there is kept. None where nothing changes.

    Raises ValidationError, by field, and ValueError for what is not in `FIELDS`.
    """
    if foreign := values.keys() - FIELDS.keys():
        raise ValueError(f"not for authors to set: {', '.join(sorted(foreign))}")
    with transaction.atomic():
        row = _locked(submission)
        changes = {
            name: [getattr(row, name), value] for name, value in values.items() if getattr(row, name) != value
        }
        if not changes:
            return None
        for name, (_, value) in changes.items():
            setattr(row, name, value)
        row.clean_fields(exclude={field.name for field in row._meta.fields} - changes.keys())
        row.clean()
        row.save(update_fields=list(changes))
        _show(row)
        return Revision.objects.create(submission=row, by=by, changes=changes)


def publish(submission: Submission, *, public: bool) -> Submission:
    """Show it on the board, or to its author alone. One that was declined or withdrawn stays hidden."""
    with transaction.atomic():
        row = _locked(submission)
        row.public = public
        row.save(update_fields=["public"])
        feedback.show(row)
        _show(row)
        return row


def withdraw(submission: Submission) -> Submission:
    """Take it back. One that no grading has begun of is not graded any more, and then this is for good."""
    with transaction.atomic():
        row = _locked(submission)
        if row.withdrawn is not None:
            return row
        row.withdrawn = timezone.now()
        if row.status == Status.QUEUED and row.finished is None:
            row.status, row.finished, row.failure = Status.FAILED, row.withdrawn, UNGRADED
        row.save(update_fields=["withdrawn", "status", "finished", "failure"])
        _show(row)
        return row


def restore(submission: Submission) -> Submission:
    """Undo `withdraw`: it is as visible as it was before."""
    with transaction.atomic():
        row = _locked(submission)
        if row.failure != UNGRADED:
            row.withdrawn = None
            row.save(update_fields=["withdrawn"])
            feedback.show(row)
            _show(row)
        return row


def approve(submission: Submission, by: User, reason: str = "") -> Submission:
    """An organiser agrees that the board shows it."""
    with transaction.atomic():
        row = _locked(submission)
        row.approved, row.declined = True, ""
        row.save(update_fields=["approved", "declined"])
        _show(row)
        record("approve", actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return row


def decline(submission: Submission, by: User, reason: str) -> Submission:
    """An organiser keeps it off the board, or takes it off; the reason is shown to its author."""
    with transaction.atomic():
        row = _locked(submission)
        action = "take off" if row.is_listed else "decline"
        row.approved, row.declined = False, reason
        row.save(update_fields=["approved", "declined"])
        _show(row)
        record(action, actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return row


def mark(submission: Submission, by: User, *, kind: Kind, verified: bool, reason: str = "") -> Submission:
    """An organiser says what it is, and whether somebody looked into it."""
    with transaction.atomic():
        row = _locked(submission)
        before = {"kind": row.kind, "verified": row.verified}
        after = {"kind": str(kind), "verified": verified}
        if before == after:
            return row
        row.kind, row.verified = kind, verified
        row.save(update_fields=["kind", "verified"])
        _show(row)
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        record("mark", actor=by, benchmark=row.benchmark, submission=row, reason=reason, **changes)
        return row


def grade_again(submission: Submission, by: User, reason: str) -> bool:
    """Put it back in the queue; False where it is in it, has no file any more, or was withdrawn ungraded."""
    with transaction.atomic():
        row = _locked(submission)
        if row.is_open or row.failure == UNGRADED or not row.file:
            return False
        row.status, row.spent, row.why = Status.QUEUED, row.attempts, reason
        row.save(update_fields=["status", "spent", "why"])
        Submission.objects.filter(pk=row.pk).update(**renewed(QUEUE_LEASE_SECONDS))
        hand_out(row.pk)
        record("regrade", actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        _show(row)
        return True


def _locked(submission: Submission) -> Submission:
    """The row as it is now, which nobody else changes before the transaction ends."""
    Benchmark.objects.held(submission.benchmark_id)
    rows = Submission.objects.select_for_update(of=("self",)).select_related("benchmark")
    return rows.defer("report", "problems").get(pk=submission.pk)


def _show(row: Submission) -> None:
    """The board may look otherwise now."""
    Benchmark.objects.filter(pk=row.benchmark_id).touch()
