"""The public pages: boards and diagnostic sets, each with a JSON view; what other sites show of a board."""

from collections.abc import Collection
from typing import Any

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task, UnknownNameError
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import may_create, role_of
from gluebench.leaderboard.apps.benchmarks import models
from gluebench.leaderboard.apps.benchmarks.contents import fetchable_tasks
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, BenchmarkVersion, find_version, only_one
from gluebench.leaderboard.apps.benchmarks.policy import feedback_sentence
from gluebench.leaderboard.apps.boards import columns
from gluebench.leaderboard.apps.boards import diagnostics as sets
from gluebench.leaderboard.apps.boards.columns import (
    BoardFilters,
    BoardOptions,
    BoardScheme,
    clean_search,
    page_scheme_of,
    scheme_of,
)
from gluebench.leaderboard.apps.boards.downloads import examples_of, files_of
from gluebench.leaderboard.apps.boards.exports import (
    FORMATS,
    citation,
    diagnostics_json,
    eee_json,
    phenomenon_json,
)
from gluebench.leaderboard.apps.boards.pages import (
    glance,
    home_page,
    phases_on_board,
    places_of,
    read_page,
    rows_with_ranks,
    task_line,
)
from gluebench.leaderboard.apps.boards.table import matching_rows
from gluebench.leaderboard.apps.common.fields import REGIMES
from gluebench.leaderboard.apps.common.formats import percent
from gluebench.leaderboard.apps.common.page_cache import serve_from_cache
from gluebench.leaderboard.apps.common.parameters import takes, takes_phase
from gluebench.leaderboard.apps.common.text import page_number
from gluebench.leaderboard.apps.phases.models import at_phase, policy_at, tasks_of
from gluebench.leaderboard.apps.ranks.models import majority_tasks
from gluebench.leaderboard.apps.ranks.order import ABOUT, TITLES, RankingOptions, ranking_options
from gluebench.leaderboard.apps.ranks.places import LEGEND, NOWHERE
from gluebench.leaderboard.apps.ranks.views import in_form, of_phase, phase_in_query, phase_links
from gluebench.leaderboard.apps.submissions.facts import author_fields, earlier_than
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import classes_of
from gluebench.leaderboard.apps.submissions.views import visible

RANKED_BY = ("by", "weights", "majority")
"""Query parameters that select the ranking rule."""
NARROWED_BY = ("phase", "q", *BoardFilters._fields)
"""Query parameters that select the systems."""
QUERY = (*BoardOptions().query_parameters(), "page")
"""All query parameters of a board."""
FRAME_ROWS = 10
"""Systems in a frame."""
SVG = "image/svg+xml"
LETTERS = 40
"""Most characters of a badge's title."""
WIDTH, MARGIN = 7, 12
"""Pixels of a character, and around a text; the browser fits each text to its width."""


@takes(*QUERY)
@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    """The board, where there is one benchmark; else the list of them."""
    only = only_one()
    own = []
    if request.user.is_authenticated:
        seen = Benchmark.objects.visible_to(request.user).filter(restricted=True, draft=False)
        own = list(seen.order_by("pk").values_list("pk", flat=True))
    if only is not None and not own:
        return _board(request, only, None)
    search, page = clean_search(request.GET.get("q", "")), page_number(request.GET.get("page", ""))
    signed_in = role_of(request.user)
    creates = isinstance(request.user, User) and may_create(request.user)
    return serve_from_cache(
        request,
        name=f"home {search} {page} {own} {signed_in} {creates}",
        version=models.site_version(),
        make=lambda: home_page(search, page, own, signed_in=signed_in, creates=creates),
        keep=not search,
    )


@takes(*QUERY)
@require_safe
def board(request: HttpRequest, name: str) -> HttpResponseBase:
    """A benchmark's board."""
    return _board(request, find_version(name, request.user), None)


@takes(*(name for name in QUERY if name not in RANKED_BY))
@require_safe
def task_board(request: HttpRequest, name: str, task: str) -> HttpResponseBase:
    """The board of one task, which ranks every system that has the task, complete or not."""
    handle = find_version(name, request.user)
    record = of_phase(handle.benchmark(), phase_in_query(request)).record
    return _board(request, handle, task_or_404(record, task, scored=True))


@takes(*NARROWED_BY)
@require_safe
def export_task(request: HttpRequest, name: str, ending: str, task: str) -> HttpResponseBase:
    """The board of a task as JSON or as a file to download."""
    return _export(request, name, ending, task, RankingOptions())


