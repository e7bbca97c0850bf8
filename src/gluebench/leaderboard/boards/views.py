"""The public pages. Each has a JSON twin, made from the same look-up."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.benchmark import Task, UnknownNameError
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards import twins
from gluebench.leaderboard.boards.cache import JSON, cached
from gluebench.leaderboard.boards.diagnostics import build_diagnostics
from gluebench.leaderboard.boards.table import build
from gluebench.leaderboard.submissions.models import Submission

FIRST_ROWS = 100
"""Rows a board shows at first; the rest are behind a link."""

SHOWN = ("key", "name", "model", "team", "link", "regime", "parameters", "shared_parameters")


class Options(NamedTuple):
    """How a visitor wants the board."""

    grouped: bool
    intervals: bool
    everything: bool

    @classmethod
    def of(cls, request: HttpRequest) -> Options:
        """From the address; whatever else it says is passed over."""
        asked = request.GET
        return cls(asked.get("view") == "training", asked.get("intervals") == "1", asked.get("rows") == "all")

    def query(self, **changes: bool) -> str:
        """The address of the same board with something changed."""
        wanted = self._replace(**changes)
        parts = ["view=training"] * wanted.grouped + ["intervals=1"] * wanted.intervals
        return "?" + "&".join(parts + ["rows=all"] * wanted.everything)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The board, where there is one benchmark; else the list of them."""
    benchmarks = list(Benchmark.objects.with_systems().order_by("added")[:200])
    if len(benchmarks) == 1:
        return _board(request, benchmarks[0])
    return render(request, "boards/home.html", {"benchmarks": benchmarks})


@require_safe
def board(request: HttpRequest, name: str) -> HttpResponse:
    """A benchmark's board."""
    return _board(request, get_object_or_404(Benchmark, name=name))


@require_safe
def board_json(request: HttpRequest, name: str) -> HttpResponse:
    """The board's JSON twin."""
    benchmark = get_object_or_404(Benchmark, name=name)
    return cached(
        request,
        name=f"board-json {name}",
        version=str(benchmark.version),
        make=lambda: json.dumps(twins.board(benchmark, entries_of(benchmark))),
        content_type=JSON,
    )


@require_safe
def diagnostics(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """A diagnostic set by phenomenon, for every system of the board."""
    benchmark, found = _diagnostic_or_404(name, task)
    asked = request.GET.get("category", "")
    category = asked if asked in found.coarse() else ""
    signed_in = request.user.is_authenticated
    return cached(
        request,
        name=f"diagnostics {name} {task} {category} {signed_in}",
        version=str(benchmark.version),
        make=lambda: _diagnostics_page(benchmark, found, category, signed_in=signed_in),
    )


@require_safe
def diagnostics_json(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """The same as JSON."""
    benchmark, found = _diagnostic_or_404(name, task)
    return cached(
        request,
        name=f"diagnostics-json {name} {task}",
        version=str(benchmark.version),
        make=lambda: json.dumps(twins.diagnostics(benchmark, found, diagnosed(benchmark, found))),
        content_type=JSON,
    )


def entries_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """What the board shows of each public submission, oldest first."""
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted")
    return list(public.values(*SHOWN, "submitted", "scores"))


def diagnosed(benchmark: Benchmark, task: Task) -> list[dict[str, Any]]:
    """The public submissions with their report on a diagnostic set, under "diagnostic"."""
    public = Submission.objects.public().filter(benchmark=benchmark).order_by("submitted")
    rows = public.values("key", "name", "model", "regime", "report__diagnostics")
    found = [{**row, "diagnostic": (row["report__diagnostics"] or {}).get(task.name)} for row in rows]
    return [row for row in found if row["diagnostic"]]


def _board(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    options, signed_in = Options.of(request), request.user.is_authenticated
    return cached(
        request,
        name=f"board {benchmark.name} {options} {signed_in} {request.path}",
        version=str(benchmark.version),
        make=lambda: _board_page(benchmark, options, signed_in=signed_in),
    )


def _board_page(benchmark: Benchmark, options: Options, *, signed_in: bool) -> str:
    entries = entries_of(benchmark)
    table = build(benchmark.record, entries, grouped=options.grouped)
    limit = None if options.everything else FIRST_ROWS
    shown = {"benchmark": benchmark, "table": table, "options": options, "limit": limit}
    html = render_to_string("boards/table.html", shown)
    hidden = limit is not None and len(entries) > limit
    page = {**shown, "html": html, "record": benchmark.record, "signed_in": signed_in, "hidden": hidden}
    return render_to_string("boards/board.html", page | _switches(options) | {"here": "board"})


def _switches(options: Options) -> dict[str, str]:
    """The addresses of the same board, seen otherwise."""
    return {
        "to_ranked": options.query(grouped=False),
        "to_grouped": options.query(grouped=True),
        "to_plain": options.query(intervals=False),
        "to_intervals": options.query(intervals=True),
        "to_everything": options.query(everything=True),
    }


def _diagnostics_page(benchmark: Benchmark, task: Task, category: str, *, signed_in: bool) -> str:
    table = build_diagnostics(task, diagnosed(benchmark, task), category=category)
    page = {"benchmark": benchmark, "task": task, "table": table, "category": category}
    return render_to_string(
        "boards/diagnostics.html", {**page, "signed_in": signed_in, "here": "diagnostics"}
    )


class _Diagnostic(NamedTuple):
    benchmark: Benchmark
    task: Task


def _diagnostic_or_404(name: str, task: str) -> _Diagnostic:
    benchmark = get_object_or_404(Benchmark, name=name)
    try:
        found = benchmark.record.task(task)
    except UnknownNameError as error:
        raise Http404(str(error)) from None
    if found.scored:
        raise Http404(f"{found.name} is a scored task, not a diagnostic set.")
    return _Diagnostic(benchmark, found)
