"""The app's entry in Django."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Audit."""

    name = "gluebench.leaderboard.audit"
    label = "audit"
