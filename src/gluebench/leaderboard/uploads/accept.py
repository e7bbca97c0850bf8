"""Take a submission in, by page, API or command: its file first, then its row, then the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import DatabaseError, IntegrityError, transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import confirmed
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.text import require_fields
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.limits import quota
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.grading import grade, grade_submission
from gluebench.leaderboard.submissions.models import Submission


def accept(
    submission: Submission, file: File[bytes], *, limited: bool = True, replaces: Submission | None = None
) -> Submission:
    """Store the file, then row and background task together; all is durable when this returns.

    Raises QuotaError where a limit of the benchmark does not allow it now, and ReplaceError where it may not
    take the place of `replaces`; nothing is kept of it then. `limited=False` is for who runs the site: no
    limit holds.
    """
    if limited:
        quota.ask(submission)
    submission.filename = (file.name or "submission.zip")[-120:]
    submission.sha256 = submission.sha256 or digest(file)  # whoever looked for a twin has it already
    submission.size = file.size
    submission.approved = not submission.benchmark.policy.approval
    # The file is written before the transaction opens, so that the database is locked for an instant only.
    submission.file.save(submission.filename, file, save=False)
    try:
        with transaction.atomic():
            if limited:
                quota.take(submission)
            if replaces is not None:
                acts.replace(replaces, submission)
            submission.save()
            grade_submission.enqueue(submission.pk)
    except BaseException:
        with suppress(DatabaseError):  # a lost answer of the database may hide that it was taken
            if not Submission.objects.filter(file=submission.file.name).exists():
                submission.file.delete(save=False)
        raise
    return submission


def digest(file: File[bytes]) -> str:
    """SHA-256 of a file, which is left at its start."""
    file.seek(0)
    sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return sha256


def accept_once(
    submission: Submission, file: File[bytes], *, replaces: Submission | None = None
) -> Submission:
    """Let it in, unless an upload with its `retry_key` came in before or meanwhile: then return that one."""
    known = sent_before(submission)
    if known is not None:
        return known
    try:
        return accept(submission, file, replaces=replaces)
    except (IntegrityError, quota.QuotaError, acts.ReplaceError):
        known = sent_before(submission)
        if known is None:
            raise
        return known


def sent_before(submission: Submission) -> Submission | None:
    """What its owner sent under its `retry_key`."""
    if submission.retry_key is None:
        return None
    rows = Submission.objects.owned_by(submission.owner).select_related("benchmark")
    return rows.filter(retry_key=submission.retry_key).first()


def submit_file(
    benchmark: str, email: str, path: Path, *, details: Mapping[str, Any], wait: bool = True
) -> str:
    """See `commands.submit_local`."""
    if unknown := details.keys() - {*FIELDS, "public"}:
        raise TypeError(f"A submission has no such field: {', '.join(sorted(unknown))}.")
    row = Benchmark.objects.named(benchmark)
    owner = User.objects.filter(email=email).first() or User.objects.create_user(email)
    if owner.has_usable_password() and not confirmed(owner):
        raise SiteError(
            f"Whoever signed up as {email} has not confirmed that address. Confirm it first, or use another "
            f"one: gluebench leaderboard confirm {email}"
        )
    with path.open("rb") as opened:
        file = File(opened, name=path.name)
        sha256 = digest(file)
        twin = row.submissions.filter(owner=owner, name=details["name"], sha256=sha256).first()
        if twin is not None:
            return twin.key
        submission = Submission(owner=owner, group=owner.team, benchmark=row, sha256=sha256, **details)
        require_fields(submission, details, what=f"The submission {submission.name!r}")
        accept(submission, file, limited=False)
    if wait:  # at once, not by a worker that may not be running; the task in the queue will find it done
        grade(submission.pk)
    return submission.key
