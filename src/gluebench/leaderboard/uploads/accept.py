"""The one way a submission comes in, by page or by command: its file first, then its row, then the answer."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from django.core.files import File
from django.db import DatabaseError, transaction

from gluebench.leaderboard.limits import gate
from gluebench.leaderboard.submissions.grading import hand_out
from gluebench.leaderboard.submissions.models import Submission


def accept(submission: Submission, file: File[bytes], *, limited: bool = True) -> Submission:
    """Store the file, then row and background task together; all is durable when this returns.

    Raises QuotaError where a limit of the benchmark does not allow it now; nothing is kept of it then.
    `limited=False` is for who runs the site: no limit holds.
    """
    if limited:
        gate.ask(submission)
    submission.filename = (file.name or "submission.zip")[-120:]
    submission.sha256 = submission.sha256 or digest(file)  # whoever looked for a twin has it already
    submission.size = file.size
    submission.approved = not submission.benchmark.policy.approval
    # The file is written before the transaction opens, so that the database is locked for an instant only.
    submission.file.save(submission.filename, file, save=False)
    try:
        with transaction.atomic():
            if limited:
                gate.take(submission)
            submission.save()
            hand_out(submission.pk)
    except BaseException:
        _forget(submission)
        raise
    return submission


def _forget(submission: Submission) -> None:
    """Delete the file of what was not taken. An answer that got lost may hide that it was: then it stays."""
    with suppress(DatabaseError):
        if not Submission.objects.filter(key=submission.key).exists():
            submission.file.delete(save=False)


def digest(file: File[bytes]) -> str:
    """SHA-256 of a file, which is left at its start."""
    file.seek(0)
    found = hashlib.sha256()
    for piece in file.chunks():
        found.update(piece)
    file.seek(0)
    return found.hexdigest()
