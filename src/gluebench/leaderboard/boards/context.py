"""What every page knows, and Jinja's environment for the one template that has thousands of cells."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from jinja2 import Environment, StrictUndefined

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.text import breakable


def site(request: HttpRequest) -> dict[str, Any]:
    """Whether somebody is signed in, and the benchmark of a site that has one; a view may name another."""
    user = getattr(request, "user", None)
    first = Benchmark.objects.all()[:2]
    return {
        "signed_in": bool(user and user.is_authenticated),
        "benchmark": first[0] if len(first) == 1 else None,
    }


def environment(**options: Any) -> Environment:
    """Escapes everything, and fails on a name that is not there."""
    strict = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined}
    made = Environment(**{**options, **strict})
    made.filters["breakable"] = breakable
    made.globals["url"] = lambda name, *args: reverse(name, args=args)
    return made
