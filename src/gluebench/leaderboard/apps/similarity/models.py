"""Models of the report on near-duplicate submissions."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.dispatch import receiver

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.signals import files_deleted
from gluebench.leaderboard.apps.submissions.models import Submission


class Sample(models.Model):
    """Some of a submission's predictions, kept so that two can be compared without opening their files."""

    submission = models.OneToOneField(Submission, models.CASCADE, related_name="sample")
    files = models.JSONField()
    """As `samples.take_sample` gives them."""


class Comparison(models.Model):
    """The last time that a benchmark's submissions were compared with each other."""

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="comparison")
    at = models.DateTimeField(auto_now=True)
    submissions = models.PositiveIntegerField()
    """How many were compared."""
    pairs = models.JSONField()
    """Primary keys of two submissions and the share of equal predictions, nearest first."""


@receiver(files_deleted)
def delete_samples(submissions: Iterable[int], **_: Any) -> None:
    """Delete the samples of submissions whose files are deleted."""
    Sample.objects.filter(submission__in=submissions).delete()
