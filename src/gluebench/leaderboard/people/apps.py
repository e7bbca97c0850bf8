"""The app's entry in Django."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """People."""

    name = "gluebench.leaderboard.people"
    label = "people"

    def ready(self) -> None:
        """Connect what accounts hold of it."""
        from gluebench.leaderboard.common.signals import account_deleted, account_exported
        from gluebench.leaderboard.people.studies import export_labels, leave_studies

        account_exported.connect(export_labels)
        account_deleted.connect(leave_studies)
