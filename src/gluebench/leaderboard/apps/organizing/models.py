"""What organizing keeps beside a benchmark: its frozen copy and its dry run."""

from django.db import models
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark


class FrozenCopy(models.Model):
    """The frozen copy of a benchmark that an organizer asked for: a zip, once a worker has made it."""

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="frozen_copy")
    requested = models.DateTimeField(default=timezone.now)
    labels = models.BooleanField(default=False)
    """Whether it has the labels, and the predictions of the public rows."""
    worker = models.CharField(max_length=80, blank=True)
    """The worker that makes it; another worker begins again when this one has died."""
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=200, blank=True)
    made = models.DateTimeField(null=True)
    file = models.CharField(max_length=200, blank=True)
    """Its name in the storage "data"."""
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)


class DryRun(models.Model):
    """The last dry run of a benchmark: no submission, on no board, and without any prediction."""

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="dry_run")
    by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    gold = models.CharField(max_length=200, blank=True)
    """The folder of labels it was graded on."""
    results = models.JSONField(null=True)
    """For "perfect", "majority" and "broken": verdict, score, scores by task, messages; None until done."""
    failure = models.CharField(max_length=200, blank=True)
