"""How long submitted files are kept. What was scored, and the hash of what it was, stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.audit.models import Sample
from gluebench.leaderboard.submissions.models import OPEN, Submission, SubmissionQuerySet, submission_storage

ORPHAN_KEPT = timedelta(days=1)


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


def forget_orphans() -> int:
    """Delete stored files that no submission names: a process was killed before it wrote the row.

    Only those of `ORPHAN_KEPT` ago: the row of a newer one may be on its way.
    """
    storage, end = submission_storage(), timezone.now() - ORPHAN_KEPT
    stored = {f"{folder}/{name}" for folder in storage.listdir("")[0] for name in storage.listdir(folder)[1]}
    orphans = stored - set(Submission.objects.exclude(file="").values_list("file", flat=True))
    old = [name for name in orphans if storage.get_modified_time(name) < end]
    for name in old:
        storage.delete(name)
    return len(old)


def _deletion(name: str) -> Callable[[], None]:
    """A function with a name, by which Django logs that it failed; a partial has none."""

    def delete() -> None:
        submission_storage().delete(name)

    return delete
