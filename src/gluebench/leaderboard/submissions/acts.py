"""What authors and organizers may do with a submission once it is in: each act whole or not at all.

The callers check who may do it. Acts of organizers go into the log with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.grading import QUEUE_LEASE_SECONDS, hand_out
from gluebench.leaderboard.submissions.models import Kind, Revision, Status, Submission, new_key, renewed

UNGRADED = "It was withdrawn before it was graded, and counts against no limit."


class ReplaceError(Exception):
    """An upload whose file cannot be replaced now; the message may be shown."""


def edit(submission: Submission, by: User, values: Mapping[str, Any]) -> Revision | None:
    """Change fields of a submission and keep the former values. None where nothing changes.

    Raises ValidationError, by field, and ValueError for what is not in `FIELDS`.
    """
    if foreign := values.keys() - FIELDS.keys():
        raise ValueError(f"not for authors to set: {', '.join(sorted(foreign))}")
    with _locked(submission) as row:
        changes = {
            name: [getattr(row, name), value] for name, value in values.items() if getattr(row, name) != value
        }
        if not changes:
            return None
        for name, (_, value) in changes.items():
            setattr(row, name, value)
        row.clean_fields(exclude={field.name for field in row._meta.fields} - changes.keys())
        row.clean()
        _save(row, *changes)
        return Revision.objects.create(submission=row, by=by, changes=changes)


def publish(submission: Submission, *, public: bool) -> Submission:
    """Show it on the board, or to its author alone. One that was declined or withdrawn stays hidden."""
    with _locked(submission) as row:
        row.public = public
        _save(row, "public")
        feedback.show(row)
        return row


def withdraw(submission: Submission) -> Submission:
    """Take it back. If its grading has not begun, it is never graded, and `restore` cannot undo this."""
    with _locked(submission) as row:
        if row.withdrawn is not None:
            return row
        row.withdrawn = timezone.now()
        if row.status == Status.QUEUED and row.finished is None:
            row.status, row.finished, row.failure = Status.FAILED, row.withdrawn, UNGRADED
        _save(row, "withdrawn", "status", "finished", "failure")
        return row


def restore(submission: Submission) -> Submission:
    """Undo `withdraw`: it is as visible as it was before."""
    with _locked(submission) as row:
        if row.failure != UNGRADED:
            row.withdrawn = None
            _save(row, "withdrawn")
            feedback.show(row)
        return row


def require_replaceable(submission: Submission) -> None:
    """Raise ReplaceError for a submission whose file may not be replaced, or no longer."""
    if not submission.is_replaceable:
        raise ReplaceError("Only a file that is not valid can be replaced, and this one is not so any more.")


def replace(earlier: Submission, submission: Submission) -> None:
    """Give an upload the address and fields of one that is not valid; in the transaction that saves it.

    The earlier upload stays under another address, and counts against the limits as before.
    """
    with _locked(earlier) as row:
        require_replaceable(row)
        submission.key, submission.replaces = row.key, row
        for name in (*FIELDS, "kind", "public"):
            setattr(submission, name, getattr(row, name))
        row.key, row.public, row.withdrawn = new_key(), False, timezone.now()
        _save(row, "key", "public", "withdrawn")
        files = [row.sha256, submission.sha256]
        record(
            "replace", actor=submission.owner, benchmark=row.benchmark, submission=submission, sha256=files
        )


def approve(submission: Submission, by: User, reason: str = "") -> Submission:
    """An organizer agrees that the board shows it."""
    with _locked(submission) as row:
        row.approved, row.declined = True, ""
        _save(row, "approved", "declined")
        record("approve", actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return row


def decline(submission: Submission, by: User, reason: str) -> Submission:
    """An organizer keeps it off the board, or takes it off; the reason is shown to its author."""
    with _locked(submission) as row:
        action = "take off" if row.is_listed else "decline"
        row.approved, row.declined = False, reason
        _save(row, "approved", "declined")
        record(action, actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return row


def mark(submission: Submission, by: User, *, kind: Kind, verified: bool, reason: str = "") -> Submission:
    """An organizer sets its kind, and whether it is verified."""
    with _locked(submission) as row:
        before = {"kind": row.kind, "verified": row.verified}
        after = {"kind": str(kind), "verified": verified}
        if before == after:
            return row
        row.kind, row.verified = kind, verified
        _save(row, "kind", "verified")
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        record("mark", actor=by, benchmark=row.benchmark, submission=row, reason=reason, **changes)
        return row


def grade_again(submission: Submission, by: User, reason: str) -> bool:
    """Put it back in the queue; False where it is in it, has no file any more, or was withdrawn ungraded."""
    with _locked(submission) as row:
        if row.is_open or row.failure == UNGRADED or not row.file:
            return False
        row.status, row.spent, row.why = Status.QUEUED, row.attempts, reason
        _save(row, "status", "spent", "why")
        Submission.objects.filter(pk=row.pk).update(**renewed(QUEUE_LEASE_SECONDS))
        hand_out(row.pk)
        record("regrade", actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return True


@contextmanager
def _locked(submission: Submission) -> Iterator[Submission]:
    """A transaction with the row as it is now, which nobody else changes before it ends."""
    with transaction.atomic():
        Benchmark.objects.held(submission.benchmark_id)
        rows = Submission.objects.select_for_update(of=("self",)).select_related("benchmark")
        yield rows.defer("report", "problems").get(pk=submission.pk)


def _save(row: Submission, *columns: str) -> None:
    """Write these columns, and mark the benchmark's pages as changed."""
    row.save(update_fields=columns)
    Benchmark.objects.filter(pk=row.benchmark_id).touch()
