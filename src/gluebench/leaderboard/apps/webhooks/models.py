"""Webhooks, and the deliveries of events to them, which are written in the transaction of the event."""

import json
from base64 import b64encode
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import salted_hmac

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import (
    account_deleted,
    account_exported,
    maintenance_due,
    submissions_changed,
)
from gluebench.leaderboard.apps.news.models import Announcement
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import OPEN
from gluebench.leaderboard.apps.webhooks.sending import parts_of

MOST_FAILURES = 20
"""Failed attempts in a row after which nothing more is sent."""
NEWS = timedelta(days=1)
"""Older events are not told, such as those of a site that did not run."""
KEPT = timedelta(days=30)


class Event(NamedTuple):
    """Something that happened."""

    type: str
    key: str
    """Unique among events of this type."""
    at: datetime
    data: dict[str, Any]
    owner: int | None = None
    """The account whose submission it is about."""


def https_address(url: str) -> None:
    """Raise ValidationError unless events may be sent to such an address."""
    try:
        parts_of(url)
    except ValueError as error:
        raise ValidationError(str(error)) from None


class Webhook(models.Model):
    """An address that is told what happens: on a benchmark or, without one, to its owner's submissions."""

    owner = models.ForeignKey(User, models.CASCADE, related_name="webhooks")
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, null=True, blank=True, related_name="webhooks")
    url = models.CharField(max_length=400, validators=[https_address])
    created = models.DateTimeField(default=timezone.now)
    failures = models.PositiveSmallIntegerField(default=0)
    """Failed attempts since the last that succeeded."""

    def __str__(self) -> str:
        return self.url

    @property
    def key(self) -> bytes:
        """What its requests are signed with; it changes with the site's secret key."""
        return salted_hmac("gluebench.webhooks", f"{self.pk} {self.url}", algorithm="sha256").digest()

    @property
    def secret(self) -> str:
        """The key as its owner enters it at the receiver."""
        return f"whsec_{b64encode(self.key).decode()}"

    @property
    def is_stopped(self) -> bool:
        """Whether it failed so often that nothing is sent any more."""
        return self.failures >= MOST_FAILURES

    def queue(self, events: Iterable[Event]) -> None:
        """Queue those events that came after this webhook and are not queued yet."""
        since = max(self.created, timezone.now() - NEWS)
        bodies = {}
        for event in events:
            concerns_it = self.benchmark_id is not None or event.owner == self.owner_id
            if concerns_it and event.at >= since:
                name = f"{event.type.replace('.', '_')}_{event.key}"
                values = {"type": event.type, "timestamp": event.at.isoformat(), "data": event.data}
                bodies[name] = json.dumps(values)
        there = set(self.deliveries.filter(event__in=bodies).values_list("event", flat=True))
        rows = [Delivery(webhook=self, event=name, body=bodies[name]) for name in bodies if name not in there]
        Delivery.objects.bulk_create(rows, ignore_conflicts=True)


class Delivery(models.Model):
    """One event for one webhook: queued, tried, and kept for some time as the log."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=100)
    """The identifier of the event, the same in each attempt."""
    body = models.TextField()
    due = models.DateTimeField(null=True, default=timezone.now)
    """When it is tried next; null once it succeeded, or failed for good."""
    attempts = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(max_length=200, default="")
    """The status of the last answer, or why there was none."""
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["webhook", "event"], name="one_delivery_per_event")]


def queue_events(benchmark: Benchmark, events: Collection[Event]) -> None:
    """Queue events of a benchmark for the webhooks that may hear of them."""
    concerned = models.Q(benchmark=benchmark)
    concerned |= models.Q(benchmark=None, owner__in={event.owner for event in events} - {None})
    working = Webhook.objects.filter(concerned, failures__lt=MOST_FAILURES, owner__is_active=True)
    for webhook in working.select_related("owner"):
        if webhook.benchmark_id is None or benchmark.has_organizer(webhook.owner):
            webhook.queue(events)


@receiver(submissions_changed)
def tell_of_submissions(submissions: Collection[int], **_: Any) -> None:
    """Tell of those that are final, in the transaction of the change; an event is told once."""
    if not Webhook.objects.exists():
        return
    rows = Submission.objects.filter(pk__in=submissions, attempts__gt=0, finished__isnull=False)
    rows = rows.exclude(status__in=OPEN).defer("report", "problems", "scores").select_related("benchmark")
    events: dict[Benchmark, list[Event]] = {}
    for row in rows:
        assert row.finished is not None  # by the filter above
        data = {"benchmark": row.benchmark.name, "key": row.key, "path": row.get_absolute_url()}
        event = Event(
            f"submission.{row.status}", f"{row.key}_{row.attempts}", row.finished, data, row.owner_id
        )
        events.setdefault(row.benchmark, []).append(event)
    for benchmark, of_it in events.items():
        queue_events(benchmark, of_it)


@receiver(models.signals.post_save, sender=Announcement)
def tell_of_announcement(instance: Announcement, created: bool, **_: Any) -> None:
    """Tell of a new announcement."""
    if created:
        data = {"benchmark": instance.benchmark.name, "title": instance.title, "address": instance.address}
        queue_events(
            instance.benchmark, [Event("announcement.published", str(instance.pk), instance.at, data)]
        )


def tell_of_phases() -> None:
    """Tell of phases that opened or closed; a task of every worker, of which one succeeds."""
    now = timezone.now()
    phases = Phase.objects.filter(benchmark__webhooks__isnull=False).select_related("benchmark")
    for phase in phases.distinct():
        data = {"benchmark": phase.benchmark.name, "phase": phase.name}
        moments = {"phase.opened": phase.opens, "phase.closed": phase.over}
        events = []
        for kind, at in moments.items():
            if at and now - NEWS < at <= now:
                events.append(Event(kind, f"{phase.pk}_{at:%Y%m%d%H%M}", at, data))
        queue_events(phase.benchmark, events)


@receiver(account_exported)
def export_webhooks(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its webhooks."""
    return {"webhooks": list(user.webhooks.values("url", "benchmark__name", "created"))}


@receiver(account_deleted)
def delete_webhooks(user: User, **_: Any) -> None:
    """Delete the webhooks of a deleted account."""
    user.webhooks.all().delete()


@receiver(maintenance_due)
def forget_deliveries(**_: Any) -> None:
    """Delete old deliveries."""
    Delivery.objects.filter(created__lt=timezone.now() - KEPT).delete()
