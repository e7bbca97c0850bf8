"""Following a submission and reading its report; what authors do with theirs: edit, publish, withdraw."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.facts import (
    edits_of,
    history_of,
    listed_facts,
    private_facts,
    public_facts,
    standing,
)
from gluebench.leaderboard.submissions.findings import findings_of
from gluebench.leaderboard.submissions.forms import DetailsForm
from gluebench.leaderboard.submissions.grading import bound_minutes
from gluebench.leaderboard.submissions.mistakes import diagnosis_of, mistakes_of
from gluebench.leaderboard.submissions.models import Standing, Submission
from gluebench.leaderboard.submissions.report import flat, report_tables
from gluebench.leaderboard.submissions.requests import owned, page_of, visible

SAID = {
    Standing.LISTED: "It is on the board now.",
    Standing.UNGRADED: "It will be on the board once it is graded.",
    Standing.UNSCORED: "It has no score, so the board does not show it.",
    Standing.WAITING: "It will be on the board once an organiser has approved it.",
    Standing.DECLINED: "It stays off the board: an organiser declined it.",
    Standing.PRIVATE: "It is private now.",
    Standing.WITHDRAWN: "It is withdrawn, and on no board.",
}


@login_required
@require_safe
def mine(request: SignedInRequest) -> HttpResponse:
    """One's own submissions, newest first, and the benchmarks that one organises."""
    found = Submission.objects.owned_by(request.user).current()
    found = found.select_related("benchmark").defer("report", "problems")
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
    private = mine or organised
    return {
        "submission": found,
        "benchmark": found.benchmark,
        "owned": mine,
        "organised": organised,
        "facts": listed_facts(found, private=private),
        "tables": report_tables(found.benchmark.record, found.report) if found.report else None,
        "mistakes": mistakes_of(found.benchmark.record, diagnosis_of(found)),
        "found": findings_of(found.problems) if private and found.problems else None,
        "provenance": flat(found.report["provenance"]) if found.report else [],
        "history": history_of(found),
        "minutes": bound_minutes(),
        "edits": edits_of(found),
        "private": private,
        "ungraded": found.failure == acts.UNGRADED,
    }


@require_safe
def submission_json(request: HttpRequest, key: str) -> HttpResponse:
    """The page's JSON view; the findings are for its author alone."""
    found = visible(request.user, key)
    mine = found.owner_id == request.user.pk
    return JsonResponse(public_facts(found) | (private_facts(found) if mine else {}))


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """Where it stands, for the page that waits."""
    return JsonResponse(standing(visible(request.user, key)))


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


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, key: str) -> HttpResponse:
    """The form of what its author says of it; what stood there before is kept."""
    found = owned(request.user, key)
    form = DetailsForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        changed = acts.edit(found, request.user, form.cleaned_data)
        messages.success(request, "Your changes are saved." if changed else "Nothing was changed.")
        return redirect(found)
    # The form has written into its instance what was sent: the page's own words come from the row.
    row = owned(request.user, key) if form.errors else found
    context = {"submission": row, "benchmark": row.benchmark, "form": form, "here": "mine"}
    return render(request, "submissions/edit.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show it on the board, or take it off."""
    return _said(request, acts.publish(owned(request.user, key), public=request.POST.get("public") == "1"))


@login_required
@require_POST
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Take it back, or undo that."""
    found = owned(request.user, key)
    undo = request.POST.get("undo") == "1"
    return _said(request, acts.restore(found) if undo else acts.withdraw(found))


def _said(request: HttpRequest, submission: Submission) -> HttpResponse:
    messages.success(request, SAID[submission.standing])
    return redirect(submission)
