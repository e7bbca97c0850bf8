"""The app's entry in Django."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """Limits."""

    name = "gluebench.leaderboard.limits"
    label = "limits"
