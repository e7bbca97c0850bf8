"""Every address of the site. A page's JSON view has the same address with .json."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponseBase
from django.urls import include, path

from gluebench.leaderboard.accounts import views as accounts
from gluebench.leaderboard.api.site import addresses as api_addresses
from gluebench.leaderboard.boards import data_views
from gluebench.leaderboard.boards import views as boards
from gluebench.leaderboard.boards.exports import FORMATS, export
from gluebench.leaderboard.limits import views as limits
from gluebench.leaderboard.operations import PROBES
from gluebench.leaderboard.people import results
from gluebench.leaderboard.people import views as annotation
from gluebench.leaderboard.ranks import views as ranks
from gluebench.leaderboard.ranks.compare_views import compare
from gluebench.leaderboard.submissions import views as submissions
from gluebench.leaderboard.uploads.views import replace, submit

admin.autodiscover()

handler500 = "gluebench.leaderboard.middleware.failed"

BENCHMARK: list[tuple[str, Callable[..., HttpResponseBase], str]] = [
    ("", boards.board, "board"),
    (".json", boards.board_json, "board-json"),
    ("/data", data_views.data, "data"),
    ("/data.json", data_views.data_json, "data-json"),
    ("/data/<path:path>", data_views.data_file, "data-file"),
    ("/tasks/<str:task>.json", boards.task_json, "task-json"),
    ("/tasks/<str:task>", boards.task_board, "task"),
    ("/diagnostics/<str:task>.json", boards.diagnostics_json, "diagnostics-json"),
    ("/diagnostics/<str:task>.csv", boards.diagnostics_csv, "diagnostics-csv"),
    ("/diagnostics/<str:task>/<str:slug>.json", boards.phenomenon_json, "phenomenon-json"),
    ("/diagnostics/<str:task>/<str:slug>", boards.phenomenon, "phenomenon"),
    ("/diagnostics/<str:task>", boards.diagnostics, "diagnostics"),
    ("/submit", submit, "submit"),
    ("/organise/limits", limits.policy, "limits"),
    ("/organise/limits/exceptions", limits.override, "override"),
    ("/organise/limits/exceptions/<int:pk>/remove", limits.override_end, "override-remove"),
    ("/organise/people", annotation.overview, "organise-people"),
    ("/organise/people/<slug:key>", annotation.one, "organise-study"),
    ("/organise/people/<slug:key>/sheets.zip", annotation.download, "organise-study-sheets"),
    ("/people/<slug:key>", results.result, "people"),
    ("/people/<slug:key>.json", results.result_json, "people-json"),
    ("/people/<slug:key>.csv", results.result_csv, "people-csv"),
]
"""Below a benchmark's address: the rest of the address, the view, the name."""

ACCOUNT = [
    path("", accounts.overview, name="account"),
    path("tokens", accounts.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke", accounts.revoke, name="token-revoke"),
    path("export", accounts.data, name="account-export"),
    path("delete", accounts.delete, name="account-delete"),
    path("team", limits.team, name="team"),
    path("team/join/<slug:code>", limits.team_join, name="team-join"),
    path("team/leave", limits.team_leave, name="team-leave"),
    path("team/renew", limits.team_renew, name="team-renew"),
    path("two-factor/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("", include("allauth.account.urls")),
]

urlpatterns = [
    path("", boards.home, name="home"),
    *(path(address[1:], view, name=address[1:]) for address, view in PROBES.items()),
    path("", include("gluebench.leaderboard.submissions.urls")),
    path("", include("gluebench.leaderboard.similarity.urls")),
    path("submissions/<slug:key>/replace", replace, name="submission-replace"),
    path("submissions", submissions.mine, name="my-submissions"),
    path("submissions/<slug:key>", submissions.submission, name="submission"),
    path("submissions/<slug:key>.json", submissions.submission_json, name="submission-json"),
    path("submissions/<slug:key>.bib", boards.bibtex, name="submission-bibtex"),
    path("submissions/<slug:key>/detail", boards.detail, name="submission-detail"),
    path("submissions/<slug:key>/status.json", submissions.status_json, name="submission-status"),
    path("submissions/<slug:key>/file", submissions.download, name="submission-file"),
    *(
        path(f"benchmarks/<slug:name>{task}.{ending}", export, {"ending": ending}, name=f"{kind}-{ending}")
        for ending in FORMATS
        for kind, task in (("board", ""), ("task", "/tasks/<str:task>"))
    ),
    *(path(f"benchmarks/<slug:name>{rest}", view, name=name) for rest, view, name in BENCHMARK),
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
    path("label/<slug:code>", annotation.start, name="label"),
    path("label/<slug:code>/<int:number>", annotation.pair, name="label-place"),
    path("terms", accounts.page, {"name": "terms"}, name="terms"),
    path("privacy", accounts.page, {"name": "privacy"}, name="privacy"),
    path("account/", include(ACCOUNT)),
    path("admin/", admin.site.urls),
    path("api/v1/", api_addresses()),
]
