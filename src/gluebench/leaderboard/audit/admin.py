"""The log on the admin pages, and what all admin pages have in common: each act goes into the log."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from gluebench.leaderboard.audit.models import Entry, record


def never(page: Any, request: HttpRequest, obj: Any = None) -> bool:
    """Refuse a permission: `has_add_permission = never`."""
    return False


class LoggedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Puts changes into the site's own log too, which organizers read."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Log that a row was added."""
        self._record(request, "added", obj, [])
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Log that a row was changed, with its fields."""
        changed = [name for part in message if "changed" in part for name in part["changed"]["fields"]]
        self._record(request, "changed", obj, changed)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Log that rows were deleted."""
        for obj in queryset:
            self._record(request, "deleted", obj, [])
        return super().log_deletions(request, queryset)

    def _record(self, request: HttpRequest, act: str, thing: Model, fields: list[str]) -> None:
        kind = str(thing._meta.verbose_name)
        record(f"{kind} {act}", actor=request.user, row=thing.pk, fields=fields)


class ReadOnlyAdmin(LoggedAdmin):
    """Admin pages without adding, changing and deleting."""

    has_add_permission = has_change_permission = has_delete_permission = never


admin.site.register(
    Entry,
    ReadOnlyAdmin,
    list_display=["at", "action", "actor", "benchmark", "submission", "reason"],
    list_filter=["action", "benchmark"],
    search_fields=["=actor", "reason", "=submission"],
    date_hierarchy="at",
)
