"""The app's entry in Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Submissions."""

    name = "gluebench.leaderboard.submissions"

    def ready(self) -> None:
        """Grade again when a benchmark changes; connect exports, deletion and maintenance."""
        from gluebench.leaderboard import common
        from gluebench.leaderboard.submissions import acts, facts, grading

        common.benchmark_changed.connect(grading.regrade)
        common.account_exported.connect(facts.export_submissions)
        common.account_deleted.connect(acts.anonymise)
        common.maintenance_due.connect(acts.forget_old_files)
        common.maintenance_due.connect(acts.forget_orphans)
