"""The public pages. Each has a JSON twin, made from the same look-up."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task, UnknownNameError
from gluebench.leaderboard.benchmarks.live import Live, live, only_one, site_version
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards import twins
from gluebench.leaderboard.boards.columns import scheme_of
from gluebench.leaderboard.boards.data_views import task_data
from gluebench.leaderboard.boards.diagnostics import diagnostics_html, heat_csv, heat_html
from gluebench.leaderboard.boards.options import Options, cleaned, page_number
from gluebench.leaderboard.boards.pages import (
    RANKED_BY,
    facts,
    home_page,
    panel,
    read_page,
    switches,
    table_html,
    task_line,
)
from gluebench.leaderboard.boards.phenomena import Wanted, named, phenomenon_html
from gluebench.leaderboard.common.escapes import latex
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.page_cache import CSV, cached, cached_json
from gluebench.leaderboard.ranks.order import ABOUT, TITLES, wanted_of
from gluebench.leaderboard.ranks.systems import majority_tasks
from gluebench.leaderboard.submissions.entries import diagnosed, earlier_than, entries_of
from gluebench.leaderboard.submissions.facts import listed_facts
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.requests import visible


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
    found = live(name)
    return _board(request, found, task_or_404(found.benchmark().record, task, scored=True))


@require_safe
def board_json(request: HttpRequest, name: str) -> HttpResponse:
    """The board's JSON twin."""
    found = live(name)

    def make() -> dict[str, Any]:
        benchmark = found.benchmark()
        return twins.board(benchmark, entries_of(benchmark))

    return cached_json(request, name=f"board-json {name}", version=found.version, make=make)


