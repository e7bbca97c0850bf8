"""What an account can do with its webhooks. No act logs the address, which may hold a secret."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.webhooks.models import Event, Webhook

BETWEEN_TESTS = timedelta(minutes=1)


def add_webhook(webhook: Webhook) -> str:
    """Store a new webhook. Returns its secret."""
    with transaction.atomic():
        webhook.save()
        _record("webhook", webhook)
    return webhook.secret


def delete_webhook(webhook: Webhook) -> None:
    """Delete it with its log."""
    with transaction.atomic():
        _record("webhook deleted", webhook)
        webhook.delete()


def try_webhook(webhook: Webhook) -> None:
    """Send it a test, and begin again with one that was stopped. Raises ActError for a second in a minute."""
    now = timezone.now()
    since = now - BETWEEN_TESTS
    if webhook.deliveries.filter(event__startswith="test_", created__gt=since).exists():
        raise ActError("You may test a webhook once a minute.", "webhook")
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook.pk).update(failures=0)
        webhook.queue([Event("test", secrets.token_hex(8), now, {}, webhook.owner_id)])


def _record(action: str, webhook: Webhook) -> None:
    record(action, actor=webhook.owner, benchmark=webhook.benchmark, webhook=webhook.pk)
