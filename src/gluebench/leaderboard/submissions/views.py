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

MESSAGES = {
    Standing.LISTED: "It is on the board now.",
    Standing.UNGRADED: "It will be on the board once it is graded.",
    Standing.UNSCORED: "It has no score, so the board does not show it.",
    Standing.WAITING: "It will be on the board once an organizer has approved it.",
    Standing.DECLINED: "It stays off the board: an organizer declined it.",
    Standing.PRIVATE: "It is private now.",
    Standing.WITHDRAWN: "It is withdrawn, and on no board.",
}


@login_required
@require_safe
def mine(request: SignedInRequest) -> HttpResponse:
    """One's own submissions, newest first, and the benchmarks that one organizes."""
    rows = Submission.objects.owned_by(request.user).current()
    rows = rows.select_related("benchmark").defer("report", "problems")
    organises = Benchmark.objects.all() if request.user.is_superuser else request.user.organised.all()
    context = {"page": page_of(request, rows), "organises": organises[:100], "here": "mine"}
    return render(request, "submissions/mine.html", context)


@require_safe
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's page: where it stands, then its report."""
    submission = visible(request.user, key)
    return render(request, "submissions/submission.html", _context(request, submission))


def _context(request: HttpRequest, submission: Submission) -> dict[str, Any]:
    benchmark, report = submission.benchmark, submission.report
    mine = submission.owner_id == request.user.pk
    organised = benchmark.organised_by(request.user)
    private = mine or organised
    return {
        "submission": submission,
        "benchmark": benchmark,
        "owned": mine,
        "organised": organised,
        "facts": listed_facts(submission, private=private),
        "tables": report_tables(benchmark.record, report) if report else None,
        "mistakes": mistakes_of(benchmark.record, diagnosis_of(submission)),
        "found": findings_of(submission.problems) if private and submission.problems else None,
        "provenance": flat(report["provenance"]) if report else [],
        "history": history_of(submission),
        "minutes": bound_minutes(),
        "edits": edits_of(submission),
        "private": private,
        "ungraded": submission.failure == acts.UNGRADED,
    }


@require_safe
def submission_json(request: HttpRequest, key: str) -> HttpResponse:
    """The page's JSON view; the findings are for its author alone."""
    submission = visible(request.user, key)
    mine = submission.owner_id == request.user.pk
    return JsonResponse(public_facts(submission) | (private_facts(submission) if mine else {}))


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """Where it stands, for the page that waits."""
    return JsonResponse(standing(visible(request.user, key)))


@login_required
@require_safe
def download(request: HttpRequest, key: str) -> FileResponse:
    """The submitted file, to its owner alone."""
    row = owned(request.user, key)
    if not row.file:
        raise Http404("The file is not kept any more; its scores and its hash are.")
    return FileResponse(
        row.file.open("rb"), as_attachment=True, filename=row.filename, content_type="application/zip"
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, key: str) -> HttpResponse:
    """The form of what its author says of it; what stood there before is kept."""
    submission = owned(request.user, key)
    form = DetailsForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        changed = acts.edit(submission, request.user, form.cleaned_data)
        messages.success(request, "Your changes are saved." if changed else "Nothing was changed.")
        return redirect(submission)
    # The form has written into its instance what was sent: the page's own words come from the row.
    row = owned(request.user, key) if form.errors else submission
    context = {"submission": row, "benchmark": row.benchmark, "form": form, "here": "mine"}
    return render(request, "submissions/edit.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show it on the board, or take it off."""
    return _answer(request, acts.publish(owned(request.user, key), public=request.POST.get("public") == "1"))


@login_required
@require_POST
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Take it back, or undo that."""
    submission = owned(request.user, key)
    undo = request.POST.get("undo") == "1"
    return _answer(request, acts.restore(submission) if undo else acts.withdraw(submission))


def _answer(request: HttpRequest, submission: Submission) -> HttpResponse:
    messages.success(request, MESSAGES[submission.standing])
    return redirect(submission)
