"""The log: one row for each act of an organiser or admin, and for each change of labels or policy.

Beside it, what the report of near-identical predictions rests on.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Submission


class Entry(models.Model):
    """One act. Rows are added and never changed."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    """Who did it; nobody for what the site or its command line did."""
    action = models.CharField(max_length=40)
    """A word for the act: "quota", "verify", "labels"."""
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.CASCADE, related_name="log")
    submission = models.ForeignKey(Submission, null=True, on_delete=models.CASCADE, related_name="log")
    reason = models.CharField(max_length=400, blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name = "entry of the log"
        verbose_name_plural = "log"

    def __str__(self) -> str:
        return self.action


class Sample(models.Model):
    """Some of a submission's predictions, kept so that two can be compared without opening their files."""

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="sample")
    files = models.JSONField()
    """As `audit.samples.take_sample` gives them."""


class Comparison(models.Model):
    """The last time that a benchmark's submissions were compared with each other."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.CASCADE, related_name="comparison")
    at = models.DateTimeField(auto_now=True)
    submissions = models.PositiveIntegerField()
    """How many were compared."""
    pairs = models.JSONField()
    """Primary keys of two submissions and the share of equal predictions, nearest first."""


def record(
    action: str,
    *,
    actor: User | None = None,
    benchmark: Benchmark | None = None,
    submission: Submission | None = None,
    reason: str = "",
    **detail: Any,
) -> Entry:
    """Put an act in the log: in the transaction of the act itself."""
    return Entry.objects.create(
        actor=actor, action=action, benchmark=benchmark, submission=submission, reason=reason, detail=detail
    )
