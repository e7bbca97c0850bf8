"""How sure a board's order is, for programs: what the pages about ranks, pairs and costs show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Query, Router, Schema
from pydantic import AwareDatetime, StringConstraints

from gluebench.leaderboard.api.benchmarks import benchmark_or_404
from gluebench.leaderboard.api.callers import ANYBODY, PUBLIC
from gluebench.leaderboard.api.schemas import Open, answers
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.page_cache import cached_json
from gluebench.leaderboard.common.problems import ProblemError, not_found
from gluebench.leaderboard.ranks import compare_views, costs, tables
from gluebench.leaderboard.ranks.tables import kept
from gluebench.leaderboard.submissions.entries import entries_of
from gluebench.leaderboard.submissions.models import Submission

router = Router(tags=["Benchmarks"], auth=ANYBODY)

Key = Annotated[str, StringConstraints(min_length=1, max_length=12, pattern="^[0-9A-Za-z]*$")]


class Rules(Open):
    """Ranks under every rule, and what holds under all. `status` is current, renewing or none."""

    status: str
    detail: str | None
    """Why there is nothing, in words."""
    rows: list[dict[str, Any]]
    holds: list[dict[str, Any]]
    contested: list[dict[str, Any]]


class Pairs(Open):
    """All pairs of the first systems of a board."""

    status: str
    detail: str | None
    pairs: list[dict[str, Any]]


class Efficiency(Open):
    """Scores with what the systems cost, and who is on the Pareto front."""

    rows: list[dict[str, Any]]


class Compared(Schema):
    """Two systems on the same examples: `a` is the older one, and differences are its minus the other's."""

    status: str
    """done, waiting, failed, or none where they may not be compared."""
    detail: str | None
    computed: AwareDatetime | None
    a: dict[str, Any]
    b: dict[str, Any]
    comparison: dict[str, Any] | None
    """Of the schema gluebench.comparison/1."""


@router.get("/{slug:name}/rules", response=answers(Rules, 404, 304), openapi_extra=PUBLIC)
def rules(request: HttpRequest, name: str) -> HttpResponse:
    """Ranks under every rule of aggregation with their intervals, and what holds under all of them."""
    return _answer(request, name, "rules", lambda found: tables.rules_twin(kept(found)))


@router.get("/{slug:name}/pairs", response=answers(Pairs, 404, 304), openapi_extra=PUBLIC)
def pairs(request: HttpRequest, name: str) -> HttpResponse:
    """Every pair of systems on the average, tested on the same examples and adjusted by Holm."""
    return _answer(request, name, "pairs", lambda found: tables.pairs_twin(kept(found)))


@router.get("/{slug:name}/efficiency", response=answers(Efficiency, 404, 304), openapi_extra=PUBLIC)
def efficiency(request: HttpRequest, name: str) -> HttpResponse:
    """Scores against parameters and latency."""
    return _answer(
        request, name, "efficiency", lambda found: costs.costs_twin(costs.costed(entries_of(found)))
    )


@router.get("/{slug:name}/compare", response=answers(Compared, 202, 404, 422, 503), openapi_extra=PUBLIC)
def compare(request: HttpRequest, name: str, a: Query[Key], b: Query[Key]) -> HttpResponse:
    """Two systems on the same examples. 202 while a worker computes it: ask again after some seconds."""
    found = benchmark_or_404(name)
    one, other = sorted((_entry(found, a), _entry(found, b)), key=lambda row: (row.submitted, row.pk))
    if one == other:
        raise not_found("Name two different entries of the board.")
    state = compare_views.state_of(one, other)
    if state.status == "full":
        raise ProblemError(503, "busy", state.detail, headers={"Retry-After": "120"})
    return JsonResponse(
        compare_views.twin(one, other, state), status=202 if state.status == "waiting" else 200
    )


def _entry(found: Benchmark, key: str) -> Submission:
    rows = Submission.objects.public().filter(benchmark=found, key=key).select_related("benchmark")
    row = rows.defer("report", "problems", "scores").first()
    if row is None:
        raise not_found(f"The board of {found.name} has no entry {key}.")
    return row


def _answer(
    request: HttpRequest, name: str, what: str, twin: Callable[[Benchmark], dict[str, Any]]
) -> HttpResponse:
    found = benchmark_or_404(name)
    name = f"api {what} {name}"
    return cached_json(request, name=name, version=found.version, make=lambda: twin(found))