@require_safe
def task_json(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """The JSON twin of a task's board."""
    benchmark = live(name).benchmark()
    record = task_or_404(benchmark.record, task, scored=True)
    return cached_json(
        request,
        name=f"task-json {name} {record.name}",
        version=benchmark.version,
        make=lambda: twins.task_board(benchmark, record, entries_of(benchmark)),
    )


@require_safe
def diagnostics(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """A diagnostic set by phenomenon, for every system of the board."""
    benchmark, record = _diagnostic(name, task)
    asked = request.GET.get("category", "")
    category = asked if asked in (*record.coarse(), *record.metadata) else ""
    page, signed_in = page_number(request.GET.get("page", "")), request.user.is_authenticated
    mapped = request.GET.get("view") == "map"

    def make() -> str:
        if mapped:
            return heat_html(benchmark, record, page, signed_in=signed_in)
        return diagnostics_html(benchmark, record, category, page, signed_in=signed_in)

    return cached(
        request,
        name=f"diagnostics {name} {record.name} {mapped} {category} {page} {signed_in}",
        version=benchmark.version,
        make=make,
    )


@require_safe
def diagnostics_csv(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """Every system in every category, for spreadsheets."""
    benchmark, record = _diagnostic(name, task)
    return cached(
        request,
        name=f"diagnostics-csv {name} {record.name}",
        version=benchmark.version,
        make=lambda: heat_csv(benchmark, record),
        content_type=CSV,
        filename=f"{name}-{record.name}-phenomena.csv",
    )


@require_safe
def diagnostics_json(request: HttpRequest, name: str, task: str) -> HttpResponse:
    """The same as JSON."""
    benchmark, record = _diagnostic(name, task)
    return cached_json(
        request,
        name=f"diagnostics-json {name} {record.name}",
        version=benchmark.version,
        make=lambda: twins.diagnostics(benchmark, record, diagnosed(benchmark, record)),
    )


@require_safe
def phenomenon(request: HttpRequest, name: str, task: str, slug: str) -> HttpResponse:
    """What a phenomenon is about, and every system's number in it."""
    benchmark, record = _diagnostic(name, task)
    wanted = _named(record, slug)
    page, signed_in = page_number(request.GET.get("page", "")), request.user.is_authenticated
    return cached(
        request,
        name=f"phenomenon {name} {record.name} {wanted} {page} {signed_in}",
        version=benchmark.version,
        make=lambda: phenomenon_html(benchmark, record, wanted, page, signed_in=signed_in),
    )


@require_safe
def phenomenon_json(request: HttpRequest, name: str, task: str, slug: str) -> HttpResponse:
    """The same as JSON."""
    benchmark, record = _diagnostic(name, task)
    wanted = _named(record, slug)
    return cached_json(
        request,
        name=f"phenomenon-json {name} {record.name} {wanted}",
        version=benchmark.version,
        make=lambda: twins.phenomenon(benchmark, record, wanted),
    )


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


def _board(request: HttpRequest, found: Live, task: Task | None) -> HttpResponse:
    names: tuple[Collection[str], Collection[str]] = ((), ())
    if not {"sort", "columns"}.isdisjoint(request.GET):
        scheme = scheme_of(found.benchmark().record, task)
        names = (scheme.sorts, scheme.choices)
    options, signed_in = Options.of(request, *names), request.user.is_authenticated
    if task is None and not set(RANKED_BY).isdisjoint(request.GET):
        options = options._replace(wanted=wanted_of(request.GET, found.benchmark().record))
    name = f"board {found.name} {task and task.name} {options} {signed_in} {request.path}"
    return cached(
        request,
        name=name,
        version=found.version,
        make=lambda: _board_page(found.benchmark(), task, options, signed_in=signed_in),
        keep=not options.typed,
    )


def _board_page(benchmark: Benchmark, task: Task | None, options: Options, *, signed_in: bool) -> str:
    record = benchmark.record
    every = scheme_of(record, task)
    scheme = every.only(options.columns)
    options = options if task is None else options._replace(grouped=False, intervals=True)
    page = read_page(benchmark, scheme, options)
    context = {
        "benchmark": benchmark,
        "record": record,
        "table": page.table,
        "options": options,
        "shown": page,
        "layout": page.layout,
        "html": table_html(benchmark, page, scheme),
        "signed_in": signed_in,
        "here": "board",
        **panel(every, options),
        **switches(page.options),
    }
    if task is not None:
        context |= {"task": task, "about": task_line(task), **task_data(benchmark, task)}
        return render_to_string("boards/task.html", context)
    around = {
        "facts": facts(record, systems=page.table.systems, best=page.best),
        "tasks": list(map(task_line, (*record.scored, *record.diagnostics))),
        "rules": [(by, TITLES[by], ABOUT[by]) for by in TITLES],
        "majorities": majority_tasks(record),
    }
    return render_to_string("boards/board.html", context | around)


def _diagnostic(name: str, task: str) -> tuple[Benchmark, Task]:
    """The benchmark and its diagnostic set. Raises Http404."""
    benchmark = live(name).benchmark()
    return benchmark, task_or_404(benchmark.record, task, scored=False)


def task_or_404(record: Record, name: str, *, scored: bool) -> Task:
    """The scored task, or the diagnostic set, of that name. Raises Http404."""
    try:
        found = record.task(name)
    except UnknownNameError as error:
        raise Http404(str(error)) from None
    if found.scored != scored:
        kind = (
            "a scored task, not a diagnostic set" if found.scored else "a diagnostic set, not a scored task"
        )
        raise Http404(f"{found.name} is {kind}.")
    return found


def _named(task: Task, slug: str) -> Wanted:
    """The phenomenon of that address. Raises Http404."""
    wanted = named(task, slug)
    if wanted is None:
        raise Http404(f"{task.name} has no phenomenon or category of that name.")
    return wanted


def citation(submission: Submission, address: str) -> str:
    """A BibTeX record of an entry as it stands now; `address` is the full one of its page."""
    when = submission.submitted
    who = submission.team or submission.name
    title = (
        f"{submission.name} ({submission.model}): an entry of the {submission.benchmark.title} leaderboard"
    )
    score = f"Score {percent(submission.value)}. " if submission.value is not None else ""
    lines = [
        f"  author = {{{{{latex(who)}}}}}",
        f"  title = {{{{{latex(title)}}}}}",
        f"  year = {{{when.year}}}",
        f"  month = {when.strftime('%b').lower()}",
        f"  howpublished = {{\\url{{{address}}}}}",
        f"  note = {{{latex(f'{score}Scored by gluebench')}}}",
    ]
    return f"@misc{{{submission.benchmark.name}-{submission.key},\n" + ",\n".join(lines) + "\n}\n"
