"""A submission from a file of this machine, by the same way as an upload; for demonstrations and imports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.files import File

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import confirmed
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.submissions.grading import grade
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.text import require_fields
from gluebench.leaderboard.uploads.accept import accept, digest


def submit_file(benchmark: str, email: str, path: Path, *, details: Mapping[str, Any]) -> str:
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
        submission = Submission(owner=owner, benchmark=row, sha256=sha256, **details)
        require_fields(submission, details, what=f"The submission {submission.name!r}")
        accept(submission, file, limited=False)
    # At once, not by a worker that may not be running; the task in the queue will find it done.
    grade(submission.pk)
    return submission.key
