"""The page from which an organizer starts: the benchmarks that this person runs, and a new one."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import SignedInRequest
from gluebench.leaderboard.apps.accounts.trust import may_create
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.facts import with_systems

MOST = 100
"""Benchmarks that it lists, the newest first."""


@login_required
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """The benchmarks that the user organizes or reviews; all for an admin."""
    rows = with_systems(Benchmark.objects.run_by(request.user)).order_by("-added", "-pk")[:MOST]
    context = {"rows": rows, "may_create": may_create(request.user), "here": "organize"}
    return render(request, "organize/home.html", context)
