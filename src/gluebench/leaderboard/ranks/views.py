"""Pages about the ranks of a board: under every rule, pair by pair, against costs, and over time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.models import Benchmark, Live, live
from gluebench.leaderboard.common.page_cache import CSV, HTML, JSON, cached
from gluebench.leaderboard.ranks import charts, tables

TYPES = {"": HTML, "json": JSON, "csv": CSV}
"""The forms of a page: its address ends in a dot and this name, or in neither."""
PAGES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "rules": (tables.kept, tables.rules_page, tables.rules_json, tables.rules_csv),
    "pairs": (tables.kept, tables.pairs_page, tables.pairs_json, tables.pairs_csv),
    "efficiency": (charts.costs_of, charts.costs_page, charts.costs_json, charts.costs_csv),
    "progress": (charts.progress_of, charts.progress_page, charts.progress_json, charts.progress_csv),
}
"""What each page is read from, and what it makes of that in each of its forms."""


@require_safe
def page(request: HttpRequest, name: str, what: str, form: str = "") -> HttpResponse:
    """One of `PAGES` in one of its forms."""
    read, *makers = PAGES[what]
    make = dict(zip(TYPES, makers, strict=True))[form]
    return in_form(
        request,
        live(name),
        form,
        lambda benchmark: make(read(benchmark)),
        what=what,
        template=f"ranks/{what}.html",
        filename=f"{name}-{what}.csv",
    )


def in_form(
    request: HttpRequest,
    found: Live | Benchmark,
    form: str,
    make: Callable[[Benchmark], Any],
    *,
    what: str,
    template: str = "",
    filename: str = "",
) -> HttpResponse:
    """A page of a benchmark in one of its forms: `make` gives a template's context, JSON values or CSV text.

    `what` names it among the benchmark's pages, with all that it depends on; `filename` is of the CSV.
    """
    signed_in = request.user.is_authenticated and not form

    def body() -> str:
        benchmark = found.benchmark() if isinstance(found, Live) else found
        made = make(benchmark)
        if form:
            return json.dumps(made) if form == "json" else str(made)
        return render_to_string(template, {"benchmark": benchmark, "signed_in": signed_in, **made})

    return cached(
        request,
        name=f"{what} {found.name} {form} {signed_in}",
        version=found.version,
        make=body,
        content_type=TYPES[form],
        filename=filename if form == "csv" else "",
    )
