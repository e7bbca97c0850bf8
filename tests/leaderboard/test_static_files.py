from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.staticfiles.finders import AppDirectoriesFinder

from gluebench.leaderboard import urls
from gluebench.leaderboard.apps.limits.models import Override


def collected() -> set[str]:
    ignored = apps.get_app_config("staticfiles").ignore_patterns
    return {path for path, _ in AppDirectoriesFinder().list(ignored)}


def test_every_file_that_the_admin_pages_name_is_collected(rf: Any) -> None:
    """One that is not there would be an error of its page: production asks for names by content."""
    assert urls.urlpatterns, "importing them registers the admin pages"
    chosen = AutocompleteSelect(Override._meta.get_field("user"), admin.site)
    media = chosen.media
    for model_admin in admin.site._registry.values():
        media += model_admin.media
    named = {*media._js, *(path for paths in media._css.values() for path in paths)}
    assert len(named) > 10
    assert named <= collected()


def test_what_no_page_names_stays_out() -> None:
    found = collected()
    assert any(path.startswith("ninja/swagger") for path in found)
    assert not [path for path in found if path.endswith(".map") or "redoc" in path]
