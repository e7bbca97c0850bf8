"""Ownership of accounts: anybody may sign up with any address, so roles require a confirmed one.

Also an operator's actions on accounts (admins, confirmed addresses, links where no mail is sent),
and the export and deletion of all that the site knows of a person.
"""

import json
import secrets
import tempfile
import zipfile
from collections.abc import Iterable
from typing import IO, Any

from allauth.account import app_settings
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from gluebench.leaderboard.apps.accounts.models import Scope, User, leave, teams_of
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.common.signals import account_deleted, account_exported
from gluebench.leaderboard.keeping.folder import SiteError


def has_confirmed_address(user: User) -> bool:
    """Whether this account's address is confirmed."""
    own = EmailAddress.objects.filter(user=user, email=user.email.lower(), verified=True)
    return bool(own.exists())


def may_create(user: User) -> bool:
    """Whether an account may create benchmarks in the browser."""
    return user.is_superuser or (settings.RUNNING.create == "accounts" and has_confirmed_address(user))


def role_of(user: Any) -> str:
    """The role of a visitor in the navigation: "organizer", "participant", or "" without an account."""
    if not user.is_authenticated:
        return ""
    organizes = may_create(user) or user.organized.exists() or user.reviewed.exists()
    return "organizer" if organizes else "participant"


def scopes_for(user: User) -> list[Scope]:
    """The scopes of tokens that this account has a use for."""
    organizes = user.is_superuser or user.organized.exists()
    scopes = [Scope.READ, Scope.SUBMIT]
    if organizes:
        scopes.append(Scope.GRADE)
    if organizes or user.reviewed.exists() or may_create(user):
        scopes.append(Scope.ORGANIZE)
    return scopes


def require_confirmed(users: Iterable[User]) -> None:
    """Raise ValidationError if the address of one of these accounts is not confirmed.

    Call it before granting something to an address: anybody may have signed up with it.
    """
    emails = ", ".join(user.email for user in users if not has_confirmed_address(user))
    if emails:
        raise ValidationError(
            f"Not confirmed: {emails}. Anybody may have signed up with such an address. "
            "Its owner follows the link that confirms it, or who runs the site hands them the account: "
            "gluebench leaderboard confirm EMAIL"
        )


def revoke(user: User, *, confirm: bool = False) -> None:
    """Revoke all access to an account except by its password.

    Its tokens, second factors, sessions and providers to sign in with end; so does a change of address that
    is not confirmed, which would lead to a new password. With `confirm`, its address counts as confirmed
    from now on.
    """
    with transaction.atomic():
        user.tokens.all().delete()
        Authenticator.objects.filter(user=user).delete()
        SocialAccount.objects.filter(user=user).delete()
        for session in UserSession.objects.filter(user=user):
            session.end()
        EmailAddress.objects.filter(user=user).exclude(email=user.email.lower()).delete()
        if confirm:
            EmailAddress.objects.update_or_create(
                user=user, email=user.email.lower(), defaults={"primary": True, "verified": True}
            )


def hand_over(user: User) -> None:
    """Confirm an account's address, and end all former access: the new owner uses `reset_path`."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    revoke(user, confirm=True)


def vouch(email: str) -> str:
    """Hand an account over, or create it; return the path on which its owner sets a password."""
    with transaction.atomic():
        user = _account_of(email) or _new_account(email)
        hand_over(user)
        record("address confirmed", account=user.pk, by="command line")
    return reset_path(user)


def make_admin(email: str, *, unconfirmed: bool = False) -> str:
    """Make this account an admin, or create one; return its new random password."""
    password = secrets.token_urlsafe(15)
    with transaction.atomic():
        user = _account_of(email)
        if user is not None and not unconfirmed:
            require_vouched(user)
        user = user or _new_account(email)
        user.is_staff = user.is_superuser = user.is_active = True
        user.set_password(password)
        user.save()
        revoke(user, confirm=True)
        record("admin", account=user.pk, by="command line")
    return password


def first_admin(email: str) -> str | None:
    """Make this account an admin if the site has none, and return its password; else None."""
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        return None
    return make_admin(email)


def account(email: str) -> User:
    """The account with this address. Raises SiteError."""
    user = _account_of(email)
    if user is None:
        raise SiteError(
            f"There is no account with the address {email}. Its owner signs up on the site first. "
            f"Or make the account for them: gluebench leaderboard confirm {email}"
        )
    return user


def _account_of(email: str) -> User | None:
    return User.objects.filter(email__iexact=email).first()


def _new_account(email: str) -> User:
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
            f"{error.message} (`admin` and `organizer` give the role all the same with --unconfirmed.)"
        ) from None


def addresses_to_confirm() -> QuerySet[EmailAddress]:
    """The addresses that are not confirmed, the newest account first."""
    addresses: QuerySet[EmailAddress] = EmailAddress.objects.filter(verified=False, user__is_active=True)
    return addresses.select_related("user").order_by("-user__date_joined", "-pk")


def confirmation_path(address: EmailAddress) -> str:
    """The path that confirms this address; valid for a week."""
    return reverse("account_confirm_email", args=[EmailConfirmationHMAC.create(address).key])


def reset_path(user: User) -> str:
    """The path on which this account sets a new password; valid once, for three days."""
    key = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)
    return reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key})


def export(user: User) -> IO[bytes]:
    """A zip of the account without secrets, open for reading; closing it deletes it.

    Other apps add their data on the signal `account_exported`.
    """
    facts: dict[str, Any] = {
        "email": user.email,
        "name": user.name,
        "joined": user.date_joined,
        "last_signed_in": user.last_login,
        "teams": list(user.memberships.values("team__name", "team__benchmark__name", "since", "until")),
        "admin": user.is_superuser,
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "primary", "verified")),
        "second_factors": list(Authenticator.objects.filter(user=user).values("type", "created_at")),
        "sign_in_with": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "date_joined")
        ),
        "sessions": list(
            UserSession.objects.filter(user=user).values("created_at", "last_seen_at", "ip", "user_agent")
        ),
        "tokens": list(user.tokens.values("name", "scopes", "created", "expires", "used")),
    }
    export_file = tempfile.TemporaryFile(dir=settings.FOLDER.uploads)  # noqa: SIM115 - the answer closes it
    with zipfile.ZipFile(export_file, "w", zipfile.ZIP_DEFLATED) as archive:
        answers: list[tuple[Any, Any]] = account_exported.send(User, user=user, archive=archive)
        for _, more in answers:
            facts |= more
        archive.writestr("account.json", json_text(facts))
    export_file.seek(0)
    return export_file


def json_text(facts: Any) -> str:
    """Return facts as JSON text for a file of the export."""
    return json.dumps(facts, cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)


def delete_account(user: User) -> None:
    """Delete a person's account and data; scores stay without a name.

    Other apps delete their data on the signal `account_deleted`. Raises SiteError while a
    submission of theirs is being graded, and for the only admin.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not others.exists():
            raise SiteError("You are the only admin of this site. Make another account an admin first.")
        record("account deleted", account=user.pk)
        account_deleted.send(User, user=user)
        revoke(user)
        EmailAddress.objects.filter(user=user).delete()
        LogEntry.objects.filter(user=user).delete()
        user.email = f"{secrets.token_hex(8)}@deleted.invalid"
        user.name = user.first_name = user.last_name = ""
        for team in teams_of(user).values():
            leave(user, team)
        user.is_active = user.is_staff = user.is_superuser = False
        user.set_unusable_password()
        user.save()
