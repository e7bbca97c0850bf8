"""Who asks, and for what: looked up once for all views of submissions."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Submission

PAGE = 50
"""Rows on a page of a list."""


def visible(request: HttpRequest, key: str) -> Submission:
    """The submission, or 404 for whoever may not know of it."""
    found = Submission.objects.visible_to(request.user).select_related("benchmark").filter(key=key).first()
    if found is None:
        raise Http404("There is no such submission, or it is not public.")
    return found


def owned(request: HttpRequest, key: str) -> Submission:
    """One's own submission, or 404."""
    return get_object_or_404(Submission.objects.owned_by(request.user).select_related("benchmark"), key=key)


def organised(request: HttpRequest, name: str) -> Benchmark:
    """The benchmark; refused to whoever does not organise it."""
    benchmark = get_object_or_404(Benchmark, name=name)
    if not benchmark.organised_by(request.user):
        raise PermissionDenied
    return benchmark


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The page that `?page=` asks for; the nearest one there is."""
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


def wants_json(request: HttpRequest) -> bool:
    """Whether a script of the page asks, which shows the answer itself."""
    return request.headers.get("Accept") == "application/json"
