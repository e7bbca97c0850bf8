"""The app's entry in Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """Submissions."""

    name = "gluebench.leaderboard.submissions"
    label = "submissions"
