"""Addresses of what is done with submissions; those of reading them are in the site's own list."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.submissions import changes, organise

ORGANISE = "benchmarks/<slug:name>/organise"

urlpatterns = [
    path("submissions/<slug:key>/edit", changes.edit, name="submission-edit"),
    path("submissions/<slug:key>/publish", changes.publish, name="submission-publish"),
    path("submissions/<slug:key>/withdraw", changes.withdraw, name="submission-withdraw"),
    path(ORGANISE, organise.submissions, name="organise"),
    path(f"{ORGANISE}/regrade", organise.regrade_all, name="organise-regrade"),
    path(f"{ORGANISE}/log", organise.log, name="organise-log"),
    path(f"{ORGANISE}/submissions/<slug:key>", organise.one, name="organise-one"),
]
