"""The app's entry in Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Submissions."""

    name = "gluebench.leaderboard.apps.submissions"

    def ready(self) -> None:
        """Grade again when a benchmark changes; connect exports, deletion and maintenance."""
        from gluebench.leaderboard.apps.common import signals
        from gluebench.leaderboard.apps.submissions import acts, facts, grading

        signals.benchmark_changed.connect(grading.follow_benchmark)
        signals.benchmark_due.connect(grading.follow_clock)
        signals.account_exported.connect(facts.export_submissions)
        signals.account_deleted.connect(acts.anonymize)
        signals.maintenance_due.connect(acts.forget_old_files)
        signals.maintenance_due.connect(acts.forget_orphans)
