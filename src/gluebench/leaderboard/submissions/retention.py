"""How long submitted files are kept. What was scored, and the hash of what it was, stays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.audit.models import Sample
from gluebench.leaderboard.submissions.models import OPEN, Submission, SubmissionQuerySet, submission_storage

STRAY = timedelta(days=1)
"""Older than any upload on its way in: a file of that age that no submission has is nobody's."""


def forget_old_files() -> int:
    """Delete the files of submissions that were finished longer ago than the site keeps them."""
    if settings.KEEP_DAYS is None:
        return 0
    end = timezone.now() - timedelta(days=settings.KEEP_DAYS)
    return forget_files(Submission.objects.filter(finished__lt=end))


def forget_files(found: SubmissionQuerySet) -> int:
    """Delete the files of finished submissions, once the database says that they are gone.

    What was sampled of their predictions goes with them.
    """
    with transaction.atomic():
        rows = found.exclude(status__in=OPEN).exclude(file="").select_for_update()
        files = dict(rows.values_list("pk", "file"))
        Submission.objects.filter(pk__in=files).update(file="")
        Sample.objects.filter(submission__in=files).delete()
        for name in files.values():  # robust: a file that cannot be deleted does not keep the others
            transaction.on_commit(_deletion(name), robust=True)
    return len(files)


def _deletion(name: str) -> Callable[[], None]:
    """A function with a name, by which Django logs that it failed; a partial has none."""

    def delete() -> None:
        submission_storage().delete(name)

    return delete


def forget_strays() -> int:
    """Delete stored files that no submission has, as a process that was killed may leave them behind."""
    storage, end = submission_storage(), timezone.now() - STRAY
    stored = {f"{folder}/{name}" for folder in storage.listdir("")[0] for name in storage.listdir(folder)[1]}
    strays = stored.difference(Submission.objects.exclude(file="").values_list("file", flat=True))
    gone = 0
    for name in strays:
        with suppress(FileNotFoundError):  # another worker does the same
            if storage.get_modified_time(name) < end:
                storage.delete(name)
                gone += 1
    return gone
