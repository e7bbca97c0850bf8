"""Pages about the ranks of a board: under every rule, pair by pair, and against costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.live import live
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.page_cache import CSV, HTML, JSON, cached
from gluebench.leaderboard.ranks import costs, tables
from gluebench.leaderboard.ranks import progress as over_time
from gluebench.leaderboard.submissions.entries import entries_of

TYPES = {"": HTML, "json": JSON, "csv": CSV}


@require_safe
def rules(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Ranks under every rule of aggregation, and what holds under all of them."""
    makers = {"": tables.rules_page, "json": tables.rules_twin, "csv": tables.rules_csv}
    return _answer(request, name, "rules", form, tables.kept, makers)


@require_safe
def pairs(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Every pair of systems: how far apart, and whether that can be told from chance."""
    makers = {"": _matrix, "json": tables.pairs_twin, "csv": tables.pairs_csv}
    return _answer(request, name, "pairs", form, tables.kept, makers)


@require_safe
def efficiency(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Scores against parameters and latency."""
    makers = {"": _costs, "json": costs.costs_twin, "csv": costs.costs_csv}
    return _answer(request, name, "efficiency", form, _costed, makers)


@require_safe
def progress(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Scores with intervals, and the best one over time."""
    makers = {"": over_time.progress_page, "json": over_time.progress_twin, "csv": over_time.progress_csv}
    return _answer(request, name, "progress", form, _scored, makers)


def _answer(
    request: HttpRequest,
    name: str,
    what: str,
    form: str,
    read: Callable[[Benchmark], Any],
    makers: Mapping[str, Callable[[Any], Any]],
) -> HttpResponse:
    """What was read of the benchmark, by its maker: the page's context, JSON values or CSV text."""
    found, signed_in = live(name), request.user.is_authenticated

    def make() -> str:
        benchmark = found.benchmark()
        made = makers[form](read(benchmark))
        if form == "csv":
            return str(made)
        if form == "json":
            return json.dumps(made)
        context = {"benchmark": benchmark, "signed_in": signed_in, "page": what, **made}
        return render_to_string(f"ranks/{what}.html", context)

    return cached(
        request,
        name=f"{what} {name} {form} {signed_in}",
        version=found.version,
        make=make,
        content_type=TYPES[form],
        filename=f"{name}-{what}.csv" if form == "csv" else "",
    )


def _matrix(found: tables.Kept) -> dict[str, Any]:
    if found.why:
        return {"kept": found}
    rows = tables.matrix(found)
    told = sum(cell.told for _, cells in rows for cell in cells) // 2
    return {
        "kept": found,
        "number": len(rows),
        "told": told,
        "of": len(rows) * (len(rows) - 1) // 2,
        "html": render_to_string("ranks/matrix.html", {"rows": rows}),
    }


def _scored(benchmark: Benchmark) -> list[over_time.Scored]:
    return over_time.scored(entries_of(benchmark))


def _costed(benchmark: Benchmark) -> list[costs.Costed]:
    return costs.costed(entries_of(benchmark))


def _costs(rows: list[costs.Costed]) -> dict[str, Any]:
    return {"rows": rows, "costs": costs.COSTS.values(), "charts": costs.charts(rows)}
