"""Every address of the site. A page's JSON view has the same address with .json."""

from collections.abc import Iterable
from typing import Any

from django.urls import URLPattern, include, path

from gluebench.leaderboard.admin import site
from gluebench.leaderboard.apps.accounts import views as accounts
from gluebench.leaderboard.apps.accounts.provider import github_callback, github_login
from gluebench.leaderboard.apps.annotation import views as annotation
from gluebench.leaderboard.apps.api.organizing import PAGES
from gluebench.leaderboard.apps.api.site import addresses as api_addresses
from gluebench.leaderboard.apps.boards import downloads
from gluebench.leaderboard.apps.boards import views as boards
from gluebench.leaderboard.apps.boards.exports import FORMATS
from gluebench.leaderboard.apps.ledger import views as ledger
from gluebench.leaderboard.apps.limits import views as limits
from gluebench.leaderboard.apps.news import views as news
from gluebench.leaderboard.apps.organizing import copies, texts
from gluebench.leaderboard.apps.organizing import home as organizing
from gluebench.leaderboard.apps.participants import pages as participants
from gluebench.leaderboard.apps.ranks import health as benchmark_health
from gluebench.leaderboard.apps.ranks import views as ranks
from gluebench.leaderboard.apps.ranks.compare_views import compare
from gluebench.leaderboard.apps.results import views as results
from gluebench.leaderboard.apps.similarity import similar as similarity
from gluebench.leaderboard.apps.submissions import views as submissions
from gluebench.leaderboard.apps.uploads.views import replace, reproduce, submit
from gluebench.leaderboard.apps.webhooks.views import webhooks
from gluebench.leaderboard.serving.health import PROBES

BENCHMARK = "benchmarks/<slug:name>"
ORGANIZE = f"{BENCHMARK}/organize"


def _forms(
    address: str, view: Any, name: str, forms: Iterable[str] = ("json", "csv", ""), **options: str
) -> list[URLPattern]:
    """A page's address in each of its forms: it ends in a dot and the form, or in neither for HTML."""
    urls = []
    for form in forms:
        values = {"form": form, **options}
        if form:
            urls.append(path(f"{address}.{form}", view, values, name=f"{name}-{form}"))
        else:
            urls.append(path(address, view, values, name=name))
    return urls


handler500 = "gluebench.leaderboard.serving.middleware.server_error_page"

