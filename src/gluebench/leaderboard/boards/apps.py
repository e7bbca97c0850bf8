"""The app's entry in Django."""

from django.apps import AppConfig


class BoardsConfig(AppConfig):
    """Boards."""

    name = "gluebench.leaderboard.boards"
    label = "boards"
