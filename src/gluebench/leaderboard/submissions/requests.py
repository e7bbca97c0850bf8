"""Who asks, and for what: looked up once for all views of submissions."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions.models import Submission, SubmissionQuerySet

PAGE = 50
"""Rows on a page of a list."""


def visible(user: Any, key: str) -> Submission:
    """The submission, or Http404 for whoever may not know of it."""
    return _one(Submission.objects.visible_to(user), key, "There is no such submission, or it is not public.")


def owned(user: Any, key: str) -> Submission:
    """One's own submission, or Http404."""
    return _one(Submission.objects.owned_by(user), key, "You have no such submission.")


def _one(rows: SubmissionQuerySet, key: str, otherwise: str) -> Submission:
    submission = rows.select_related("benchmark").filter(key=key).first()
    if submission is None:
        raise Http404(otherwise)
    return submission


def organised(request: HttpRequest, name: str) -> Benchmark:
    """The benchmark; refused to whoever does not organize it."""
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