@takes(*NARROWED_BY, *RANKED_BY)
@require_safe
def export(request: HttpRequest, name: str, ending: str) -> HttpResponseBase:
    """The board as JSON or as a file to download, by the rule and with the systems that the address names."""
    return _export(request, name, ending, "", _ranking(request, name))


def _ranking(request: HttpRequest, name: str) -> RankingOptions:
    """The rule that the address of a board's file names."""
    if set(RANKED_BY).isdisjoint(request.GET):
        return RankingOptions()
    benchmark = of_phase(find_version(name, request.user).benchmark(), phase_in_query(request))
    return ranking_options(request.GET, benchmark.record)


def _search_options(request: HttpRequest) -> BoardOptions:
    """The systems that the address of a board's file selects."""
    return BoardOptions(
        search=clean_search(request.GET.get("q", "")), filters=BoardFilters.from_query(request.GET.dict())
    )


def _export(
    request: HttpRequest, name: str, ending: str, task: str, ranking: RankingOptions
) -> HttpResponseBase:
    options = _search_options(request)._replace(ranking=ranking)

    def make(benchmark: Benchmark) -> Any:
        record = task_or_404(benchmark.record, task, scored=True) if task else None
        return FORMATS[ending](benchmark, scheme_of(benchmark.record, record), options=options)

    return in_form(
        request,
        name,
        ending,
        make,
        cache_key=f"export {task} {options}",
        filename=f"{name}-{task}.{ending}" if task else f"{name}.{ending}",
        keep=not options.is_uncacheable,
    )


@takes_phase
@takes("category", "page", "view")
@require_safe
def diagnostics(request: HttpRequest, name: str, task: str, form: str = "") -> HttpResponseBase:
    """A diagnostic set by phenomenon, for every system of the board."""
    benchmark, record = _diagnostic(request, name, task)
    query, page = request.GET.get("category", ""), page_number(request.GET.get("page", ""))
    category = query if query in (*record.coarse(), *record.metadata) else ""
    is_map = request.GET.get("view") == "map"

    def make(_: Benchmark) -> Any:
        if form == "json":
            return diagnostics_json(benchmark, record)
        if form == "csv":
            return sets.heat_csv(benchmark, record)
        if is_map:
            return sets.heat_page(benchmark, record, page)
        return sets.diagnostics_page(benchmark, record, category, page)

    return in_form(
        request,
        benchmark,
        form,
        make,
        cache_key=f"diagnostics {record.name}" + ("" if form else f" {is_map} {category} {page}"),
        template="boards/heat.html" if is_map else "boards/diagnostics.html",
        filename=f"{name}-{record.name}-phenomena.csv",
    )


@takes_phase
@takes("page")
@require_safe
def phenomenon(request: HttpRequest, name: str, task: str, slug: str, form: str = "") -> HttpResponseBase:
    """A phenomenon's description, and every system's score in it."""
    benchmark, record = _diagnostic(request, name, task)
    category = sets.find_category(record, slug)
    if category is None:
        raise Http404(f"{record.name} has no phenomenon or category {slug!r}.")
    page = page_number("" if form else request.GET.get("page", ""))

    def make(_: Benchmark) -> Any:
        if form:
            return phenomenon_json(benchmark, record, category)
        return sets.phenomenon_page(benchmark, record, category, page)

    key = f"phenomenon {record.name} {slug} {page}"
    return in_form(request, benchmark, form, make, cache_key=key, template="boards/phenomenon.html")


@require_safe
def detail(request: HttpRequest, key: str) -> HttpResponse:
    """What an expanded row of the board shows."""
    submission = visible(request.user, key)
    address = request.build_absolute_uri(submission.get_absolute_url())
    context = {
        "submission": submission,
        "facts": author_fields(submission, private=False),
        "classes": classes_of(submission.report, submission.record.scored).items(),
        "earlier": earlier_than(submission),
        "address": address,
        "citation": citation(submission, address),
    }
    return render(request, "boards/detail.html", context)


@require_safe
def bibtex(request: HttpRequest, key: str) -> HttpResponse:
    """The BibTeX entry that cites a submission."""
    submission = visible(request.user, key)
    text = citation(submission, request.build_absolute_uri(submission.get_absolute_url()))
    return HttpResponse(text, content_type="application/x-bibtex; charset=utf-8")


