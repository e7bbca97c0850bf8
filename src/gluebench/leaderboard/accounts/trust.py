"""Whose an account is: anybody may sign up with any address, so roles are for confirmed ones alone.

Also what an operator does about accounts: admins, confirmed addresses, links that no mail server delivers.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from allauth.account import app_settings
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.folder import SiteError


def confirmed(user: User) -> bool:
    """Whether somebody has shown that this account's address is theirs."""
    own = EmailAddress.objects.filter(user=user, email=user.email.lower(), verified=True)
    return bool(own.exists())


def require_confirmed(users: Iterable[User]) -> None:
    """Raise ValidationError if nobody has shown that the address of one of these accounts is theirs.

    Whatever is given to a person by naming an address asks this first: anybody may have signed up with it.
    """
    emails = ", ".join(user.email for user in users if not confirmed(user))
    if emails:
        raise ValidationError(
            f"Not confirmed: {emails}. Anybody may have signed up with such an address. "
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


def vouch(email: str) -> str:
    """Hand an account over, and make it if there is none; returns the path of its new password."""
    with transaction.atomic():
        user = _of(email) or _new(email)
        hand_over(user)
        record("address confirmed", account=user.pk, by="command line")
    return reset_path(user)


def make_admin(email: str, *, unconfirmed: bool = False) -> str:
    """Make this account an admin, and the account if there is none; returns its new random password."""
    password = secrets.token_urlsafe(15)
    with transaction.atomic():
        user = _of(email)
        if user is not None and not unconfirmed:
            require_vouched(user)
        user = user or _new(email)
        user.is_staff = user.is_superuser = user.is_active = True
        user.set_password(password)
        user.save()
        revoke(user, confirm=True)
        record("admin", account=user.pk, by="command line")
    return password


def first_admin(email: str) -> str | None:
    """Make this account an admin if the site has none; returns its password then."""
    has_admin = User.objects.filter(is_superuser=True, is_active=True).exists()
    return None if has_admin else make_admin(email)


def account(email: str) -> User:
    """The account with this address. Raises SiteError."""
    user = _of(email)
    if user is None:
        raise SiteError(
            f"There is no account with the address {email}. Its owner signs up on the site first. "
            f"Or make the account for them: gluebench leaderboard confirm {email}"
        )
    return user


def _of(email: str) -> User | None:
    return User.objects.filter(email__iexact=email).first()


def _new(email: str) -> User:
    try:
        validate_email(email)
    except ValidationError:
        raise SiteError(f"{email!r} is not an email address.") from None
    return User.objects.create_user(email)


def require_vouched(user: User) -> None:
    """As `require_confirmed`, for the command line. Raises SiteError."""
    try:
        require_confirmed([user])
    except ValidationError as error:
        raise SiteError(
            f"{error.message} (`admin` and `organiser` give the role all the same with --unconfirmed.)"
        ) from None


def unconfirmed() -> QuerySet[EmailAddress]:
    """The addresses that nobody has confirmed, the newest account first."""
    addresses: QuerySet[EmailAddress] = EmailAddress.objects.filter(verified=False, user__is_active=True)
    return addresses.select_related("user").order_by("-user__date_joined", "-pk")


def confirmation_path(address: EmailAddress) -> str:
    """Where this address is confirmed; good for a week."""
    return reverse("account_confirm_email", args=[EmailConfirmationHMAC.create(address).key])


def reset_path(user: User) -> str:
    """Where this account gets a new password; good once, and for three days."""
    key = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    return reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key})
