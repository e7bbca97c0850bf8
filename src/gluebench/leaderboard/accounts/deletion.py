"""Closing an account: scores stay without a name, everything about the person goes."""

from __future__ import annotations

import secrets

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.db import transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import revoke
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.common.signals import account_deleted
from gluebench.leaderboard.folder import SiteError


def delete_account(user: User) -> None:
    """Delete all about a person.

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
