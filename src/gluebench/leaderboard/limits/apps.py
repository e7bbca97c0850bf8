"""The app's entry in Django."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """Limits."""

    name = "gluebench.leaderboard.limits"
    label = "limits"

    def ready(self) -> None:
        """Connect what accounts hold of it."""
        from gluebench.leaderboard.common.signals import account_deleted, account_exported
        from gluebench.leaderboard.limits.policies import delete_overrides, export_overrides

        account_exported.connect(export_overrides)
        account_deleted.connect(delete_overrides)
