"""A person's submissions, in the export of an account."""

from __future__ import annotations

import zipfile
from typing import Any

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.personal_data import as_json
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions.models import Submission

SUBMISSION = (
    *("key", *FIELDS, "kind", "verified", "public", "approved"),
    *("published", "withdrawn", "filename", "sha256", "size", "status", "submitted", "finished", "why"),
    *("verdict", "problems", "report", "failure"),
)
"""`report` is the part that its author may see; full gradings are the organiser's."""


def export_submissions(*, user: User, archive: zipfile.ZipFile, **_: Any) -> dict[str, Any]:
    """Write `submissions.json` and the submitted files."""
    submissions = Submission.objects.owned_by(user).select_related("benchmark", "group")
    archive.writestr("submissions.json", as_json([submission_facts(each) for each in submissions]))
    for each in submissions.exclude(file=""):
        with (
            each.file.open("rb") as source,
            archive.open(f"files/{each.key}.zip", "w", force_zip64=True) as target,
        ):
            for piece in source.chunks():
                target.write(piece)
    return {}


def submission_facts(submission: Submission) -> dict[str, Any]:
    """What its author may know of a submission, with its edits."""
    return {
        **{name: getattr(submission, name) for name in SUBMISSION},
        "benchmark": submission.benchmark.name,
        "group": submission.group.name if submission.group else None,
        "edits": list(submission.revisions.values("at", "changes")),
    }
