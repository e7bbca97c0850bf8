"""Every address of the site. A page's JSON view has the same address with .json."""

from collections.abc import Iterable
from typing import Any

from django.urls import URLPattern, URLResolver, include, path

from gluebench.leaderboard.accounts import views as accounts
from gluebench.leaderboard.accounts.provider import github_callback, github_login
from gluebench.leaderboard.admin import site
from gluebench.leaderboard.annotation import views as annotation
from gluebench.leaderboard.api.organizing import PAGES
from gluebench.leaderboard.api.site import addresses as api_addresses
from gluebench.leaderboard.boards import downloads
from gluebench.leaderboard.boards import views as boards
from gluebench.leaderboard.boards.exports import FORMATS
from gluebench.leaderboard.health import PROBES
from gluebench.leaderboard.ledger import views as ledger
from gluebench.leaderboard.limits import views as limits
from gluebench.leaderboard.news import views as news
from gluebench.leaderboard.organizing import copies, texts
from gluebench.leaderboard.ranks import health as benchmark_health
from gluebench.leaderboard.ranks import views as ranks
from gluebench.leaderboard.ranks.compare_views import compare
from gluebench.leaderboard.results import views as results
from gluebench.leaderboard.similarity import similar as similarity
from gluebench.leaderboard.submissions import views as submissions
from gluebench.leaderboard.uploads.views import replace, reproduce, submit
from gluebench.leaderboard.webhooks.views import webhooks

BENCHMARK = "benchmarks/<slug:name>"
ORGANIZE = f"{BENCHMARK}/organize"


handler500 = "gluebench.leaderboard.middleware.failed"

