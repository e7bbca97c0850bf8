"""The app's entry in Django."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """People."""

    name = "gluebench.leaderboard.people"
    label = "people"