ACCOUNT = [
    path("", accounts.overview, name="account"),
    path("tokens", accounts.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke", accounts.revoke, name="token-revoke"),
    path("export", accounts.data, name="account-export"),
    path("delete", accounts.delete, name="account-delete"),
    path("mail", news.mail, name="account-mail"),
    path("webhooks", webhooks, name="webhooks"),
    path("webhooks/<int:pk>", webhooks, name="webhook"),
    path("team", limits.team, name="team"),
    path("team/join/<slug:code>", limits.team_join, name="team-join"),
    path("team/leave", limits.team_leave, name="team-leave"),
    path("team/merge/<int:pk>", limits.team_merge, name="team-merge"),
    path("team/renew", limits.team_renew, name="team-renew"),
    path("team/member", limits.team_member, name="team-member"),
    path("two-factor/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("providers/", include("allauth.socialaccount.urls")),
    path("github/login/", github_login, name="github_login"),
    path("github/login/callback/", github_callback, name="github_callback"),
    path("", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("", include("allauth.account.urls")),
]

EXPORTS = []
for _ending in FORMATS:
    _values = {"ending": _ending}
    EXPORTS += [
        path(f"{BENCHMARK}.{_ending}", boards.export, _values, name=f"board-{_ending}"),
        path(f"{BENCHMARK}/tasks/<str:task>.{_ending}", boards.export_task, _values, name=f"task-{_ending}"),
    ]

RANKS = _forms(f"{BENCHMARK}/pairs", ranks.pairs, "pairs", subject="pairs")
for _subject in ranks.PAGES:
    if _subject != "pairs":  # whose view takes more parameters
        RANKS += _forms(f"{BENCHMARK}/{_subject}", ranks.ranks_page, _subject, subject=_subject)

urlpatterns = [
    path("", boards.home, name="home"),
    *(path(address[1:], view, name=address[1:]) for address, view in PROBES.items()),
    path(BENCHMARK, boards.board, name="board"),
    *EXPORTS,
    path(f"{BENCHMARK}/badge.svg", boards.badge, name="badge"),
    path(f"{BENCHMARK}/embed", boards.embed, name="embed"),
    path(f"{BENCHMARK}/tasks/<str:task>", boards.task_board, name="task"),
    *_forms(f"{BENCHMARK}/data", downloads.data, "data", ("json", "")),
    path(f"{BENCHMARK}/data.zip", downloads.data_zip, name="data-zip"),
    path(f"{BENCHMARK}/croissant.json", downloads.croissant, name="croissant"),
    path(f"{BENCHMARK}/data/<path:path>", downloads.data_file, name="data-file"),
    *_forms(f"{BENCHMARK}/diagnostics/<str:task>/<str:slug>", boards.phenomenon, "phenomenon", ("json", "")),
    *_forms(f"{BENCHMARK}/diagnostics/<str:task>", boards.diagnostics, "diagnostics"),
    *RANKS,
    path(f"{BENCHMARK}/ranks/status.json", ranks.status_json, name="ranks-status"),
    *_forms(f"{BENCHMARK}/health", benchmark_health.health, "health", ("json", "")),
    *_forms(f"{ORGANIZE}/health", benchmark_health.organize_health, "organize-health", ("json", "")),
    *_forms(f"{BENCHMARK}/compare", compare, "compare"),
    *_forms(f"{BENCHMARK}/changes", ledger.changes, "changes", ("json", "")),
    *_forms(f"{BENCHMARK}/people/<slug:key>", annotation.result, "people"),
    path(f"{BENCHMARK}/results", results.results, name="results"),
    path(f"{BENCHMARK}/results.zip", results.archive, name="results-archive"),
    path(f"{BENCHMARK}/about/<slug:section>", texts.about_section, name="about"),
    path(f"{BENCHMARK}/logo", texts.logo, name="logo"),
    path(f"{BENCHMARK}/style.css", texts.style, name="style"),
    *_forms(f"{BENCHMARK}/news", news.news, "news", ("atom", "")),
    path("unsubscribe/<str:code>", news.unsubscribe, name="unsubscribe"),
    path(f"{BENCHMARK}/join", participants.join, name="join"),
    path(f"{BENCHMARK}/join/<slug:code>", participants.join, name="join-invited"),
    path(f"{BENCHMARK}/submit", submit, name="submit"),
    path(ORGANIZE, submissions.organize, name="organize"),
    path(f"{ORGANIZE}/submissions.csv", submissions.organize_csv, name="organize-csv"),
    path(f"{ORGANIZE}/participants.csv", participants.participants_csv, name="organize-participants-csv"),
    *(path(page.address, page.view, name=page.name) for page in PAGES),
    path(f"{ORGANIZE}/log", submissions.log, name="organize-log"),
    path(f"{ORGANIZE}/alike", similarity.alike, name="organize-alike"),
    path(f"{ORGANIZE}/alike/compare", similarity.compare, name="organize-compare"),
    path(f"{ORGANIZE}/results/draft.zip", results.draft, name="organize-results-draft"),
    path(f"{ORGANIZE}/copy.zip", copies.download, name="organize-copy-download"),
    path(f"{ORGANIZE}/people", annotation.overview, name="organize-people"),
    path(f"{ORGANIZE}/people/<slug:key>", annotation.study_page, name="organize-study"),
    path(f"{ORGANIZE}/people/<slug:key>/sheets.zip", annotation.download, name="organize-study-sheets"),
    path("organize", organizing.home, name="organizing"),
    path("submissions", submissions.my_submissions, name="my-submissions"),
    path("submissions/<slug:key>", submissions.submission, name="submission"),
    path("submissions/<slug:key>.json", submissions.submission_json, name="submission-json"),
    path("submissions/<slug:key>/badge.svg", boards.row_badge, name="row-badge"),
    path("submissions/<slug:key>.bib", boards.bibtex, name="submission-bibtex"),
    path("submissions/<slug:key>.eee.json", boards.eee, name="submission-eee"),
    path("submissions/<slug:key>/edit", submissions.edit, name="submission-edit"),
    path("submissions/<slug:key>/publish", submissions.publish, name="submission-publish"),
    path("submissions/<slug:key>/withdraw", submissions.withdraw, name="submission-withdraw"),
    path("submissions/<slug:key>/choose", submissions.choose, name="submission-choose"),
    path("submissions/<slug:key>/reproduce", reproduce, name="submission-reproduce"),
    path("submissions/<slug:key>/replace", replace, name="submission-replace"),
    path("submissions/<slug:key>/detail", boards.detail, name="submission-detail"),
    path("submissions/<slug:key>/status.json", submissions.status_json, name="submission-status"),
    path("submissions/<slug:key>/file", submissions.download, name="submission-file"),
    path("submissions/<slug:key>/receipt", ledger.receipt, name="receipt"),
    path("ledger", ledger.ledger, name="ledger"),
    path("ledger/checkpoint", ledger.checkpoint, name="ledger-checkpoint"),
    path("ledger/rows.json", ledger.rows_json, name="ledger-rows"),
    path("ledger/tile/<slug:level>/<path:path>", ledger.tile, name="ledger-tile"),
    path("terms", texts.site_page, {"name": "terms"}, name="terms"),
    path("privacy", texts.site_page, {"name": "privacy"}, name="privacy"),
    path("terms/edit", texts.site_edit, {"name": "terms"}, name="terms-edit"),
    path("privacy/edit", texts.site_edit, {"name": "privacy"}, name="privacy-edit"),
    path("account/", include(ACCOUNT)),
    path("admin/", site.urls),
    path("label/<slug:code>", annotation.start, name="label"),
    path("label/<slug:code>/<int:number>", annotation.pair, name="label-place"),
    path("api/v1/", api_addresses()),
]
