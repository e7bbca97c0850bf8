"""What authors do with their own submissions: edit, publish, withdraw."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.forms import DetailsForm
from gluebench.leaderboard.submissions.models import Standing, Submission
from gluebench.leaderboard.submissions.requests import owned

SHOWN = {
    Standing.LISTED: "It is on the board now.",
    Standing.UNGRADED: "It will be on the board once it is graded.",
    Standing.WAITING: "It will be on the board once an organiser has approved it.",
    Standing.DECLINED: "It stays off the board: an organiser declined it.",
    Standing.PRIVATE: "It is private now.",
    Standing.WITHDRAWN: "It is withdrawn, and on no board.",
}


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
    messages.success(request, SHOWN[submission.standing])
    return redirect(submission)