ACCOUNT: dict[str, tuple[str, Any]] = {
    "account": ("", accounts.overview),
    "tokens": ("tokens", accounts.tokens),
    "token-revoke": ("tokens/<int:pk>/revoke", accounts.revoke),
    "account-export": ("export", accounts.data),
    "account-delete": ("delete", accounts.delete),
    "account-mail": ("mail", news.mail),
    "webhooks": ("webhooks", webhooks),
    "webhook": ("webhooks/<int:pk>", webhooks),
    "team": ("team", limits.team),
    "team-join": ("team/join/<slug:code>", limits.team_join),
    "team-leave": ("team/leave", limits.team_leave),
    "team-merge": ("team/merge/<int:pk>", limits.team_merge),
    "team-renew": ("team/renew", limits.team_renew),
    "github_login": ("github/login/", github_login),
    "github_callback": ("github/login/callback/", github_callback),
}
"""By name, each page below account/: its address and its view."""
PAGES: dict[str, tuple[str, Any]] = {
    "home": ("", boards.home),
    "board": (BENCHMARK, boards.board),
    "badge": (f"{BENCHMARK}/badge.svg", boards.badge),
    "embed": (f"{BENCHMARK}/embed", boards.embed),
    "task": (f"{BENCHMARK}/tasks/<str:task>", boards.task_board),
    "croissant": (f"{BENCHMARK}/croissant.json", downloads.croissant),
    "data-file": (f"{BENCHMARK}/data/<path:path>", downloads.data_file),
    "ranks-status": (f"{BENCHMARK}/ranks/status.json", ranks.status_json),
    "results": (f"{BENCHMARK}/results", results.results),
    "results-archive": (f"{BENCHMARK}/results.zip", results.archive),
    "about": (f"{BENCHMARK}/about/<slug:section>", texts.about),
    "logo": (f"{BENCHMARK}/logo", texts.logo),
    "style": (f"{BENCHMARK}/style.css", texts.style),
    "organize-news": (f"{ORGANIZE}/news", news.organize),
    "organize-announcement": (f"{ORGANIZE}/news/<int:pk>", news.organize),
    "unsubscribe": ("unsubscribe/<str:code>", news.unsubscribe),
    "join": (f"{BENCHMARK}/join", limits.join),
    "submit": (f"{BENCHMARK}/submit", submit),
    "organize": (ORGANIZE, submissions.organize),
    "organize-csv": (f"{ORGANIZE}/submissions.csv", submissions.organize_csv),
    "organize-regrade": (f"{ORGANIZE}/regrade", submissions.regrade_all),
    "organize-log": (f"{ORGANIZE}/log", submissions.log),
    "organize-setup": (f"{ORGANIZE}/setup", organizing.setup),
    "organize-opening": (f"{ORGANIZE}/opening", organizing.opening),
    "organize-roles": (f"{ORGANIZE}/roles", organizing.roles),
    "organize-duplicate": (f"{ORGANIZE}/duplicate", organizing.duplicate),
    "organize-texts": (f"{ORGANIZE}/texts", texts.texts),
    "organize-looks": (f"{ORGANIZE}/looks", texts.looks),
    "organize-dry-run": (f"{ORGANIZE}/dry-run", dry_runs.dry_run),
    "organize-replace": (f"{ORGANIZE}/replace", creating.replace),
    "organize-one": (f"{ORGANIZE}/submissions/<slug:key>", submissions.organize_one),
    "organize-alike": (f"{ORGANIZE}/alike", similarity.alike),
    "organize-compare": (f"{ORGANIZE}/alike/compare", similarity.compare),
    "organize-results": (f"{ORGANIZE}/results", results.organize),
    "organize-results-draft": (f"{ORGANIZE}/results/draft.zip", results.draft),
    "organize-copy": (f"{ORGANIZE}/copy", copies.frozen_copy),
    "organize-copy-download": (f"{ORGANIZE}/copy.zip", copies.download),
    "limits": (LIMITS, limits.policy),
    "override": (f"{LIMITS}/exceptions", limits.override),
    "override-remove": (f"{LIMITS}/exceptions/<int:pk>/remove", limits.override_end),
    "phases": (PHASES, limits.phases),
    "phase": (f"{PHASES}/<int:pk>", limits.phases),
    "organize-people": (f"{ORGANIZE}/people", annotation.overview),
    "organize-study": (f"{ORGANIZE}/people/<slug:key>", annotation.one),
    "organize-study-sheets": (f"{ORGANIZE}/people/<slug:key>/sheets.zip", annotation.download),
    "organize-new": ("organize/new", creating.new),
    "organize-preview": ("organize/new/<slug:token>", creating.preview),
    "my-submissions": ("submissions", submissions.mine),
    "submission": ("submissions/<slug:key>", submissions.submission),
    "submission-json": ("submissions/<slug:key>.json", submissions.submission_json),
    "row-badge": ("submissions/<slug:key>/badge.svg", boards.badge),
    "submission-bibtex": ("submissions/<slug:key>.bib", boards.bibtex),
    "submission-eee": ("submissions/<slug:key>.eee.json", boards.eee),
    "submission-edit": ("submissions/<slug:key>/edit", submissions.edit),
    "submission-publish": ("submissions/<slug:key>/publish", submissions.publish),
    "submission-withdraw": ("submissions/<slug:key>/withdraw", submissions.withdraw),
    "submission-choose": ("submissions/<slug:key>/choose", submissions.choose),
    "submission-reproduce": ("submissions/<slug:key>/reproduce", reproduce),
    "submission-replace": ("submissions/<slug:key>/replace", replace),
    "submission-detail": ("submissions/<slug:key>/detail", boards.detail),
    "submission-status": ("submissions/<slug:key>/status.json", submissions.status_json),
    "submission-file": ("submissions/<slug:key>/file", submissions.download),
    "receipt": ("submissions/<slug:key>/receipt", ledger.receipt),
    "ledger": ("ledger", ledger.ledger),
    "ledger-checkpoint": ("ledger/checkpoint", ledger.checkpoint),
    "ledger-rows": ("ledger/rows.json", ledger.rows),
    "ledger-tile": ("ledger/tile/<slug:level>/<path:path>", ledger.tile),
    "label": ("label/<slug:code>", annotation.start),
    "label-place": ("label/<slug:code>/<int:number>", annotation.pair),
}
"""By name, each page that has one form."""


def _pages(pages: dict[str, tuple[str, Any]]) -> list[URLPattern]:
    return [path(address, view, name=name) for name, (address, view) in pages.items()]


def _forms(
    address: str, view: Any, name: str, forms: Iterable[str] = ("json", "csv", ""), **options: str
) -> list[URLPattern]:
    """A page's address in each of its forms: it ends in a dot and the form, or in neither for HTML."""
    return [
        path(
            f"{address}.{form}" if form else address,
            view,
            {"form": form, **options},
            name=f"{name}-{form}" if form else name,
        )
        for form in forms
    ]


