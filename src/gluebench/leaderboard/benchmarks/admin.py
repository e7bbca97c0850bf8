"""Benchmarks on the admin pages: who organizes them, and whether they are open."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from gluebench.leaderboard.accounts.trust import require_confirmed
from gluebench.leaderboard.audit.admin import LoggedAdmin
from gluebench.leaderboard.benchmarks.models import Benchmark


class BenchmarkForm(forms.ModelForm):  # type: ignore[type-arg]
    """What an admin changes about a benchmark."""

    def clean_organisers(self) -> Any:
        """The organizers; new ones have a confirmed address."""
        chosen = self.cleaned_data["organisers"]
        require_confirmed(chosen.exclude(pk__in=self.instance.organisers.values("pk")))
        return chosen


@admin.register(Benchmark)
class BenchmarkAdmin(LoggedAdmin):
    """Benchmarks. The manifest and the labels come by `gluebench leaderboard add`."""

    list_display = ["title", "name", "open", "systems", "added"]
    list_filter = ["open"]
    search_fields = ["name", "title"]
    readonly_fields = ["name", "title", "added", "version", "settings", "gold_digest", "manifest"]
    fields = ["name", "title", "open", "organisers", *readonly_fields[2:]]
    autocomplete_fields = ["organisers"]
    form = BenchmarkForm
    may_add = may_delete = False  # labels do not travel through a browser, and scores hang on a benchmark

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Pages show whether it is open. What the form does not ask for may have changed meanwhile."""
        obj.save(
            update_fields={field.name for field in obj._meta.concrete_fields}.intersection(form.changed_data)
        )
        Benchmark.objects.filter(pk=obj.pk).touch()

    @admin.display(description="On the board")
    def systems(self, benchmark: Any) -> int:
        """Entries that its board shows."""
        return int(benchmark.submissions.public().count())
