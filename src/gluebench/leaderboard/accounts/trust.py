"""Whose an account is: anybody may sign up with any address, so roles are for confirmed ones alone."""

from __future__ import annotations

from collections.abc import Iterable

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.db import transaction

from gluebench.leaderboard.accounts.models import User


def confirmed(user: User) -> bool:
    """Whether somebody has shown that this account's address is theirs."""
    own = EmailAddress.objects.filter(user=user, email=user.email.lower(), verified=True)
    return bool(own.exists())


def require_confirmed(users: Iterable[User]) -> None:
    """Raise ValidationError if nobody has shown that the address of one of these accounts is theirs.

    Whatever is given to a person by naming an address asks this first: anybody may have signed up with it.
    """
    unconfirmed = ", ".join(user.email for user in users if not confirmed(user))
    if unconfirmed:
        raise ValidationError(
            f"Not confirmed: {unconfirmed}. Anybody may have signed up with such an address. "
            "Its owner follows the link that confirms it, or who runs the site hands them the account: "
            "gluebench leaderboard confirm EMAIL"
        )


def revoke(user: User, *, confirm: bool = False) -> None:
    """End what an account was used with until now, except for its password.

    Its tokens, second factors and sessions end; so does a change of address that is not confirmed, which
    would lead to a new password. With `confirm`, its address counts as confirmed from now on.
    """
    with transaction.atomic():
        user.tokens.all().delete()
        Authenticator.objects.filter(user=user).delete()
        for session in UserSession.objects.filter(user=user):
            session.end()
        EmailAddress.objects.filter(user=user).exclude(email=user.email.lower()).delete()
        if confirm:
            EmailAddress.objects.update_or_create(
                user=user, email=user.email.lower(), defaults={"primary": True, "verified": True}
            )


def hand_over(user: User) -> None:
    """Confirm an account's address for whoever gets `reset_path`; who held it until now holds nothing."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    revoke(user, confirm=True)
