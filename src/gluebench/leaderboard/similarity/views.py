"""The organizer's page of near-duplicate submissions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest, account_name
from gluebench.leaderboard.similarity import similar
from gluebench.leaderboard.submissions.organise import render_tab
from gluebench.leaderboard.submissions.requests import organised


@login_required
@require_safe
def alike(request: SignedInRequest, name: str) -> HttpResponse:
    """Accounts that have something in common, and predictions that are almost the same."""
    benchmark = organised(request, name)
    comparison, pairs = similar.near(benchmark)
    groups = similar.linked(benchmark)
    rows: list[Any] = [row for first, second, _ in pairs for row in (first, second)]
    for row in rows + [row for _, together in groups for row in together]:
        row.account = account_name(row.owner, request.user)
    return render_tab(
        request, benchmark, "alike", {"comparison": comparison, "pairs": pairs, "groups": groups}
    )


@login_required
@require_POST
def compare(request: SignedInRequest, name: str) -> HttpResponse:
    """Have the background worker compare all predictions anew."""
    benchmark = organised(request, name)
    similar.compare_predictions.enqueue(benchmark.pk)
    messages.success(request, "The predictions are being compared; load this page again in a minute.")
    return redirect("organise-alike", benchmark.name)
