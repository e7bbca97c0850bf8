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
from gluebench.leaderboard.common.signals import account_exported


def export(user: User) -> IO[bytes]:
    """The zip, open for reading; it is gone from the disk when it is closed."""
    made = tempfile.TemporaryFile(dir=settings.FOLDER.uploads)  # noqa: SIM115 - the answer closes it
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        facts = account_facts(user)
        answers: list[tuple[Any, Any]] = account_exported.send(User, user=user, archive=archive)
        for _, more in answers:
            facts |= more
        archive.writestr("account.json", as_json(facts))
    made.seek(0)
    return made


def account_facts(user: User) -> dict[str, Any]:
    """The account without secrets; other apps add what they hold."""
    return {
        "email": user.email,
        "joined": user.date_joined,
        "last_signed_in": user.last_login,
        "team": user.team.name if user.team else None,
        "admin": user.is_superuser,
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "primary", "verified")),
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at")),
        "sessions": list(
            UserSession.objects.filter(user=user).values("created_at", "last_seen_at", "ip", "user_agent")
        ),
        "tokens": list(user.tokens.values("name", "scopes", "created", "expires", "used")),
    }


def as_json(facts: Any) -> str:
    """Facts as a file of the export."""
    return json.dumps(facts, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)
