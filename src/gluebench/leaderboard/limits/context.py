"""The quota of whoever is signed in, on the pages that send or list submissions."""

from __future__ import annotations

from typing import Any

from django.db.models import Max
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.limits.quota import usage
from gluebench.leaderboard.submissions.models import Submission

SHOWN = 5
"""Benchmarks whose quota stands beside one's submissions: those that one sent something to last."""


def quota(request: HttpRequest) -> dict[str, Any]:
    """`quota`: what one may still send, as HTML; worked out only where a page shows it."""
    return {"quota": SimpleLazyObject(lambda: _shown(request))}


def _shown(request: HttpRequest) -> SafeString:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return SafeString("")
    name = request.resolver_match.kwargs.get("name") if request.resolver_match else None
    found = Benchmark.objects.filter(name=name) if name else _recent(user)
    quotas = [(benchmark, usage(benchmark, user)) for benchmark in found]
    if not quotas:
        return SafeString("")
    return render_to_string("limits/quota.html", {"quotas": quotas, "user": user, "named": name is None})


def _recent(user: Any) -> list[Benchmark]:
    """The benchmarks that this person sent something to last; on a site of one benchmark, that one."""
    sent = Submission.objects.filter(owner=user).order_by().values_list("benchmark")
    latest = sent.annotate(last=Max("submitted")).order_by("-last")[:SHOWN]
    found = Benchmark.objects.in_bulk([pk for pk, _ in latest])
    only = list(Benchmark.objects.all()[:2])
    return [found[pk] for pk, _ in latest] or (only if len(only) == 1 else [])
