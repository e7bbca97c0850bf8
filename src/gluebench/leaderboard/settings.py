"""Django's settings, from the site's folder and a few environment variables (docs/leaderboard.md)."""

from __future__ import annotations

import os
from typing import Any

from gluebench.leaderboard import folder
from gluebench.version import __version__

FOLDER = folder.from_environment()
HERE = os.path.dirname(__file__)


def _listed(variable: str) -> list[str]:
    return [value.strip() for value in os.environ.get(variable, "").split(",") if value.strip()]


SECRET_KEY = FOLDER.secret_key()
DEBUG = False
HTTPS = os.environ.get("GLUEBENCH_HTTPS") == "1"
"""Whether a proxy in front speaks HTTPS: cookies are then marked secure."""

HOSTS = _listed("GLUEBENCH_HOSTS")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *HOSTS]
CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in HOSTS]

INSTALLED_APPS = [
    "gluebench.leaderboard.accounts",
    "gluebench.leaderboard.benchmarks",
    "gluebench.leaderboard.submissions",
    "gluebench.leaderboard.boards",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "csp",
    "django_tasks",
    "django_tasks_db",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "gluebench.leaderboard.urls"
WSGI_APPLICATION = "gluebench.leaderboard.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        # The board: thousands of cells, which Django's own templates render nine times slower.
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [os.path.join(HERE, "jinja2")],
        "OPTIONS": {"environment": "gluebench.leaderboard.boards.jinja.environment"},
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
                "gluebench.leaderboard.boards.context.site",
            ],
            "builtins": ["gluebench.leaderboard.boards.templatetags.scores"],
        },
    },
]

# Without IMMEDIATE and the wait, a third of concurrent uploads fail with "database is locked".
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(FOLDER.database),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA mmap_size=134217728;"
                "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000;"
            ),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "default"},
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "TIMEOUT": None,
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "submissions": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(FOLDER.submissions),
            "file_permissions_mode": folder.PRIVATE_FILE,
            "directory_permissions_mode": folder.PRIVATE_FOLDER,
        },
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
STATIC_URL = "static/"
STATIC_ROOT = str(FOLDER.static)
STATICFILES_DIRS = [os.path.join(HERE, "static")]

FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = str(FOLDER.uploads)
FILE_UPLOAD_PERMISSIONS = folder.PRIVATE_FILE
DATA_UPLOAD_MAX_NUMBER_FILES = 4

UPLOAD_BYTES = 16 * 1024 * 1024
"""Largest submission taken; a full GLUE zip is about 1 MB."""
GRADER_SECONDS = 120
"""Time a submission may take to check and grade."""
GRADER_BYTES = 2 * 1024**3
"""Address space of the process that checks and grades."""
LEASE_SECONDS = 30
"""How long a worker that gave no sign of life keeps the submission it was grading."""
GRADER_ATTEMPTS = 3
"""Workers that may die over one submission before it counts as failed."""

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "my-submissions"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_REMEMBER = True
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = str(FOLDER.mail)

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008"]  # HTTPS is the proxy's part

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"waitress.queue": {"level": "ERROR"}, "django.request": {"level": "ERROR"}},
}
VERSION = __version__
