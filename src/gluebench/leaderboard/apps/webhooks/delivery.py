"""Deliver events to webhooks, signed as Standard Webhooks says; a failed delivery is tried again, later."""

import hmac
import time
from base64 import b64encode
from datetime import timedelta
from http.client import HTTPException
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.webhooks.models import MOST_FAILURES, Delivery, Webhook, tell_of_phases
from gluebench.leaderboard.apps.webhooks.sending import post
from gluebench.version import __version__

MOST_ATTEMPTS = 7
GONE = 410
"""The status by which a receiver asks for no more."""


def deliver() -> int:
    """Queue what phases have to tell, and send what is due; returns how many attempts it made.

    Webhooks take turns, so that none waits for all events of another one or for its slow answers to them.
    """
    tell_of_phases()
    attempts = 0
    while attempts < 100 and (rows := _next_of_each()):
        for row in rows:
            if _claim(row):
                _attempt(row)
                attempts += 1
    return attempts


def _next_of_each() -> list[Delivery]:
    """Of each webhook the delivery that is due for the longest time."""
    due = Delivery.objects.filter(due__lte=timezone.now(), webhook__failures__lt=MOST_FAILURES)
    turn = Window(RowNumber(), partition_by="webhook", order_by=["due", "pk"])
    return list(due.annotate(turn=turn).filter(turn=1).select_related("webhook").order_by("due", "pk"))


def _claim(row: Delivery) -> bool:
    """Take an attempt, unless another worker has; if this one dies, the next comes after the usual wait."""
    wait = timedelta(seconds=30 * 5**row.attempts)  # half a minute, then longer, to a day
    mine = Delivery.objects.filter(pk=row.pk, due=row.due)
    return bool(mine.update(attempts=F("attempts") + 1, due=timezone.now() + wait))


def _attempt(row: Delivery) -> None:
    """Send an event, and note how it went and what comes next."""
    webhook = row.webhook
    at = str(int(time.time()))
    seal = hmac.digest(webhook.key, f"{row.event}.{at}.{row.body}".encode(), "sha256")
    headers = {
        "webhook-id": row.event,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{b64encode(seal).decode()}",
        "Content-Type": "application/json",
        "User-Agent": f"gluebench/{__version__}",
    }
    status = 0
    try:
        status = post(webhook.url, headers, row.body.encode())
        answer = str(status)
    except (OSError, ValueError, HTTPException) as error:
        answer = str(error) or type(error).__name__
    is_delivered = status // 100 == 2
    values: Values = {"answer": answer[:200]}
    if is_delivered or status == GONE or row.attempts + 1 >= MOST_ATTEMPTS:
        values["due"] = None
    Delivery.objects.filter(pk=row.pk).update(**values)
    failures: Any = F("failures") + 1
    if is_delivered:
        failures = 0
    elif status == GONE:
        failures = MOST_FAILURES
    Webhook.objects.filter(pk=webhook.pk).update(failures=failures)
