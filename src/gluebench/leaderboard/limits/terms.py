"""Joining a benchmark: its rules as text, who accepted which version, and the page that asks."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.text import markdown
from gluebench.leaderboard.limits.models import Acceptance


def rules_of(benchmark: Benchmark) -> str:
    """The rules of a benchmark as Markdown: its own, else the terms of its site."""
    return str(benchmark.texts.get("rules") or settings.FOLDER.page("terms"))


def version_of(benchmark: Benchmark) -> str:
    """SHA-256 of the rules, which names their version."""
    return hashlib.sha256(rules_of(benchmark).encode()).hexdigest()


def must_accept(benchmark: Benchmark, user: User) -> bool:
    """Whether this account has to accept the rules before it submits."""
    if not benchmark.policy.terms:
        return False
    return not Acceptance.objects.filter(
        user=user, benchmark=benchmark, digest=version_of(benchmark)
    ).exists()


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, name: str) -> HttpResponse:
    """The rules; a POST accepts the version that was shown, unless they have changed since."""
    benchmark = get_object_or_404(Benchmark.objects.visible_to(request.user), name=name)
    digest = version_of(benchmark)
    user = request.user if isinstance(request.user, User) else None
    if request.method == "POST":
        if user is None:
            return redirect_to_login(request.path)
        if request.POST.get("version") == digest:
            Acceptance.objects.get_or_create(user=user, benchmark=benchmark, digest=digest)
            messages.success(request, f"You accepted the rules of {benchmark.title}.")
            return redirect("submit", name)
        messages.error(request, "The rules have changed since you opened the page. Read them again.")
    rows = Acceptance.objects.filter(user=user, benchmark=benchmark, digest=digest)
    context = {
        "benchmark": benchmark,
        "rules": markdown(rules_of(benchmark), demoted=1),
        "version": digest,
        "accepted": rows.first(),
        "here": "join",
    }
    return render(request, "limits/terms.html", context)
