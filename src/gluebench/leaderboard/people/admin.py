"""Studies on the admin pages: to be looked at; organisers' pages act on them."""

from __future__ import annotations

from django.contrib import admin

from gluebench.leaderboard.audit.admin import ReadOnlyAdmin
from gluebench.leaderboard.people.models import Study


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    """What was drawn and what came of it, without the texts."""

    list_display = ("key", "benchmark", "task", "created", "open", "public", "scored")
    list_filter = ("benchmark", "open", "public")
    search_fields = ("key", "task")
    exclude = ("texts", "drawn")
