"""Exceptions from quotas on the admin pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from gluebench.leaderboard.audit.admin import LoggedAdmin
from gluebench.leaderboard.limits.models import Override


@admin.register(Override)
class OverrideAdmin(LoggedAdmin):
    """Other limits for one person or team, and why."""

    list_display = ["benchmark", "user", "team", "per_day", "per_month", "total", "until", "reason", "by"]
    list_filter = ["benchmark"]
    list_select_related = ["benchmark", "user", "team", "by"]
    search_fields = ["user__email", "team__name", "reason"]
    autocomplete_fields = ["benchmark", "user", "team"]
    exclude = ["by"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Whose decision it is."""
        obj.by = request.user
        super().save_model(request, obj, form, change)
