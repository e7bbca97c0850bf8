"""Maintenance tasks of a worker: every few seconds between submissions, and once a day."""

import logging
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from gluebench.leaderboard.apps.accounts.models import Token
from gluebench.leaderboard.apps.common.signals import maintenance_due
from gluebench.leaderboard.apps.news.delivery import deliver
from gluebench.leaderboard.apps.organizing.copying import make_copies
from gluebench.leaderboard.apps.ranks import renewing
from gluebench.leaderboard.apps.results.acts import make_due
from gluebench.leaderboard.apps.submissions import grading
from gluebench.leaderboard.apps.webhooks import delivery as webhooks
from gluebench.leaderboard.serving import health

EVERY = timedelta(days=1)
AFTER_FAILURE = timedelta(minutes=10)
TASKS_KEPT = timedelta(days=1)
MAIL_KEPT = timedelta(days=30)
UPLOADS_KEPT = timedelta(days=1)
"""How long an unfinished upload is kept; a process that was killed may leave one."""
TOKENS_KEPT = timedelta(days=30)
"""How long an expired token is still listed, so that its owner sees why a program is refused."""

logger = logging.getLogger(__name__)


def run_all() -> None:
    """Run every task that is due. One that fails is logged and tried again soon; the others still run."""
    due = (
        grading.sweep,
        grading.reveal_due,
        grading.phases_due,
        renewing.enqueue_outdated,
        make_due,
        deliver,
    )
    _run(health.beat, *due, run_daily_when_due, _forget_tasks)


def send_all() -> None:
    """Send what receivers may be slow to take: webhooks. Run it apart from the other tasks."""
    _run(webhooks.deliver)


def copy_all() -> None:
    """Make the frozen copies that organizers asked for. Run it apart from the other tasks."""
    _run(make_copies)


def _run(*tasks: Callable[[], object]) -> None:
    for task in tasks:
        try:
            task()
        except Exception:
            logger.exception("%s failed; it is tried again soon.", task.__name__)


class _Clock:
    """When the daily tasks are due, by the monotonic clock; None before the first run."""

    due: float | None = None


def run_daily_when_due() -> bool:
    """Run the daily tasks at the worker's start and then once a day; return whether they ran."""
    now = time.monotonic()
    if _Clock.due is not None and now < _Clock.due:
        return False
    _Clock.due = now + AFTER_FAILURE.total_seconds()
    run_daily()
    _Clock.due = now + EVERY.total_seconds()
    return True


def run_daily() -> None:
    """Delete expired data; safe at any time, and in several workers at once."""
    now = timezone.now()
    maintenance_due.send(None)
    renewing.forget_caches()
    Token.objects.filter(expires__lt=now - TOKENS_KEPT).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    _forget_older(settings.FOLDER.mail, MAIL_KEPT)  # mail that was not sent holds addresses and links
    _forget_older(settings.FOLDER.uploads, UPLOADS_KEPT)


def _forget_older(folder: Path, kept: timedelta) -> None:
    """Delete what is in a folder and older than this."""
    end = time.time() - kept.total_seconds()
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):  # another worker does the same
            if path.stat().st_mtime < end:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _forget_tasks() -> None:
    DBTaskResult.objects.finished().filter(finished_at__lt=timezone.now() - TASKS_KEPT).delete()
