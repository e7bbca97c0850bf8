"""The app's entry in Django."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """Benchmarks."""

    name = "gluebench.leaderboard.benchmarks"
    label = "benchmarks"
