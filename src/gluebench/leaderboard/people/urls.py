"""Addresses of studies: the organiser's, the annotators', and the results."""

from __future__ import annotations

from django.urls import path

from gluebench.leaderboard.people import label, organise, results

ORGANISE = "benchmarks/<slug:name>/organise/people"
RESULTS = "benchmarks/<slug:name>/people/<slug:key>"

urlpatterns = [
    path(ORGANISE, organise.overview, name="organise-people"),
    path(f"{ORGANISE}/<slug:key>", organise.one, name="organise-study"),
    path(f"{ORGANISE}/<slug:key>/sheets.zip", organise.download, name="organise-study-sheets"),
    path(RESULTS, results.result, name="people"),
    path(f"{RESULTS}.json", results.result_json, name="people-json"),
    path(f"{RESULTS}.csv", results.result_csv, name="people-csv"),
    path("label/<slug:code>", label.start, name="label"),
    path("label/<slug:code>/<int:number>", label.place, name="label-place"),
]
