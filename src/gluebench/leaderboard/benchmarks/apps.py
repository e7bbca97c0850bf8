"""The app's entry in Django."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """Benchmarks."""

    name = "gluebench.leaderboard.benchmarks"
    label = "benchmarks"

    def ready(self) -> None:
        """Connect what accounts hold of it."""
        from gluebench.leaderboard.benchmarks.organisers import export_organised, remove_from_all
        from gluebench.leaderboard.common.signals import account_deleted, account_exported

        account_exported.connect(export_organised)
        account_deleted.connect(remove_from_all)
