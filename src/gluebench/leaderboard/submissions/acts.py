"""What authors, organizers and the site may do with a submission once it is in: each act whole or not at all.

The callers check who may do it. Acts of organizers go into the log with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common import files_deleted
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.grading import QUEUE_LEASE_SECONDS, grade_submission
from gluebench.leaderboard.submissions.models import (
    OPEN,
    Kind,
    Revision,
    Status,
    Submission,
    SubmissionQuerySet,
    new_key,
    renewed,
    submission_storage,
)

UNGRADED = "It was withdrawn before it was graded, and counts against no limit."
NOBODY = "Anonymous"
"""What the board calls an entry whose author deleted the account."""
REASON_DELETED = "The reason went with its author's account."
"""Replaces an organizer's reason why an entry is off the board, so that it stays off."""
ORPHAN_KEPT = timedelta(days=1)
"""Age from which stored files without a submission are deleted: the row of a newer one may be on its way."""


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
        grade_submission.enqueue(row.pk)
        record("regrade", actor=by, benchmark=row.benchmark, submission=row, reason=reason)
        return True


@contextmanager
def _locked(submission: Submission) -> Iterator[Submission]:
    """A transaction with the row as it is now, locked until it ends."""
    with transaction.atomic():
        Benchmark.objects.held(submission.benchmark_id)
        rows = Submission.objects.select_for_update(of=("self",)).select_related("benchmark")
        yield rows.defer("report", "problems").get(pk=submission.pk)


def _save(row: Submission, *columns: str) -> None:
    """Write these columns, and mark the benchmark's pages as changed."""
    row.save(update_fields=columns)
    Benchmark.objects.filter(pk=row.benchmark_id).touch()


def forget_old_files(**_: Any) -> int:
    """Delete the files of submissions that were finished longer ago than the site keeps them."""
    if settings.KEEP_DAYS is None:
        return 0
    end = timezone.now() - timedelta(days=settings.KEEP_DAYS)
    return forget_files(Submission.objects.filter(finished__lt=end))


def forget_files(submissions: SubmissionQuerySet) -> int:
    """Delete the files of finished submissions, once the database says that they are gone."""
    with transaction.atomic():
        rows = submissions.exclude(status__in=OPEN).exclude(file="").select_for_update()
        files = dict(rows.values_list("pk", "file"))
        Submission.objects.filter(pk__in=files).update(file="")
        files_deleted.send(Submission, submissions=files.keys())
        for name in files.values():

            def delete(name: str = name) -> None:  # no partial: Django logs the function's name if it fails
                submission_storage().delete(name)

            transaction.on_commit(delete, robust=True)  # robust: one failure does not keep the other files
    return len(files)


def forget_orphans(**_: Any) -> int:
    """Delete stored files that no submission names: a process was killed before it wrote the row."""
    storage = submission_storage()
    # Uploads lie in one level of folders; what lies elsewhere was put there by hand.
    names = [name for name in orphans(ORPHAN_KEPT) if name.count("/") == 1]
    for name in names:
        storage.delete(name)
    return len(names)


def orphans(age: timedelta) -> list[str]:
    """The names of stored files that are older than `age` and that no submission names, in order."""
    storage, end = submission_storage(), timezone.now() - age
    stored = set(_stored(storage))  # before the rows: a file is written before its row
    named = set(Submission.objects.exclude(file="").values_list("file", flat=True))
    return [name for name in sorted(stored - named) if storage.get_modified_time(name) < end]


def _stored(storage: Storage, folder: str = "") -> Iterator[str]:
    folders, names = storage.listdir(folder)
    yield from (f"{folder}{name}" for name in names)
    for subfolder in folders:
        yield from _stored(storage, f"{folder}{subfolder}/")


def anonymise(*, user: User, **_: Any) -> None:
    """Take names, links and words off the submissions of a deleted account.

    The kind of model, its sizes and its scores stay. So does the team that it counts for, which no page
    names, so that the team's quota is used up as before. Raises SiteError while one is being graded.
    """
    mine = Submission.objects.owned_by(user)
    waiting = mine.waiting().count()
    if waiting:
        raise SiteError(
            f"{waiting} of your submissions {'is' if waiting == 1 else 'are'} still being graded. "
            "Wait until that is done, which takes minutes at most, and try again."
        )
    benchmarks = sorted(set(mine.values_list("benchmark", flat=True)))
    for benchmark in benchmarks:
        Benchmark.objects.held(benchmark)
    Revision.objects.filter(submission__in=mine.values("pk")).delete()
    forget_files(mine)
    mine.exclude(declined="").update(declined=REASON_DELETED)
    words = [name for name, field in FIELDS.items() if not field.is_numeric and field.kind != "choice"]
    blank: dict[str, Any] = dict.fromkeys(words, "") | {"name": NOBODY, "filename": ""}
    del blank["model"]
    mine.update(**blank, problems={}, retry_key=None)
    Benchmark.objects.filter(pk__in=benchmarks).touch()
