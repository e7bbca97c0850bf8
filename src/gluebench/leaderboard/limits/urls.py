"""Addresses of an organiser's limits and of one's team."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.limits import views

LIMITS = "benchmarks/<slug:name>/organise/limits"

urlpatterns = [
    path(LIMITS, views.policy, name="limits"),
    path(f"{LIMITS}/exceptions", views.override, name="override"),
    path(f"{LIMITS}/exceptions/<int:pk>/remove", views.override_end, name="override-remove"),
    path("account/team", views.team, name="team"),
    path("account/team/join/<slug:code>", views.team_join, name="team-join"),
    path("account/team/leave", views.team_leave, name="team-leave"),
    path("account/team/renew", views.team_renew, name="team-renew"),
]
