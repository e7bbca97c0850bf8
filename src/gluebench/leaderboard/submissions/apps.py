"""The app's entry in Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Submissions."""

    name = "gluebench.leaderboard.submissions"
    label = "submissions"

    def ready(self) -> None:
        """Grade again when a benchmark changes; connect exports, deletion and maintenance."""
        from gluebench.leaderboard import common as signals
        from gluebench.leaderboard.submissions import facts, grading, retention

        signals.benchmark_changed.connect(grading.regrade)
        signals.account_exported.connect(facts.export_submissions)
        signals.account_deleted.connect(retention.anonymise)
        signals.maintenance_due.connect(retention.forget_old_files)
        signals.maintenance_due.connect(retention.forget_orphans)
