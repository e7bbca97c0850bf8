"""The one way a submission comes in, by page or by command: its file first, then its row, then the answer."""

from __future__ import annotations

import hashlib

from django.core.files import File
from django.db import transaction

from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.tasks import hand_out


def accept(submission: Submission, file: File[bytes]) -> Submission:
    """Store the file, then row and background task together; all is durable when this returns."""
    submission.filename = (file.name or "submission.zip")[-120:]
    submission.sha256 = digest(file)
    submission.size = file.size
    # The file is written before the transaction opens, so that the database is locked for an instant only.
    submission.file.save(submission.filename, file, save=False)
    try:
        with transaction.atomic():
            submission.save()
            hand_out(submission.pk)
    except BaseException:
        submission.file.delete(save=False)
        raise
    return submission


def digest(file: File[bytes]) -> str:
    """SHA-256 of a file, which is left at its start."""
    file.seek(0)
    found = hashlib.sha256()
    for piece in file.chunks():
        found.update(piece)
    file.seek(0)
    return found.hexdigest()
