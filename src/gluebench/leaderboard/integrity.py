"""Whether stored files, results, listed scores and the log are what the site wrote. Django must be set up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

from gluebench.leaderboard.audit.models import Entry, plain
from gluebench.leaderboard.checks import Check
from gluebench.leaderboard.submissions import feedback
from gluebench.leaderboard.submissions.acts import orphans
from gluebench.leaderboard.submissions.models import Result, Status, Submission, submission_storage

NAMED = 20
"""Most rows or files that one check names."""
UPLOAD_TIME = timedelta(hours=1)
"""How long a file may be stored before its row."""
RESEAL = "Or, if you replaced the secret key: gluebench leaderboard doctor --reseal"


def examine(*, files: bool = False) -> list[Check]:
    """The results, what the boards show of them, and the log; with `files`, every submitted file too."""
    return [_results(), _listed(), _log(), *(_files() if files else ())]


def reseal() -> None:
    """Seal every result and log row again with its current values: for a site with a new secret key."""
    before = ""
    for entry in Entry.objects.order_by("pk").iterator():
        before = entry.digest(before)
        Entry.objects.filter(pk=entry.pk).update(seal=before)
    for pk in list(Result.objects.values_list("pk", flat=True)):
        Result.objects.filter(pk=pk).update(seal=Result.objects.get(pk=pk).digest())


def _results() -> Check:
    rows = Result.objects.select_related("submission").defer("submission__report", "submission__problems")
    edited = [
        f"result {row.pk} of submission {row.submission.key}"
        for row in rows.iterator(chunk_size=50)
        if row.seal != row.digest()
    ]
    fix = f"Restore a backup, or grade these submissions again. {RESEAL}"
    return _check("results", edited, "edited in the database", fix, rows.count())


def _listed() -> Check:
    """Check the columns that a board reads: they must match the submission's latest result."""
    rows = Submission.objects.filter(status=Status.GRADED).select_related("benchmark", "phase")
    edited = [
        f"submission {row.key}"
        for row in rows.iterator(chunk_size=50)
        if any(
            plain(getattr(row, name)) != plain(value)
            for name, value in feedback.shown(row, row.results.first()).items()
        )
    ]
    fix = "Restore a backup, or grade these submissions again."
    return _check("listed scores", edited, "not what their results say", fix, rows.count())


def _log() -> Check:
    before, edited, last = "", [], None
    for last in Entry.objects.order_by("pk").iterator():
        if last.seal != last.digest(before):
            edited.append(f"row {last.pk} ({last.action})")
        before = last.seal
    ends = f", the last is {last.pk} with the seal {last.seal[:16]}" if last else ""
    fix = f"Each of them, or the row before it, was edited, taken out or put in. {RESEAL}"
    return _check("log", edited, "not in the chain of seals", fix, Entry.objects.count(), ends)


def _files() -> Iterator[Check]:
    storage = submission_storage()
    rows = Submission.objects.exclude(file="")
    missing, changed = [], []
    for key, name, expected in rows.values_list("key", "file", "sha256").iterator():
        digest = None
        with suppress(FileNotFoundError), storage.open(name) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest is None and rows.filter(key=key, file=name).exists():  # not deleted meanwhile
            missing.append(f"{name} of submission {key}")
        elif digest not in (None, expected):
            changed.append(f"{name} of submission {key}")
    yield _check("missing files", missing, "not there", "Restore them from a backup.", rows.count())
    yield _check("file contents", changed, "not what was sent", "Restore them from a backup.", rows.count())
    unnamed = orphans(UPLOAD_TIME)
    yield _check("orphan files", unnamed, "of no submission", "Delete them.", len(unnamed))


def _check(name: str, bad: Sequence[str], wrong: str, fix: str, count: int, also: str = "") -> Check:
    if not bad:
        return Check(name, f"{count} looked at{also}.")
    more = f" and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
    return Check(name, f"{len(bad)} {wrong}: {', '.join(bad[:NAMED])}{more}.", fix)
