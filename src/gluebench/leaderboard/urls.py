"""Every address of the site. A page's JSON twin has the same address with .json."""

from __future__ import annotations

from django.urls import include, path

from gluebench.leaderboard.boards import views as boards
from gluebench.leaderboard.submissions import views as submissions

urlpatterns = [
    path("", boards.home, name="home"),
    path("benchmarks/<slug:name>", boards.board, name="board"),
    path("benchmarks/<slug:name>.json", boards.board_json, name="board-json"),
    path(
        "benchmarks/<slug:name>/diagnostics/<str:task>.json", boards.diagnostics_json, name="diagnostics-json"
    ),
    path("benchmarks/<slug:name>/diagnostics/<str:task>", boards.diagnostics, name="diagnostics"),
    path("benchmarks/<slug:name>/submit", submissions.submit, name="submit"),
    path("submissions", submissions.mine, name="my-submissions"),
    path("submissions/<slug:key>", submissions.submission, name="submission"),
    path("submissions/<slug:key>.json", submissions.submission_json, name="submission-json"),
    path("submissions/<slug:key>/detail", submissions.detail, name="submission-detail"),
    path("submissions/<slug:key>/status.json", submissions.status_json, name="submission-status"),
    path("submissions/<slug:key>/publish", submissions.publish, name="submission-publish"),
    path("submissions/<slug:key>/file", submissions.download, name="submission-file"),
    path("account/", include("allauth.account.urls")),
]
