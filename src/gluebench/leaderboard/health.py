"""What a site must reach: its database, its storage, its mail server. Django must be set up."""

from __future__ import annotations

import logging
import os
import secrets
import time
from datetime import timedelta
from socket import gethostname

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Q
from django.db.models.functions import Now

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import confirmed
from gluebench.leaderboard.checks import Check, disk
from gluebench.leaderboard.storage import PARTS
from gluebench.leaderboard.submissions.models import Submission, Worker

READY_SECONDS = 2.0
WORKER_SECONDS = timedelta(seconds=60)
"""How long a worker may give no sign of life; it does every few seconds."""

logger = logging.getLogger(__name__)


def examine() -> list[Check]:
    """Whether debugging is off, and the database and the storages answer."""
    debug = Check("debug", "off.")
    if settings.DEBUG:
        state = "DEBUG is on: errors would show visitors the site's insides."
        debug = Check("debug", state, "Set DEBUG = False.")
    return [debug, _database(), *(_storage(name) for name in PARTS)]


def pending() -> Check:
    """Whether the database answers, and has the tables of this version."""
    database = _database()
    if not database.ok:
        return database
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        state = f"It is {len(missing)} changes behind this version of gluebench."
        return Check("tables", state, "Run once, on one machine: gluebench leaderboard init")
    return Check("tables", "up to date.")


def queue() -> Check:
    """How many submissions wait, and whether a worker runs; needs the tables."""
    waiting, running = Submission.objects.waiting().count(), workers()
    state = f"{waiting} submissions wait; {running} workers give signs of life."
    fix = "" if running or not waiting else "Start a worker: gluebench leaderboard worker"
    return Check("queue", state, fix)


def roles() -> Check:
    """Whether the address of everybody with a role is confirmed; needs the tables."""
    holders = User.objects.filter(
        Q(is_superuser=True) | Q(organised__isnull=False), is_active=True
    ).distinct()
    doubtful = ", ".join(user.email for user in holders if not confirmed(user))
    if doubtful:
        state = f"Anybody may have signed up with an address that is not confirmed: {doubtful}."
        return Check("roles", state, "Hand the account to its owner: gluebench leaderboard confirm EMAIL")
    return Check("roles", "admins and organizers have confirmed addresses.")


def failing() -> list[str]:
    """The checks that fail now, each in one word; the log says why. Anybody may ask: kept for a moment."""
    if time.monotonic() > _Ready.until:
        checked = [_tables(), _storage("submissions"), disk(settings.FOLDER), _workers()]
        failures = [check for check in checked if not check.ok]
        for check in failures:
            logger.warning("Not ready: %s: %s", check.what, check.state)
        _Ready.failing = [check.what for check in failures]
        _Ready.until = time.monotonic() + READY_SECONDS
    return _Ready.failing


class _Ready:
    """The last answer of `failing`."""

    until = 0.0
    failing: list[str] = []
    tables = False


def _tables() -> Check:
    """As `pending`; once the tables are up to date, it checks only that the database answers."""
    check = _database() if _Ready.tables else pending()
    _Ready.tables = check.ok
    return check


def _workers() -> Check:
    try:
        count = workers()
    except DatabaseError:
        return Check("worker", "The database cannot be asked.", "See the other check.")
    return Check("worker", f"{count} give signs of life.", "" if count else "Start one.")


def workers() -> int:
    """Workers that gave a sign of life lately, on all machines."""
    return Worker.objects.filter(seen__gt=Now() - WORKER_SECONDS).count()


def beat() -> None:
    """Give this worker's sign of life, and forget those that gave none for a day."""
    Worker.objects.update_or_create(name=f"{gethostname()[:60]}:{os.getpid()}", defaults={"seen": Now()})
    Worker.objects.filter(seen__lt=Now() - timedelta(days=1)).delete()


def mail() -> Check:
    """Whether the mail server takes our login; no mail is sent."""
    if settings.RUNNING.mail is None:
        return Check("mail", f"no server is set; mail is written to {settings.FOLDER.mail}.")
    server = get_connection()
    state = f"{settings.EMAIL_HOST} port {settings.EMAIL_PORT}"
    try:
        server.open()
    except OSError as error:  # smtplib's own errors are OSErrors
        return Check(
            "mail", f"{state} did not let us in: {error}.", "See GLUEBENCH_SMTP in docs/how-to/deploy.md."
        )
    server.close()
    return Check("mail", f"{state} answers.")


def _database() -> Check:
    values = connection.settings_dict
    host = f" at {values['HOST']}" if values["HOST"] else ""
    state = f"{connection.display_name}: {values['NAME']}{host}"
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        why = " ".join(str(error).split()).rstrip(".?")
        return Check("database", f"{state} does not answer: {why}.", "Start it, or fix GLUEBENCH_DATABASE.")
    return Check("database", f"{state} answers.")


def _storage(name: str) -> Check:
    """Write a few bytes, read them back, delete them."""
    bucket = settings.RUNNING.bucket
    state = f"s3://{bucket.name}" if bucket else storages[name].path("")
    sent = secrets.token_bytes(16)
    try:
        storage = storages[name]
        kept = storage.save(f"check-{sent.hex()}", ContentFile(sent))
        with storage.open(kept) as file:
            same = file.read() == sent
        storage.delete(kept)
    except _storage_errors() as error:
        return Check(
            name, f"{state} cannot be written: {error}.", "See GLUEBENCH_STORAGE in docs/how-to/deploy.md."
        )
    if not same:
        return Check(name, f"{state} gave back something else than was written.", "Ask who runs it.")
    return Check(name, f"{state} is written and read.")


def _storage_errors() -> tuple[type[Exception], ...]:
    if not settings.RUNNING.bucket:
        return (OSError,)
    from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

    return (OSError, Boto3Error, BotoCoreError, ClientError)
