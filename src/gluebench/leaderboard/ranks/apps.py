"""The app's entry in Django."""

from django.apps import AppConfig


class RanksConfig(AppConfig):
    """Ranks."""

    name = "gluebench.leaderboard.ranks"
    label = "ranks"
