"""Django's settings about accounts: signing in, verification of addresses, two-factor, limits on guessing."""

from __future__ import annotations

import os

from gluebench.leaderboard.folder import SiteError

APPS = ["allauth", "allauth.account", "allauth.mfa", "allauth.usersessions", "django.contrib.humanize"]

VERIFICATIONS = ("optional", "mandatory")
MAIL_IS_SENT = bool(os.environ.get("GLUEBENCH_SMTP", "").strip())
"""Whether a mail server is set. Without one, organisers find the links on the admin pages."""


def verification(asked: str, *, mail_is_sent: bool) -> str:
    """Whether people must confirm their address before they can sign in. Raises SiteError."""
    if not asked:
        return "mandatory" if mail_is_sent else "optional"
    if asked not in VERIFICATIONS:
        raise SiteError(f"GLUEBENCH_VERIFY is {asked!r}; it may be {' or '.join(VERIFICATIONS)}.")
    return asked


def keep_days(asked: str) -> int | None:
    """For how many days files of finished submissions are kept; None: for ever. Raises SiteError."""
    if not asked:
        return None
    if not asked.isascii() or not asked.isdecimal() or int(asked) < 1:
        raise SiteError(f"GLUEBENCH_KEEP_DAYS is {asked!r}; it is a number of days from 1, or nothing.")
    return int(asked)


KEEP_DAYS = keep_days(os.environ.get("GLUEBENCH_KEEP_DAYS", ""))

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "my-submissions"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"  # boards are made for everybody and show no messages
ACCOUNT_ADAPTER = "gluebench.leaderboard.accounts.adapter.Adapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    name: f"gluebench.leaderboard.accounts.forms.{form}"
    for name, form in {
        "login": "LoginForm",
        "reauthenticate": "ReauthenticateForm",
        "signup": "SignupForm",
        "add_email": "AddEmailForm",
        "change_password": "ChangePasswordForm",
        "reset_password": "ResetPasswordForm",
        "reset_password_from_key": "ResetPasswordKeyForm",
    }.items()
}
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = verification(os.environ.get("GLUEBENCH_VERIFY", ""), mail_is_sent=MAIL_IS_SENT)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 7
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# Otherwise guesses from elsewhere could still keep out who has just proven the address and chosen a password.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
# Five wrong passwords for one account in five minutes, or ten from one place in a minute, and it is to wait.
# A browser that the account knows has five of its own: guesses from elsewhere do not lock out the owner.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/300s/key"}
ALLAUTH_TRUSTED_PROXY_COUNT = 0  # the web server has already put the visitor's address in its place

MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_ADAPTER = "gluebench.leaderboard.accounts.adapter.SecondFactorAdapter"
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "gluebench"
# Where nobody has to confirm an address, an unconfirmed one may have a second factor too.
MFA_ALLOW_UNVERIFIED_EMAIL = ACCOUNT_EMAIL_VERIFICATION == "optional"
# Browsers offer passkeys over plain HTTP on localhost alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = os.environ.get("GLUEBENCH_HTTPS") != "1"
