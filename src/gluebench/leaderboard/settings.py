"""Django's settings, from the site's folder and a few environment variables (docs/how-to/leaderboard.md)."""

import os
from typing import Any

from gluebench.leaderboard.keeping import folder, storage
from gluebench.leaderboard.serving import environment, logs
from gluebench.version import __version__

os.umask(0o077)  # only the site's own account may read the files that it writes

FOLDER = folder.from_environment()
HERE = os.path.dirname(__file__)
RUNNING = environment.require()

SECRET_KEY = RUNNING.key or FOLDER.secret_key()
DEBUG = False
HTTPS = RUNNING.https
"""Whether a proxy in front speaks HTTPS: cookies are then marked secure."""

ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *RUNNING.hosts]
CSRF_TRUSTED_ORIGINS = []
for _host in RUNNING.hosts:
    if _host.startswith("."):  # any name below it
        _host = f"*{_host}"
    CSRF_TRUSTED_ORIGINS.append(f"https://{_host}")

INSTALLED_APPS = [
    # From the lowest: each imports only `common` and those before it.
    "gluebench.leaderboard.apps.audit",
    "gluebench.leaderboard.apps.accounts",
    "gluebench.leaderboard.apps.benchmarks",
    "gluebench.leaderboard.apps.phases",
    "gluebench.leaderboard.apps.submissions",
    "gluebench.leaderboard.apps.similarity",
    "gluebench.leaderboard.apps.limits",
    "gluebench.leaderboard.apps.annotation.Annotation",
    "gluebench.leaderboard.apps.ranks",
    "gluebench.leaderboard.apps.boards",
    "gluebench.leaderboard.apps.results",
    "gluebench.leaderboard.apps.ledger",
    "gluebench.leaderboard.apps.news",
    "gluebench.leaderboard.apps.webhooks",
    "gluebench.leaderboard.apps.organizing",
    "django.contrib.admin.apps.SimpleAdminConfig",  # admin.py finds its pages, in the web process alone
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "gluebench.leaderboard.keeping.storage.StaticFiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "django.contrib.humanize",
    "csp",
    "ninja",  # for the files of its documentation page
    "django_tasks",
    "django_tasks_db",
]

MIDDLEWARE = [
    "gluebench.leaderboard.serving.middleware.observe",
    # Those that write headers come first, so that static files, refusals and "not modified" have them too.
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "gluebench.leaderboard.serving.middleware.own_host",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "gluebench.leaderboard.apps.common.parameters.refuse_unknown_parameters",
]

FORCE_SCRIPT_NAME = RUNNING.path or None
ROOT_URLCONF = "gluebench.leaderboard.urls"

TEMPLATES: list[dict[str, Any]] = [
    {
        # The board: thousands of cells, which Django's own templates render nine times slower.
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [os.path.join(HERE, "jinja2")],
        "OPTIONS": {"environment": "gluebench.leaderboard.apps.boards.pages.environment"},
    },
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [os.path.join(HERE, "templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "gluebench.leaderboard.apps.boards.pages.site",
                "gluebench.leaderboard.apps.limits.views.quota",
            ],
            "builtins": [
                "gluebench.leaderboard.apps.boards.pages",
                "gluebench.leaderboard.apps.boards.position",
            ],
        },
    },
]