account: list[URLPattern | URLResolver] = [
    *_pages(ACCOUNT),
    path("two-factor/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("providers/", include("allauth.socialaccount.urls")),
    path("", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("", include("allauth.account.urls")),
]

urlpatterns = [
    *(path(address[1:], view, name=address[1:]) for address, view in PROBES.items()),
    *(
        path(f"{BENCHMARK}{task}.{ending}", boards.export, {"ending": ending}, name=f"{kind}-{ending}")
        for ending in FORMATS
        for kind, task in (("board", ""), ("task", "/tasks/<str:task>"))
    ),
    *_forms(f"{BENCHMARK}/data", downloads.data, "data", ("json", "")),
    *_forms(f"{BENCHMARK}/diagnostics/<str:task>/<str:slug>", boards.phenomenon, "phenomenon", ("json", "")),
    *_forms(f"{BENCHMARK}/diagnostics/<str:task>", boards.diagnostics, "diagnostics"),
    *(
        url
        for subject in ranks.PAGES
        if subject != "pairs"
        for url in _forms(f"{BENCHMARK}/{subject}", ranks.page, subject, subject=subject)
    ),
    *_forms(f"{BENCHMARK}/pairs", ranks.pairs, "pairs", subject="pairs"),
    *_forms(f"{BENCHMARK}/health", benchmark_health.health, "health", ("json", "")),
    *_forms(f"{ORGANIZE}/health", benchmark_health.organize_health, "organize-health", ("json", "")),
    *_forms(f"{BENCHMARK}/compare", compare, "compare"),
    *_forms(f"{BENCHMARK}/changes", ledger.changes, "changes", ("json", "")),
    *_forms(f"{BENCHMARK}/people/<slug:key>", annotation.result, "people"),
    *_forms(f"{BENCHMARK}/news", news.news, "news", ("atom", "")),
    path("unsubscribe/<str:code>", news.unsubscribe, name="unsubscribe"),
    path(f"{BENCHMARK}/join", limits.join, name="join"),
    path(f"{BENCHMARK}/submit", submit, name="submit"),
    path(ORGANIZE, submissions.organize, name="organize"),
    path(f"{ORGANIZE}/submissions.csv", submissions.organize_csv, name="organize-csv"),
    *(path(page.address, page.view, name=page.name) for page in PAGES),
    path(f"{ORGANIZE}/log", submissions.log, name="organize-log"),
    path(f"{ORGANIZE}/alike", similarity.alike, name="organize-alike"),
    path(f"{ORGANIZE}/alike/compare", similarity.compare, name="organize-compare"),
    path(f"{ORGANIZE}/results/draft.zip", results.draft, name="organize-results-draft"),
    path(f"{ORGANIZE}/copy.zip", copies.download, name="organize-copy-download"),
    path(f"{ORGANIZE}/people", annotation.overview, name="organize-people"),
    path(f"{ORGANIZE}/people/<slug:key>", annotation.one, name="organize-study"),
    path(f"{ORGANIZE}/people/<slug:key>/sheets.zip", annotation.download, name="organize-study-sheets"),
    path("submissions", submissions.mine, name="my-submissions"),
    path("submissions/<slug:key>", submissions.submission, name="submission"),
    path("submissions/<slug:key>.json", submissions.submission_json, name="submission-json"),
    path("submissions/<slug:key>/badge.svg", embeds.badge, name="row-badge"),
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
    path("ledger/rows.json", ledger.rows, name="ledger-rows"),
    path("ledger/tile/<slug:level>/<path:path>", ledger.tile, name="ledger-tile"),
    path("terms", texts.site_page, {"name": "terms"}, name="terms"),
    path("privacy", texts.site_page, {"name": "privacy"}, name="privacy"),
    path("terms/edit", texts.site_edit, {"name": "terms"}, name="terms-edit"),
    path("privacy/edit", texts.site_edit, {"name": "privacy"}, name="privacy-edit"),
    path("account/", include(account)),
    path("admin/", site.urls),
    path("api/v1/", api_addresses()),
]
