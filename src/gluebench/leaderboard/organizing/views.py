"""Pages of an organizer's setup: opening a draft, roles, a copy of the benchmark."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.organizing.dry_runs import shown
from gluebench.leaderboard.submissions.views import for_organizers, render_tab


@for_organizers(require_safe)
def setup(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Whether it is public, its dry run, its files, its copies."""
    return render_tab(request, benchmark, "setup", {"dry_run": shown(benchmark)})


@for_organizers(require_POST)
def opening(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Open a draft to the public, or make a benchmark a draft again."""
    draft = request.POST.get("draft") == "1"
    with transaction.atomic():
        row = Benchmark.objects.filter(pk=benchmark.pk)
        if row.filter(draft=not draft).update(draft=draft):
            row.touch()
            record("draft" if draft else "open to the public", actor=request.user, benchmark=benchmark)
    seen = "a draft: only you, its other organizers and admins see it" if draft else "open to the public"
    messages.success(request, f"{benchmark.title} is {seen}.")
    return redirect("organise-setup", benchmark.name)
