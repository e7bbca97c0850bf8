"""The public pages. Each has a JSON view, made from the same data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task, UnknownNameError
from gluebench.leaderboard.benchmarks.models import Benchmark, Live, live, only_one, site_version
from gluebench.leaderboard.boards.columns import scheme_of
from gluebench.leaderboard.boards.diagnostics import (
    diagnostics_page,
    heat_csv,
    heat_page,
    named,
    phenomenon_page,
)
from gluebench.leaderboard.boards.exports import FORMATS, citation, diagnostics_json, phenomenon_json
from gluebench.leaderboard.boards.options import Options, cleaned, page_number
from gluebench.leaderboard.boards.pages import RANKED_BY, board_html, home_page
from gluebench.leaderboard.common.page_cache import cached
from gluebench.leaderboard.ranks.order import ranking_options
from gluebench.leaderboard.ranks.views import in_form
from gluebench.leaderboard.submissions.facts import earlier_than, listed_facts
from gluebench.leaderboard.submissions.views import visible


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The board, where there is one benchmark; else the list of them."""
    only = only_one()
    if only is not None:
        return _board(request, only, None)
    search, page = cleaned(request.GET.get("q", "")), page_number(request.GET.get("page", ""))
    signed_in = request.user.is_authenticated
    return cached(
        request,
        name=f"home {search} {page} {signed_in}",
        version=site_version(),
        make=lambda: home_page(search, page, signed_in=signed_in),
        keep=not search,
    )


@require_safe
def board(request: HttpRequest, name: str) -> HttpResponse:
    """A benchmark's board."""
    return _board(request, live(name), None)


@require_safe
def task_board(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """The board of one task, which ranks whoever has it, complete or not."""
    handle = live(name)
    return _board(request, handle, task_or_404(handle.benchmark().record, task, scored=True))


@require_safe
def export(request: HttpRequest, name: str, ending: str, task: str = "") -> HttpResponse:
    """The board, or a task's, as JSON or as a file to download."""
    handle = live(name)
    write, content_type = FORMATS[ending]

    def make() -> str:
        benchmark = handle.benchmark()
        record = task_or_404(benchmark.record, task, scored=True) if task else None
        return write(benchmark, scheme_of(benchmark.record, record))

    return cached(
        request,
        name=f"export {name} {task} {ending}",
        version=handle.version,
        make=make,
        content_type=content_type,
        filename="" if ending == "json" else f"{name}-{task}.{ending}" if task else f"{name}.{ending}",
    )


@require_safe
def diagnostics(request: HttpRequest, name: str, task: str, form: str = "") -> HttpResponse:
    """A diagnostic set by phenomenon, for every system of the board."""
    benchmark, record = _diagnostic(name, task)
    query, page = request.GET.get("category", ""), page_number(request.GET.get("page", ""))
    category = query if query in (*record.coarse(), *record.metadata) else ""
    is_map = request.GET.get("view") == "map"

    def make(_: Benchmark) -> Any:
        if form == "json":
            return diagnostics_json(benchmark, record)
        if form == "csv":
            return heat_csv(benchmark, record)
        if is_map:
            return heat_page(benchmark, record, page)
        return diagnostics_page(benchmark, record, category, page)

    return in_form(
        request,
        benchmark,
        form,
        make,
        what=f"diagnostics {record.name}" + ("" if form else f" {is_map} {category} {page}"),
        template="boards/heat.html" if is_map else "boards/diagnostics.html",
        filename=f"{name}-{record.name}-phenomena.csv",
    )


@require_safe
def phenomenon(request: HttpRequest, name: str, task: str, slug: str, form: str = "") -> HttpResponse:
    """What a phenomenon is about, and every system's number in it."""
    benchmark, record = _diagnostic(name, task)
    category = named(record, slug)
    if category is None:
        raise Http404(f"{record.name} has no phenomenon or category of that name.")
    page = page_number("" if form else request.GET.get("page", ""))

    def make(_: Benchmark) -> Any:
        if form:
            return phenomenon_json(benchmark, record, category)
        return phenomenon_page(benchmark, record, category, page)

    what = f"phenomenon {record.name} {slug} {page}"
    return in_form(request, benchmark, form, make, what=what, template="boards/phenomenon.html")


@require_safe
def detail(request: HttpRequest, key: str) -> HttpResponse:
    """What an expanded row of the board shows."""
    submission = visible(request.user, key)
    address = request.build_absolute_uri(submission.get_absolute_url())
    context = {
        "submission": submission,
        "facts": listed_facts(submission, private=False),
        "earlier": earlier_than(submission),
        "address": address,
        "citation": citation(submission, address),
    }
    return render(request, "boards/detail.html", context)


@require_safe
def bibtex(request: HttpRequest, key: str) -> HttpResponse:
    """How to cite an entry, for a bibliography."""
    submission = visible(request.user, key)
    text = citation(submission, request.build_absolute_uri(submission.get_absolute_url()))
    return HttpResponse(text, content_type="application/x-bibtex; charset=utf-8")


def _board(request: HttpRequest, handle: Live, task: Task | None) -> HttpResponse:
    names: tuple[Collection[str], Collection[str]] = ((), ())
    if not {"sort", "columns"}.isdisjoint(request.GET):
        scheme = scheme_of(handle.benchmark().record, task)
        names = (scheme.sorts, scheme.choices)
    options, signed_in = Options.of(request, *names), request.user.is_authenticated
    if task is None and not set(RANKED_BY).isdisjoint(request.GET):
        options = options._replace(ranking=ranking_options(request.GET, handle.benchmark().record))
    name = f"board {handle.name} {task and task.name} {options} {signed_in} {request.path}"
    return cached(
        request,
        name=name,
        version=handle.version,
        make=lambda: board_html(handle.benchmark(), task, options, signed_in=signed_in),
        keep=not options.typed,
    )


def _diagnostic(name: str, task: str) -> tuple[Benchmark, Task]:
    """The benchmark and its diagnostic set. Raises Http404."""
    benchmark = live(name).benchmark()
    return benchmark, task_or_404(benchmark.record, task, scored=False)


def task_or_404(record: Record, name: str, *, scored: bool) -> Task:
    """The scored task, or the diagnostic set, of that name. Raises Http404."""
    try:
        task = record.task(name)
    except UnknownNameError as error:
        raise Http404(str(error)) from None
    if task.scored != scored:
        kind = "a scored task, not a diagnostic set" if task.scored else "a diagnostic set, not a scored task"
        raise Http404(f"{task.name} is {kind}.")
    return task
