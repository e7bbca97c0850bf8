"""Pages about the ranks of a board: under every rule, pair by pair, and against costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.live import live
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.page_cache import HTML, JSON, cached
from gluebench.leaderboard.ranks import costs, tables
from gluebench.leaderboard.ranks.kept import kept
from gluebench.leaderboard.submissions.entries import entries_of

CSV = "text/csv; charset=utf-8"
TYPES = {"": HTML, "json": JSON, "csv": CSV}

Make = Callable[[Benchmark], str]


@require_safe
def rules(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Ranks under every rule of aggregation, and what holds under all of them."""
    makers: dict[str, Make] = {
        "": lambda benchmark: _kept_page("rules", benchmark, tables.rules_page, signed_in=_known(request)),
        "json": lambda benchmark: json.dumps(tables.rules_twin(kept(benchmark))),
        "csv": lambda benchmark: tables.rules_csv(kept(benchmark)),
    }
    return _answer(request, name, "rules", form, makers[form])


@require_safe
def pairs(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Every pair of systems: how far apart, and whether that can be told from chance."""
    makers: dict[str, Make] = {
        "": lambda benchmark: _kept_page("pairs", benchmark, _matrix, signed_in=_known(request)),
        "json": lambda benchmark: json.dumps(tables.pairs_twin(kept(benchmark))),
        "csv": lambda benchmark: tables.pairs_csv(kept(benchmark)),
    }
    return _answer(request, name, "pairs", form, makers[form])


@require_safe
def efficiency(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Scores against parameters and latency."""
    makers: dict[str, Make] = {
        "": lambda benchmark: _costs_page(benchmark, signed_in=_known(request)),
        "json": lambda benchmark: json.dumps(costs.costs_twin(costs.costed(entries_of(benchmark)))),
        "csv": lambda benchmark: costs.costs_csv(costs.costed(entries_of(benchmark))),
    }
    return _answer(request, name, "efficiency", form, makers[form])


def _answer(request: HttpRequest, name: str, what: str, form: str, make: Make) -> HttpResponse:
    found = live(name)
    response = cached(
        request,
        name=f"{what} {name} {form} {_known(request)}",
        version=str(found.version),
        make=lambda: make(found.benchmark()),
        content_type=TYPES[form],
    )
    if form == "csv":
        response["Content-Disposition"] = f'attachment; filename="{name}-{what}.csv"'
    return response


def _known(request: HttpRequest) -> bool:
    return request.user.is_authenticated


def _kept_page(
    page: str, benchmark: Benchmark, context_of: Callable[[Any], dict[str, Any]], *, signed_in: bool
) -> str:
    found = kept(benchmark)
    context = {"benchmark": benchmark, "signed_in": signed_in, "kept": found, "page": page}
    return render_to_string(f"ranks/{page}.html", context | ({} if found.why else context_of(found)))


def _matrix(found: Any) -> dict[str, Any]:
    rows = tables.matrix(found)
    told = sum(cell.told for _, cells in rows for cell in cells) // 2
    return {
        "number": len(rows),
        "told": told,
        "of": len(rows) * (len(rows) - 1) // 2,
        "html": render_to_string("ranks/matrix.html", {"rows": rows}),
    }


def _costs_page(benchmark: Benchmark, *, signed_in: bool) -> str:
    rows = costs.costed(entries_of(benchmark))
    context = {
        "benchmark": benchmark,
        "signed_in": signed_in,
        "rows": rows,
        "costs": costs.COSTS.values(),
        "charts": costs.charts(rows),
        "page": "efficiency",
    }
    return render_to_string("ranks/efficiency.html", context)
