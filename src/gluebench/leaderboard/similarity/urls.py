"""Addresses of the organizer's page of near-duplicate submissions."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.similarity import views

ALIKE = "benchmarks/<slug:name>/organise/alike"

urlpatterns = [
    path(ALIKE, views.alike, name="organise-alike"),
    path(f"{ALIKE}/compare", views.compare, name="organise-compare"),
]
