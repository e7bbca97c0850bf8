"""How long submitted files are kept. Their scores and hashes stay."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage
from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common import files_deleted
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.submissions.models import (
    OPEN,
    Revision,
    Submission,
    SubmissionQuerySet,
    submission_storage,
)

NOBODY = "Anonymous"
"""What the board calls an entry whose author deleted the account."""
UNTOLD = "The reason went with its author's account."
"""Replaces an organizer's reason why an entry is off the board, so that it stays off."""

ORPHAN_KEPT = timedelta(days=1)


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
    """Delete stored files that no submission names: a process was killed before it wrote the row.

    Only those of `ORPHAN_KEPT` ago: the row of a newer one may be on its way.
    """
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
    boards = sorted(set(mine.values_list("benchmark", flat=True)))
    for board in boards:
        Benchmark.objects.held(board)
    Revision.objects.filter(submission__in=mine.values("pk")).delete()
    forget_files(mine)
    mine.exclude(declined="").update(declined=UNTOLD)
    words = [name for name, field in FIELDS.items() if not field.is_numeric and field.kind != "choice"]
    blank: dict[str, Any] = dict.fromkeys(words, "") | {"name": NOBODY, "filename": ""}
    del blank["model"]
    mine.update(**blank, problems={}, retry_key=None)
    Benchmark.objects.filter(pk__in=boards).touch()
