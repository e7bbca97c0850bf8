"""The app's entry in Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Accounts."""

    name = "gluebench.leaderboard.accounts"
    label = "accounts"
