"""What the grader's process computed from predictions and labels, kept for pages to show."""

from __future__ import annotations

from django.db import models

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Submission


class Ranking(models.Model):
    """How sure the ranks of a benchmark's board are, as last computed."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.CASCADE, related_name="ranking")
    version = models.PositiveBigIntegerField(default=0)
    """The version of the board that it is of: of another version it may not stand on the board."""
    stamp = models.CharField(max_length=64, blank=True)
    """What it was computed from, as a digest: the same systems and labels need no second time."""
    since = models.DateTimeField(null=True)
    """Since when the board shows something that it is not of; null when it is up to date."""
    asked = models.DateTimeField(null=True)
    """When a worker was last asked for it; null when none is computing it."""
    at = models.DateTimeField(null=True)
    """When it was computed."""
    failure = models.CharField(max_length=200, blank=True)
    """Why there is none for this stamp."""
    board = models.JSONField(null=True)
    """Systems and their ranks by rule, as `analysis.board.rank_all` gives them; null for fewer than two."""
    pairs = models.JSONField(null=True)
    """All pairs, and what holds under every rule."""

    def __str__(self) -> str:
        return f"{self.benchmark}"


class Pair(models.Model):
    """Two systems compared on the same examples."""

    a = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    """The older one."""
    b = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    stamp = models.CharField(max_length=64)
    """Of the gradings and labels that it is of, as a digest."""
    asked = models.DateTimeField()
    at = models.DateTimeField(null=True)
    """When it was computed; null while it waits."""
    failure = models.CharField(max_length=200, blank=True)
    found = models.JSONField(null=True)
    """The comparison of `gluebench.comparison/1` as it may be shown."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["a", "b"], name="one_per_pair")]

    def __str__(self) -> str:
        return f"{self.a} and {self.b}"
