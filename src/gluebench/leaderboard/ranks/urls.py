"""Addresses of the pages about ranks, pairs and costs; each has a twin with .json and a table with .csv."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.ranks import compare_views, views

urlpatterns = [
    path(f"benchmarks/<slug:name>/{word}{ending}", view, {"form": ending.strip(".")}, name=word + ending)
    for word, view in (
        ("rules", views.rules),
        ("pairs", views.pairs),
        ("efficiency", views.efficiency),
        ("compare", compare_views.compare),
    )
    for ending in ("", ".json", ".csv")
]
