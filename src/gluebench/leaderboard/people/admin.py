"""Studies on the admin pages, without the texts: to be looked at; organizers' pages act on them."""

from __future__ import annotations

from django.contrib import admin

from gluebench.leaderboard.audit.admin import ReadOnlyAdmin
from gluebench.leaderboard.people.models import Study

admin.site.register(
    Study,
    ReadOnlyAdmin,
    list_display=("key", "benchmark", "task", "created", "open", "public", "scored"),
    list_filter=("benchmark", "open", "public"),
    search_fields=("key", "task"),
    exclude=("texts", "drawn"),
)
