"""Adapters of allauth: unsent mail, limits on guessing, confirmation, encryption, texts of forms."""

import base64
import hashlib
import logging
import secrets
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from allauth.account import forms as allauth
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.core import context as current
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.models import SocialAccount
from cryptography.fernet import Fernet
from django import forms
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, TimestampSigner
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import hand_over, has_confirmed_address, reset_path, revoke
from gluebench.leaderboard.apps.common.mail import is_final
from gluebench.leaderboard.serving.environment import site_address

KNOWN_BROWSER = "known-browser"
"""Cookie of a browser in which its account signed in before."""
KNOWN_SECONDS = 365 * 24 * 3600
WAITS = [timedelta(seconds=seconds) for seconds in (10, 60, 600, 3600, 4 * 3600)]
"""How long a mail that the server did not take waits before each further attempt."""

logger = logging.getLogger(__name__)


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]
    """The site's own rules."""

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Where signing in leads: organizers who have sent nothing to what they organize."""
        user = request.user
        if isinstance(user, User) and user.organized.exists() and not user.submissions.exists():
            return reverse("organizing")
        return str(super().get_login_redirect_url(request))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send it. Its links have the configured address, whatever the request's Host header says."""
        own = site_address(settings.RUNNING, settings.FOLDER)
        host = urlsplit(own).hostname
        site = {"name": host, "domain": host}
        message = self.render_mail(template_prefix, email, {**context, "email": email, "current_site": site})
        body = message.body.replace(current.request.build_absolute_uri("/"), f"{own}/")
        _send(message.subject, body, email, attempt=0)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm it. Without a session of the account, hand it over: another may have signed up with it."""
        account = request.user.pk
        if account is None:  # perhaps one that signs in and waits for its address to be confirmed
            stage = LoginStageController.enter(request, EmailVerificationStage.key)
            if stage and stage.login.user:
                account = stage.login.user.pk
        done: bool = super().confirm_email(request, email_address)
        if done and account != email_address.user_id:
            hand_over(email_address.user)
        return done

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        """The next page: setting a password, if the account was just handed over."""
        user = email_address.user
        if not user.has_usable_password() and not SocialAccount.objects.filter(user=user).exists():
            return reset_path(user)
        return str(super().get_email_verification_redirect_url(email_address))

    def post_login(self, request: HttpRequest, user: User, **details: Any) -> HttpResponseBase:
        """Sign in, and set the cookie that marks this browser as known."""
        response: HttpResponseBase = super().post_login(request, user, **details)
        response.set_cookie(
            KNOWN_BROWSER,
            _signer(user.email).sign(secrets.token_urlsafe(12)),
            max_age=KNOWN_SECONDS,
            path=settings.SESSION_COOKIE_PATH,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
        return response

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count by account, whatever the Host; browsers that the account knows are counted apart."""
        email = str(credentials.get("email", "")).lower()
        if request.user.is_authenticated and request.user.email.lower() == email:
            return f"{email} signed in"
        try:
            browser = _signer(email).unsign(request.COOKIES.get(KNOWN_BROWSER, ""), max_age=KNOWN_SECONDS)
        except BadSignature:
            browser = ""
        return f"{email} {browser}"


def _send(subject: str, body: str, email: str, attempt: int) -> None:
    """Send a mail, or log that it was not sent: the links are on the admin pages.

    One that the server does not take now is sent again, later, by a worker.
    """
    try:
        EmailMessage(subject, body, to=[email]).send()
    except OSError as error:  # smtplib's errors are such too
        logger.warning("The mail %r could not be sent: %s", subject, error)
        if not is_final(error) and attempt < len(WAITS):
            sealed = _cipher("mail").encrypt(body.encode()).decode()
            later = send_again.using(run_after=timezone.now() + WAITS[attempt])
            later.enqueue(subject, sealed, email, attempt + 1)


@task(priority=-10)  # as that of rankings: below that of gradings
def send_again(subject: str, sealed: str, email: str, attempt: int) -> None:
    """Send a mail once more. Its text is encrypted, as links in it open accounts."""
    _send(subject, _cipher("mail").decrypt(sealed).decode(), email, attempt)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts the secrets of second factors with the site's key: a copy of the database opens no account."""

    def encrypt(self, text: str) -> str:
        """The secret as it is stored."""
        return _cipher("second factor").encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The secret itself."""
        return _cipher("second factor").decrypt(encrypted_text.encode()).decode()


def _cipher(what: str) -> Fernet:
    key = hashlib.sha256(f"gluebench {what}\0".encode() + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


@receiver(password_reset)
def prove(request: HttpRequest, user: User, **_: Any) -> None:
    """Confirm the address by a password reset, and revoke access that was set up before."""
    if not has_confirmed_address(user):
        revoke(user, confirm=True)


def _signer(email: str) -> TimestampSigner:
    return TimestampSigner(salt=f"{KNOWN_BROWSER} {email.lower()}")


PASSWORD_HELP = "At least 10 characters, no common password, and nothing like your address."
LABELS = {
    "login": "Email address",
    "email": "Email address",
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "New password again",
}
"""Labels of the library's fields."""


class RelabeledForm(forms.Form):
    """A form of the library with this site's labels, without placeholders that repeat them."""

    labels = LABELS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.label = self.labels.get(name, field.label)
            if name == "password1":
                field.help_text = PASSWORD_HELP


def _relabel_form(form: type[forms.Form], **labels: str) -> type[forms.Form]:
    return type(form.__name__, (RelabeledForm, form), {"labels": LABELS | labels})


LoginForm = _relabel_form(allauth.LoginForm)
ReauthenticateForm = _relabel_form(allauth.ReauthenticateForm)
AddEmailForm = _relabel_form(allauth.AddEmailForm, email="New email address")
ChangePasswordForm = _relabel_form(allauth.ChangePasswordForm)
SetPasswordForm = _relabel_form(allauth.SetPasswordForm)
ResetPasswordKeyForm = _relabel_form(allauth.ResetPasswordKeyForm)


class ResetPasswordForm(RelabeledForm, allauth.ResetPasswordForm):  # type: ignore[misc]
    """Asking for the link that lets one choose a new password."""

    def clean_email(self) -> str:
        """The address. One that an account is only changing to is not its own yet, and opens nothing."""
        email: str = super().clean_email()
        users: list[User] = self.users  # type: ignore[has-type]
        self.users = [user for user in users if user.email.lower() == email.lower()]
        return email


class SignupForm(RelabeledForm, allauth.SignupForm):  # type: ignore[misc]
    """An account by email address and password."""

    labels = LABELS | {"password1": "Password"}

    def try_save(self, request: HttpRequest) -> Any:
        """As its parent does, and as slow for an address that has an account as for one that has none."""
        if self.account_already_exists:
            User().set_password(self.cleaned_data["password1"])
        return super().try_save(request)
