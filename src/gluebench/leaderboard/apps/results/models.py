"""The final results of a benchmark: when they were announced, and the archive once it is made."""

from django.db import models
from django.utils import timezone

from gluebench.leaderboard.apps.benchmarks.models import Benchmark


class Results(models.Model):
    """The final results of one benchmark."""

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="results")
    announced = models.DateTimeField(default=timezone.now)
    labels = models.BooleanField(default=False)
    """Whether the archive has the test labels."""
    made = models.DateTimeField(null=True)
    """When the archive was made: once everything is graded and ranked. Null until then."""
    file = models.CharField(max_length=200, blank=True)
    """Its name in the storage "data"."""
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    places = models.JSONField(default=list)
    """The first of the final table, as `pack.systems_with_ranks` gives them."""
    leaders = models.TextField(blank=True)
    """Which systems may be the best, as a sentence."""