@require_safe
def eee(request: HttpRequest, key: str) -> HttpResponse:
    """The record of Every Eval Ever of a submission, for catalogs of results."""
    submission = visible(request.user, key)
    if not submission.is_exported:
        raise Http404("Its author has not stated a model ID and who evaluated it, or it has no report.")
    return JsonResponse(eee_json(submission, request.build_absolute_uri(submission.get_absolute_url())))


def _board(request: HttpRequest, handle: BenchmarkVersion, task: Task | None) -> HttpResponseBase:
    names: tuple[Collection[str], ...] = ((),)
    number = phase_in_query(request)
    if not {"sort", "columns"}.isdisjoint(request.GET):
        scheme = page_scheme_of(of_phase(handle.benchmark(), number).record, task)
        names = (scheme.sort_titles, scheme.choices, scheme.losses)
    options = BoardOptions.from_request(request, *names)
    signed_in = role_of(request.user)
    if task is None and not set(RANKED_BY).isdisjoint(request.GET):
        record = of_phase(handle.benchmark(), number).record
        options = options._replace(ranking=ranking_options(request.GET, record))
    name = f"board {handle.name} {task and task.name} {options} {signed_in} {request.path}"
    return serve_from_cache(
        request,
        name=name,
        version=handle.version,
        make=lambda: _board_html(handle.benchmark(), task, options, signed_in=signed_in),
        keep=not options.is_uncacheable,
    )


def _board_html(benchmark: Benchmark, task: Task | None, options: BoardOptions, *, signed_in: str) -> str:
    """The page of a benchmark's board, or of a task's."""
    if options.phase == benchmark.board_phase:
        options = options._replace(phase=0)
    benchmark = of_phase(benchmark, options.phase)
    record = benchmark.record
    full_scheme = page_scheme_of(record, task)
    if task is not None:
        options = options._replace(grouped=False, intervals=True)
    board = read_page(benchmark, full_scheme.only(options.columns), options)
    context = {
        "benchmark": benchmark,
        "record": record,
        "one_task": len(record.scored) == 1,
        "board": board,
        "options": board.options,
        "task": task,
        "signed_in": signed_in,
        "here": "board",
        "sorts": board.scheme.sort_titles,
        "far": () if options.columns else columns.WIDE_ONLY,
        "selectable": not board.options.phase,
        "file_links": file_links(benchmark, task, options),
    }
    context["html"] = render_to_string("boards/table.html", context)
    context |= _chooser(full_scheme, options, board.options)
    if task is not None:
        owner = tasks_of(benchmark)
        context |= {
            "about": task_line(task),
            "owner": owner,
            "files": [file for file in files_of(owner) if file["task"] == task.name],
            "linked": fetchable_tasks(record).get(task.name),
            "examples": examples_of(owner, task),
        }
        return render_to_string("boards/task.html", context)
    phases = phases_on_board(benchmark, benchmark.board_phase)
    open_phase = next((line["phase"] for line in phases if line["standing"] == "open"), None)
    context |= {
        "phases": phases,
        "hidden": [line for line in phases if line["scores_come"]] if not board.systems else [],
        "feedback": feedback_sentence(policy_at(benchmark, open_phase)),
        **phase_links(options.phase),
        "facts": glance(record, systems=board.systems, best=board.best),
        "tasks": list(map(task_line, (*record.scored, *record.diagnostics))),
        "rules": [(by, TITLES[by], ABOUT[by]) for by in TITLES] if len(record.scored) > 1 else [],
        "majorities": majority_tasks(record),
    }
    return render_to_string("boards/board.html", context)


def file_links(benchmark: Benchmark, task: Task | None, options: BoardOptions) -> dict[str, str]:
    """The addresses of a board's files, by name: with the systems and by the rule of its page.

    Those of `FORMATS`, and of the whole board "badge" and "embed" too.
    """
    given = options.pairs()
    routes = {form: f"board-{form}" for form in FORMATS} | {"badge": "badge", "embed": "embed"}
    names = [benchmark.name]
    if task is not None:
        routes = {form: f"task-{form}" for form in FORMATS}
        names.append(task.name)
    links = {}
    for form, route in routes.items():
        known = NARROWED_BY if form == "badge" else NARROWED_BY + RANKED_BY  # a badge names no rank
        pairs = {name: value for name, value in given.items() if name in known}
        links[form] = reverse(route, args=names) + columns.address(1, **pairs).removesuffix("?")
    return links


