"""All that the site knows of a person, as one zip: for them to keep, or to take elsewhere."""

from __future__ import annotations

import json
import tempfile
import zipfile
from typing import IO, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.submissions.models import Submission

SUBMISSION = (
    *("key", *FIELDS, "kind", "verified", "public", "approved"),
    *("published", "withdrawn", "filename", "sha256", "size", "status", "submitted", "finished", "why"),
    *("verdict", "problems", "report", "failure"),
)
"""`report` is the part that its author may see; full gradings are the organiser's."""


def export(user: User) -> IO[bytes]:
    """The zip, open for reading; it is gone from the disk when it is closed."""
    made = tempfile.TemporaryFile(dir=settings.FOLDER.uploads)  # noqa: SIM115 - the answer closes it
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("account.json", _json(account_facts(user)))
        submissions = Submission.objects.owned_by(user).select_related("benchmark", "group")
        archive.writestr("submissions.json", _json([submission_facts(each) for each in submissions]))
        for each in submissions.exclude(file=""):
            with (
                each.file.open("rb") as source,
                archive.open(f"files/{each.key}.zip", "w", force_zip64=True) as target,
            ):
                for piece in source.chunks():
                    target.write(piece)
    made.seek(0)
    return made


def account_facts(user: User) -> dict[str, Any]:
    """The account and what hangs on it, without secrets."""
    return {
        "email": user.email,
        "joined": user.date_joined,
        "last_signed_in": user.last_login,
        "team": user.team.name if user.team else None,
        "admin": user.is_superuser,
        "organises": list(user.organised.values_list("name", flat=True)),
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "primary", "verified")),
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at")),
        "sessions": list(
            UserSession.objects.filter(user=user).values("created_at", "last_seen_at", "ip", "user_agent")
        ),
        "tokens": list(user.tokens.values("name", "scopes", "created", "expires", "used")),
        "labelled": list(
            user.annotating.values("study__benchmark__name", "study__task", "answers__item", "answers__label")
        ),
        "limits": list(user.overrides.values("benchmark__name", "reason", "created", "until")),
    }


def submission_facts(submission: Submission) -> dict[str, Any]:
    """What its author may know of a submission, with its edits."""
    return {
        **{name: getattr(submission, name) for name in SUBMISSION},
        "benchmark": submission.benchmark.name,
        "group": submission.group.name if submission.group else None,
        "edits": list(submission.revisions.values("at", "changes")),
    }


def _json(facts: Any) -> str:
    return json.dumps(facts, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)
