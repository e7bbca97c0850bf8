"""How long submitted files are kept. What was scored, and the hash of what it was, stays."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.submissions.models import OPEN, Submission, SubmissionQuerySet, submission_storage


def forget_old_files() -> int:
    """Delete the files of submissions that were finished longer ago than the site keeps them."""
    if settings.KEEP_DAYS is None:
        return 0
    end = timezone.now() - timedelta(days=settings.KEEP_DAYS)
    return forget_files(Submission.objects.filter(finished__lt=end))


def forget_files(found: SubmissionQuerySet) -> int:
    """Delete the files of finished submissions, once the database says that they are gone."""
    with transaction.atomic():
        rows = found.exclude(status__in=OPEN).exclude(file="").select_for_update()
        files = dict(rows.values_list("pk", "file"))
        Submission.objects.filter(pk__in=files).update(file="")
        for name in files.values():
            transaction.on_commit(partial(submission_storage().delete, name))
    return len(files)
