"""Addresses of what is done with submissions; those of reading them are in the site's own list."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.submissions import organise, views

ORGANISE = "benchmarks/<slug:name>/organise"

urlpatterns = [
    path("submissions/<slug:key>/edit", views.edit, name="submission-edit"),
    path("submissions/<slug:key>/publish", views.publish, name="submission-publish"),
    path("submissions/<slug:key>/withdraw", views.withdraw, name="submission-withdraw"),
    path(ORGANISE, organise.submissions, name="organise"),
    path(f"{ORGANISE}/regrade", organise.regrade_all, name="organise-regrade"),
    path(f"{ORGANISE}/log", organise.log, name="organise-log"),
    path(f"{ORGANISE}/submissions/<slug:key>", organise.one, name="organise-one"),
]