DATABASES = {"default": storage.database(RUNNING.database, FOLDER)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

_SHARED = "django.core.cache.backends.db.DatabaseCache"
_LOCAL = "django.core.cache.backends.locmem.LocMemCache"
# With the usual 300 entries, the cache is soon full and forgets guesses.
_COUNTS = {"LOCATION": "site_cache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
CACHES = {
    # Limits on guessing are counted here, by all processes on one database together.
    "default": {"BACKEND": _SHARED, **_COUNTS},
    # Requests to the interface: one web process counts them in its memory, as a write for each would slow it.
    "rates": {"BACKEND": _SHARED if RUNNING.several else _LOCAL, **_COUNTS},
    "pages": {
        "BACKEND": _LOCAL,
        "LOCATION": "pages",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    **storage.storages_of(RUNNING.bucket, FOLDER),
    "staticfiles": {"BACKEND": "gluebench.leaderboard.keeping.storage.StaticStorage"},
}
STATIC_URL = f"{RUNNING.path}/static/"
STATIC_ROOT = str(FOLDER.static)
CHARTS = os.path.join(HERE, "..", "analysis", "static")
STATICFILES_DIRS = [os.path.join(HERE, "static"), ("charts", CHARTS)]
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = str(FOLDER.uploads)
FILE_UPLOAD_PERMISSIONS = folder.PRIVATE_FILE
DATA_UPLOAD_MAX_NUMBER_FILES = 12

UPLOAD_BYTES = RUNNING.upload_mb * 1024**2
GRADER_SECONDS = RUNNING.grading_seconds
GRADER_BYTES = RUNNING.grading_mb * 1024**2
RANKING_SECONDS = 600
"""Time the ranks of a board, or the comparison of two systems, may take."""
LEASE_SECONDS = 10
"""How long a worker that gave no sign of life keeps the submission it was grading."""
GRADER_ATTEMPTS = 3
"""Workers that may die over one submission before it counts as failed."""

MAIL_IS_SENT = RUNNING.mail is not None
"""Without a mail server, organizers find the links on the admin pages."""
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = str(FOLDER.mail)
EMAIL_TIMEOUT = 10
if RUNNING.mail:
    EMAIL_BACKEND = "gluebench.leaderboard.apps.common.mail.Backend"
    EMAIL_HOST = RUNNING.mail.host
    EMAIL_PORT = RUNNING.mail.port
    EMAIL_HOST_USER = RUNNING.mail.user
    EMAIL_HOST_PASSWORD = RUNNING.mail.password
    EMAIL_USE_TLS = RUNNING.mail.scheme == "smtp+tls"
    EMAIL_USE_SSL = RUNNING.mail.scheme == "smtps"
    DEFAULT_FROM_EMAIL = SERVER_EMAIL = RUNNING.mail.sender

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
ACCOUNT_ADAPTER = "gluebench.leaderboard.apps.accounts.adapter.Adapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    name: f"gluebench.leaderboard.apps.accounts.adapter.{form}"
    for name, form in {
        "login": "LoginForm",
        "reauthenticate": "ReauthenticateForm",
        "signup": "SignupForm",
        "add_email": "AddEmailForm",
        "change_password": "ChangePasswordForm",
        "reset_password": "ResetPasswordForm",
        "reset_password_from_key": "ResetPasswordKeyForm",
        "set_password": "SetPasswordForm",
    }.items()
}
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = RUNNING.verify or ("mandatory" if MAIL_IS_SENT else "optional")
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 7
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# Otherwise rate limits on guessing could lock out an owner who has just confirmed the address by a reset.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
# Five wrong passwords for one account in five minutes, or ten from one address in a minute, are the limit.
# A browser that the account knows has a separate five: guesses from elsewhere do not lock out the owner.
# A class of students behind one address may sign up and in at the same minute.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/300s/key", "login": "120/m/ip", "signup": "60/m/ip"}
ALLAUTH_TRUSTED_PROXY_COUNT = 0  # the web server has already put the visitor's address in its place

SOCIALACCOUNT_ADAPTER = "gluebench.leaderboard.apps.accounts.provider.SignInAdapter"
SOCIALACCOUNT_FORMS = {"signup": "gluebench.leaderboard.apps.accounts.provider.ProviderSignupForm"}
SOCIALACCOUNT_PROVIDERS: dict[str, dict[str, Any]] = {
    "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": []},
    "github": {"OAUTH_PKCE_ENABLED": True, "APPS": []},
}
for _provider in RUNNING.sign_in:
    _kind = "openid_connect" if _provider.issuer else "github"
    _app = {
        "provider_id": _provider.key if _provider.issuer else _kind,
        "name": _provider.name,
        "client_id": _provider.client,
        "secret": _provider.secret,
        "settings": {"server_url": _provider.issuer.rstrip("/"), "issuer": _provider.issuer},
    }
    SOCIALACCOUNT_PROVIDERS[_kind]["APPS"].append(_app)

MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_ADAPTER = "gluebench.leaderboard.apps.accounts.adapter.SecondFactorAdapter"
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "gluebench"
# If addresses need no confirmation, unconfirmed accounts may have a second factor too.
MFA_ALLOW_UNVERIFIED_EMAIL = ACCOUNT_EMAIL_VERIFICATION == "optional"
# Browsers offer passkeys over plain HTTP on localhost alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS

KEEP_DAYS = RUNNING.keep_days
API_PER_MINUTE = {
    "account": RUNNING.api_per_minute,
    "visitor": RUNNING.api_per_minute,
    "check": 30,
    "wrong-token": 30,
    "work": 3000,
}
"""Requests to the interface in a minute: of an account; of an address that sends no token; free checks of an
account; wrong tokens of an address; of an organizer's machines that grade."""

_NOTHING = ["'none'"]
_OURS = ["'self'"]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": _NOTHING,
        **dict.fromkeys(
            ("script-src", "style-src", "font-src", "img-src", "connect-src", "form-action"), _OURS
        ),
        "base-uri": _NOTHING,
        "frame-ancestors": _NOTHING,
    }
}
# Another site of the same host gets none of these cookies, and may use the usual names for its own.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{RUNNING.path}/"
SESSION_COOKIE_NAME = f"sessionid{RUNNING.path.replace('/', '_')}"
CSRF_COOKIE_NAME = f"csrftoken{RUNNING.path.replace('/', '_')}"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # its cookie has no path
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008"]  # the proxy handles HTTPS

LANGUAGE_CODE = "en-gb"
USE_I18N = False
TIME_ZONE = "UTC"

LOGGING = logs.config(RUNNING.log_format, RUNNING.log_level)
VERSION = __version__
