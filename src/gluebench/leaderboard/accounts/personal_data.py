"""Export and deletion of all that the site knows of a person."""

from __future__ import annotations

import json
import secrets
import tempfile
import zipfile
from typing import IO, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import revoke
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.common.signals import account_deleted, account_exported
from gluebench.leaderboard.folder import SiteError


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


def delete_account(user: User) -> None:
    """Delete all about a person; scores stay without a name.

    The apps that hold something of theirs delete it on the signal `account_deleted`. Raises SiteError while a
    submission of theirs is being graded, and for the only admin.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        _require_deletable(user)
        record("account deleted", account=user.pk)
        account_deleted.send(User, user=user)
        _forget(user)


def _require_deletable(user: User) -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise SiteError("You are the only admin of this site. Make somebody else one first.")


def _forget(user: User) -> None:
    revoke(user)
    EmailAddress.objects.filter(user=user).delete()
    LogEntry.objects.filter(user=user).delete()
    user.email = f"{secrets.token_hex(8)}@deleted.invalid"
    user.first_name = user.last_name = ""
    user.team = None
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
