"""The log: one row for each act of an organizer or admin, and for each change of labels or policy.

Rows refer to other tables by keys, not by relations, so that they outlive those rows and import no app.
They are a chain: the seal of each covers the seal of the row before, so that none can be edited, deleted
or inserted without the site's key.
"""

import json
import logging
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from gluebench.leaderboard.apps.common.formats import portable


def seal(kind: str, *values: Any) -> str:
    """HMAC-SHA256 of these values under a key derived from the site's secret key."""
    text = json.dumps([kind, portable(values)], sort_keys=True, separators=(",", ":"))
    return salted_hmac("gluebench.seal", text, algorithm="sha256").hexdigest()


SEAL = "seal"
"""The action of an entry that only seals what an act wrote that has an entry of its own."""
LOCK = 0x676C7565  # any number that no other lock of the database uses

logger = logging.getLogger(__name__)


def lock_log() -> None:
    """Let no other transaction add to the log, or to the public ledger, until this one ends."""
    if connection.vendor == "postgresql":  # SQLite lets one write at a time anyway
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


class Entry(models.Model):
    """One act. Rows are added and never changed."""

    at = models.DateTimeField(default=timezone.now)
    actor = models.BigIntegerField(null=True)
    """The account that did it, by number; none for what the site or its command line did."""
    action = models.CharField(max_length=40)
    """The kind of act: "policy", "mark", "labels"."""
    benchmark = models.CharField(max_length=80, blank=True, db_index=True)
    """Its name, as in its address."""
    submission = models.CharField(max_length=12, blank=True, db_index=True)
    """Its key, as in its address."""
    reason = models.CharField(max_length=400, blank=True)
    detail = models.JSONField(default=dict)
    seal = models.CharField(max_length=64, default="", editable=False)

    SEALED = ["at", "actor", "action", "benchmark", "submission", "reason", "detail"]

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name = "entry of the log"
        verbose_name_plural = "log"

    def __str__(self) -> str:
        return self.action

    def save(self, *arguments: Any, **options: Any) -> None:
        """Add a row to the end of the chain."""
        with transaction.atomic():
            if self._state.adding:
                lock_log()
                last = Entry.objects.order_by("-pk").values_list("seal", flat=True).first()
                self.seal = self.digest(last or "")
            super().save(*arguments, **options)
        logger.info("Log entry %s, %s: seal %s", self.pk, self.action, self.seal)

    def digest(self, before: str) -> str:
        """The seal that it must have after a row with the seal `before`."""
        return seal("log", before, *(getattr(self, name) for name in self.SEALED))


def record(
    action: str,
    *,
    actor: Any = None,
    benchmark: Any = None,
    submission: Any = None,
    reason: str = "",
    **detail: Any,
) -> Entry:
    """Put what an account did with a benchmark or submission in the log, in the transaction of the act."""
    return Entry.objects.create(
        actor=None if actor is None else actor.pk,
        action=action,
        benchmark="" if benchmark is None else benchmark.name,
        submission="" if submission is None else submission.key,
        reason=reason,
        detail=detail,
    )
