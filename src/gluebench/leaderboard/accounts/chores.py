"""What the worker does once a day: forget what need not be kept."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from gluebench.leaderboard.accounts.models import Token
from gluebench.leaderboard.submissions.retention import forget_old_files

EVERY = timedelta(days=1)
MAIL_KEPT = timedelta(days=30)
TOKENS_KEPT = timedelta(days=30)
"""How long an expired token is still listed, so that its owner sees why a program is refused."""


class _Clock:
    due: datetime | None = None


def do_when_due() -> bool:
    """Do the chores if a day has passed since, or since the worker started; returns whether."""
    now = timezone.now()
    if _Clock.due is not None and now < _Clock.due:
        return False
    _Clock.due = now + EVERY
    do()
    return True


def do() -> None:
    """All of them; each may be done at any time, and by several workers."""
    now = timezone.now()
    forget_old_files()
    Token.objects.filter(expires__lt=now - TOKENS_KEPT).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    _forget_mail()


def _forget_mail() -> None:
    """Mail that was not sent holds addresses and links."""
    end = time.time() - MAIL_KEPT.total_seconds()
    for path in settings.FOLDER.mail.glob("*"):
        if path.is_file() and path.stat().st_mtime < end:
            path.unlink(missing_ok=True)
