"""What every page knows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from gluebench.leaderboard.benchmarks.models import Benchmark


def site(request: HttpRequest) -> dict[str, Any]:
    """Whether somebody is signed in, and the benchmark of a site that has one; a view may name another."""
    user = getattr(request, "user", None)
    first = Benchmark.objects.all()[:2]
    return {
        "signed_in": bool(user and user.is_authenticated),
        "benchmark": first[0] if len(first) == 1 else None,
    }
