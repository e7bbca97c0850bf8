"""The page by which a second party sends predictions of a public system."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods

from gluebench.leaderboard.accounts.models import SignedInRequest, User
from gluebench.leaderboard.limits.models import Departure
from gluebench.leaderboard.limits.terms import must_accept
from gluebench.leaderboard.submissions.forms import ReproductionForm
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.views import visible
from gluebench.leaderboard.uploads.views import UploadPage


def is_second_party(user: User, row: Submission) -> bool:
    """Whether a person is neither a row's author nor of the author's team, now or when it was sent."""
    teams = {row.group_id, row.owner.team_id} - {None}
    left = Departure.objects.filter(user=user, team__in=teams)
    return user.pk != row.owner_id and user.team_id not in teams and not left.exists()


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def reproduce(request: SignedInRequest, key: str) -> HttpResponse:
    """The form; the file is graded and compared with the row's, and the row shows how far they agree."""
    row = visible(request.user, key)
    if not (row.is_listed and row.file):
        raise Http404("Only a system on a board whose file is still kept can be reproduced.")
    if not is_second_party(request.user, row):
        raise PermissionDenied("Only people other than its author and team can reproduce a system.")
    context: dict[str, Any] = {"row": row, "must_accept": must_accept(row.benchmark, request.user)}
    page = UploadPage(request, row.benchmark, "submissions/reproduce.html", context)
    new = page.new_submission()
    new.name, new.model, new.reproduces = f"Reproduction of {row.key}", "Reproduction", row
    if page.checks_only:
        return page.check(ReproductionForm(instance=new, initial=request.POST.dict()))
    if request.method != "POST":
        return page.show(ReproductionForm(instance=new))
    return page.send(ReproductionForm(request.POST, page.files(), instance=new), new)