def _chooser(scheme: BoardScheme, options: BoardOptions, shown: BoardOptions) -> dict[str, Any]:
    """Context of the form above a board: its choices, and addresses of the board with other options."""
    chosen = options.columns or [*scheme.column_names, *columns.USUAL_FACTS]
    return {
        "choices": [(name, title, name in chosen) for name, title in scheme.choices.items()],
        "sort_titles": scheme.sort_titles,
        "regimes": REGIMES.items(),
        "number_pattern": columns.NUMBER,
        "settings": sum(map(bool, (*options.filters, options.columns, not options.ranking.usual))),
        "to_everything": shown.query(everything=True),
        "to_previous": shown.query(page=shown.page - 1),
        "to_next": shown.query(page=shown.page + 1),
        "to_unsearched": shown.query(search="", filters=columns.BoardFilters()),
        "to_unpinned": shown.query(pinned=()),
        "to_usual": BoardOptions().query(sort=shown.sort, turned=shown.turned, everything=shown.everything),
        "kept": [pair for pair in shown.pairs().items() if pair[0] in ("rows", "pin")],
    }


def _diagnostic(request: HttpRequest, name: str, task: str) -> tuple[Benchmark, Task]:
    """The benchmark and its diagnostic set. Raises Http404."""
    benchmark = of_phase(find_version(name, request.user).benchmark(), phase_in_query(request))
    # Of all of its sets, which every page links to: one that the phase lacks has no systems.
    return benchmark, task_or_404(tasks_of(benchmark).record, task, scored=False)


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


@takes(*NARROWED_BY)
@require_safe
def badge(request: HttpRequest, name: str) -> HttpResponseBase:
    """A badge of a benchmark: how many systems, and the best score, of those that the address selects."""
    handle, number = find_version(name, request.user), phase_in_query(request)
    options = _search_options(request)

    def make() -> str:
        benchmark = of_phase(handle.benchmark(), number)
        rows = matching_rows(rows_with_ranks(benchmark), options)
        best = max((each.value for each in rows if each.value is not None), default=None)
        systems = f"{len(rows):,} system{'s' * (len(rows) != 1)}"
        score = "" if best is None else f", best {percent(best, benchmark.record.loss)}"
        return badge_svg(benchmark.title, f"{systems}{score}")

    return serve_from_cache(
        request,
        name=f"badge {name} {number} {options}",
        version=handle.version,
        make=make,
        content_type=SVG,
        keep=not options.is_uncacheable,
    )


@require_safe
def row_badge(request: HttpRequest, key: str) -> HttpResponseBase:
    """A badge of a system with its rank and score."""
    rows = Submission.objects.visible_to(request.user).public().select_related("benchmark", "phase")
    row = get_object_or_404(rows, key=key)
    benchmark = row.benchmark

    def make() -> str:
        place = places_of(at_phase(benchmark, row.phase)).get(row.pk, NOWHERE)
        text = place.withheld
        if place.rank:
            text = f"rank {place.text}: {percent(row.value, benchmark.record.loss)}"
        return badge_svg(benchmark.title, text)

    version = benchmark.version
    return serve_from_cache(request, name=f"row badge {key}", version=version, make=make, content_type=SVG)


def badge_svg(title: str, text: str) -> str:
    """A picture of two fields side by side, for light and dark pages."""
    title = title if len(title) <= LETTERS else f"{title[: LETTERS - 1]}…"
    first, second = (WIDTH * len(part) for part in (title, text))
    places = {"edge": first + MARGIN, "after": first + 3 * MARGIN // 2, "whole": first + second + 2 * MARGIN}
    values = {"title": title, "text": text, "first": first, "second": second, **places}
    return render_to_string("boards/badge.svg", values)


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"], "form-action": ["'none'"], "script-src": ["'none'"]})  # type: ignore[arg-type]
@takes(*NARROWED_BY, *RANKED_BY)
@require_safe
def embed(request: HttpRequest, name: str) -> HttpResponseBase:
    """The first rows of a board, for a frame in any page: without scripts, forms and accounts."""
    options = _search_options(request)._replace(ranking=_ranking(request, name))

    def make(benchmark: Benchmark) -> dict[str, object]:
        board = read_page(benchmark, scheme_of(benchmark.record), options)
        rows = [row for row in board.rows if not row.reference][:FRAME_ROWS]
        query = options._replace(phase=phase_in_query(request)).query().removesuffix("?")
        address = benchmark.get_absolute_url() + query
        return {"rows": rows, "board": board, "address": address, "legend": LEGEND}

    return in_form(
        request,
        name,
        "",
        make,
        cache_key=f"embed {options}",
        template="boards/embed.html",
        keep=not options.is_uncacheable,
    )
