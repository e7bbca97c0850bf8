"""Following a submission and reading its report."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.acts import UNGRADED
from gluebench.leaderboard.submissions.diagnosis import diagnosis_of
from gluebench.leaderboard.submissions.edits import edits_of
from gluebench.leaderboard.submissions.facts import listed_facts, private_facts, public_facts
from gluebench.leaderboard.submissions.findings import findings_of
from gluebench.leaderboard.submissions.grading import bound_minutes
from gluebench.leaderboard.submissions.history import history_of
from gluebench.leaderboard.submissions.mistakes import mistakes_of
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.report import flat, report_tables
from gluebench.leaderboard.submissions.requests import owned, page_of, visible


@login_required
@require_safe
def mine(request: SignedInRequest) -> HttpResponse:
    """One's own submissions, newest first, and the benchmarks that one organises."""
    found = Submission.objects.owned_by(request.user).select_related("benchmark").defer("report", "problems")
    organises = Benchmark.objects.all() if request.user.is_superuser else request.user.organised.all()
    context = {"page": page_of(request, found), "organises": organises[:100], "here": "mine"}
    return render(request, "submissions/mine.html", context)


@require_safe
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's page: where it stands, then its report."""
    found = visible(request.user, key)
    return render(request, "submissions/submission.html", _context(request, found))


def _context(request: HttpRequest, found: Submission) -> dict[str, Any]:
    mine = found.owner_id == request.user.pk
    organised = found.benchmark.organised_by(request.user)
    return {
        "submission": found,
        "benchmark": found.benchmark,
        "owned": mine,
        "organised": organised,
        "facts": listed_facts(found, private=mine or organised),
        "tables": report_tables(found.benchmark.record, found.report) if found.report else None,
        "mistakes": mistakes_of(found.benchmark.record, diagnosis_of(found)),
        "found": findings_of(found.problems) if (mine or organised) and found.problems else None,
        "provenance": flat(found.report["provenance"]) if found.report else [],
        "history": history_of(found),
        "minutes": bound_minutes(),
        "edits": edits_of(found, whole=mine or organised),
        "ungraded": found.failure == UNGRADED,
    }


@require_safe
def submission_json(request: HttpRequest, key: str) -> HttpResponse:
    """The page's JSON twin; the findings are for its author alone."""
    found = visible(request.user, key)
    mine = found.owner_id == request.user.pk
    return JsonResponse(public_facts(found) | (private_facts(found) if mine else {}))


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """Where it stands, for the page that waits."""
    found = visible(request.user, key)
    position = found.queue_position() if found.is_open else 0
    facts = {"status": found.status, "label": found.get_status_display(), "position": position}
    return JsonResponse({**facts, "final": not found.is_open})


@login_required
@require_safe
def download(request: HttpRequest, key: str) -> FileResponse:
    """The submitted file, to its owner alone."""
    found = owned(request.user, key)
    if not found.file:
        raise Http404("The file is not kept any more; its scores and its hash are.")
    return FileResponse(
        found.file.open("rb"), as_attachment=True, filename=found.filename, content_type="application/zip"
    )
