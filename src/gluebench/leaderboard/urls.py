"""Every address of the site. A page's JSON twin has the same address with .json."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from gluebench.leaderboard.accounts import views as accounts
from gluebench.leaderboard.api.site import addresses as api_addresses
from gluebench.leaderboard.boards import data_views
from gluebench.leaderboard.boards import views as boards
from gluebench.leaderboard.boards.exports import FORMATS, export
from gluebench.leaderboard.limits import views as limits
from gluebench.leaderboard.operations import PROBES
from gluebench.leaderboard.ranks import views as ranks
from gluebench.leaderboard.ranks.compare_views import compare
from gluebench.leaderboard.submissions import views as submissions
from gluebench.leaderboard.uploads.views import replace, submit

admin.autodiscover()

LIMITS = "benchmarks/<slug:name>/organise/limits"

handler500 = "gluebench.leaderboard.head.failed"

urlpatterns = [
    path("", boards.home, name="home"),
    *(path(address[1:], view, name=address[1:]) for address, view in PROBES.items()),
    path("benchmarks/<slug:name>", boards.board, name="board"),
    path("benchmarks/<slug:name>.json", boards.board_json, name="board-json"),
    path("benchmarks/<slug:name>/data", data_views.data, name="data"),
    path("benchmarks/<slug:name>/data.json", data_views.data_json, name="data-json"),
    path("benchmarks/<slug:name>/data/<path:path>", data_views.data_file, name="data-file"),
    path("benchmarks/<slug:name>/tasks/<str:task>.json", boards.task_json, name="task-json"),
    *(
        path(f"benchmarks/<slug:name>{task}.{ending}", export, {"ending": ending}, name=f"{kind}-{ending}")
        for ending in FORMATS
        for kind, task in (("board", ""), ("task", "/tasks/<str:task>"))
    ),
    path("benchmarks/<slug:name>/tasks/<str:task>", boards.task_board, name="task"),
    path(
        "benchmarks/<slug:name>/diagnostics/<str:task>.json", boards.diagnostics_json, name="diagnostics-json"
    ),
    path("benchmarks/<slug:name>/diagnostics/<str:task>.csv", boards.diagnostics_csv, name="diagnostics-csv"),
    path(
        "benchmarks/<slug:name>/diagnostics/<str:task>/<str:slug>.json",
        boards.phenomenon_json,
        name="phenomenon-json",
    ),
    path("benchmarks/<slug:name>/diagnostics/<str:task>/<str:slug>", boards.phenomenon, name="phenomenon"),
    path("benchmarks/<slug:name>/diagnostics/<str:task>", boards.diagnostics, name="diagnostics"),
    path("", include("gluebench.leaderboard.submissions.urls")),
    path("", include("gluebench.leaderboard.similarity.urls")),
    path("benchmarks/<slug:name>/submit", submit, name="submit"),
    path("submissions/<slug:key>/replace", replace, name="submission-replace"),
    path("submissions", submissions.mine, name="my-submissions"),
    path("submissions/<slug:key>", submissions.submission, name="submission"),
    path("submissions/<slug:key>.json", submissions.submission_json, name="submission-json"),
    path("submissions/<slug:key>.bib", boards.bibtex, name="submission-bibtex"),
    path("submissions/<slug:key>/detail", boards.detail, name="submission-detail"),
    path("submissions/<slug:key>/status.json", submissions.status_json, name="submission-status"),
    path("submissions/<slug:key>/file", submissions.download, name="submission-file"),
    path("terms", accounts.page, {"name": "terms"}, name="terms"),
    path("privacy", accounts.page, {"name": "privacy"}, name="privacy"),
    path("account/", include("gluebench.leaderboard.accounts.urls")),
    path("admin/", admin.site.urls),
    path(LIMITS, limits.policy, name="limits"),
    path(f"{LIMITS}/exceptions", limits.override, name="override"),
    path(f"{LIMITS}/exceptions/<int:pk>/remove", limits.override_end, name="override-remove"),
    path("account/team", limits.team, name="team"),
    path("account/team/join/<slug:code>", limits.team_join, name="team-join"),
    path("account/team/leave", limits.team_leave, name="team-leave"),
    path("account/team/renew", limits.team_renew, name="team-renew"),
    path("", include("gluebench.leaderboard.people.urls")),
    *(
        path(f"benchmarks/<slug:name>/{word}{ending}", view, {"form": ending.strip(".")}, name=word + ending)
        for word, view in (
            ("rules", ranks.rules),
            ("pairs", ranks.pairs),
            ("efficiency", ranks.efficiency),
            ("progress", ranks.progress),
            ("compare", compare),
        )
        for ending in ("", ".json", ".csv")
    ),
    path("api/v1/", api_addresses()),
]
