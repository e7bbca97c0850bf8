"""Public operations: benchmarks, their boards, entries and diagnostics, as the pages show them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils import timezone
from ninja import Query, Router
from pydantic import StringConstraints
from pydantic_core import to_json

from gluebench.benchmark import Task
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.annotation.models import facts_of, public_studies
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.callers import ANYBODY, PUBLIC, reader
from gluebench.leaderboard.apps.api.schemas import Paging, answers
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, find_version
from gluebench.leaderboard.apps.boards import views as pages
from gluebench.leaderboard.apps.boards.columns import board_entries, scheme_of
from gluebench.leaderboard.apps.boards.downloads import coming_files, files_of, send_data_file
from gluebench.leaderboard.apps.boards.exports import board_json, diagnostics_json
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import TYPES, once, serve_from_cache
from gluebench.leaderboard.apps.common.problems import ProblemError, not_found
from gluebench.leaderboard.apps.limits.phase_acts import values_of
from gluebench.leaderboard.apps.phases.models import at_phase, policy_at, tasks_of
from gluebench.leaderboard.apps.phases.moments import SubmissionSlot, ends_for, slot_of
from gluebench.leaderboard.apps.phases.wording import describe_phases
from gluebench.leaderboard.apps.ranks import compare_views
from gluebench.leaderboard.apps.ranks import health as health_pages
from gluebench.leaderboard.apps.ranks import views as rank_pages
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.facts import with_systems
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import files_to_submit

router = Router(tags=["Benchmarks"], auth=ANYBODY)

Key = Annotated[str, StringConstraints(min_length=1, max_length=12, pattern="^[0-9A-Za-z]*$")]
Make = Callable[[Benchmark], Facts]


PHASE: Values = {
    "in": "query",
    "name": "phase",
    "schema": {"type": "integer"},
    "required": False,
    "description": "The id of another phase than the one that the board shows.",
}


def _get(address: str, shape: Any, *statuses: int, by_phase: bool = False) -> Callable[[Any], Any]:
    """Register an operation that needs no account, as the OpenAPI document then says.

    One `by_phase` takes the parameter `phase`, which `phase_in_query` reads from the request.
    """
    extra = {**PUBLIC, "parameters": [PHASE]} if by_phase else PUBLIC
    return router.get(address, response=answers(shape, *statuses), openapi_extra=extra)


@_get("", schemas.BenchmarkList, 422)
def benchmarks(request: HttpRequest, paging: Query[Paging]) -> Values:
    """The benchmarks of this site, the oldest first."""
    rows = with_systems(Benchmark.objects.visible_to(reader(request))).order_by("added", "pk")
    page, facts = paging.page_of(request, rows)
    return {**facts, "items": [_benchmark_line(row) for row in page]}


@_get("/{slug:name}", schemas.BenchmarkDetail, 404, 422, 304)
def benchmark(request: HttpRequest, name: str, phase: int = 0) -> HttpResponseBase:
    """A benchmark: its tasks, the files of a submission, its limits and how it gives feedback.

    `phase` is the id of a phase, whose tasks, manifest and data it then has.
    """
    benchmark = benchmark_or_404(request, name)

    def body() -> str:
        return to_json(_facts(benchmark, phase)).decode()

    # The version counts changes of pages; this answer shows the settings too.
    key = f"api benchmark {name} {phase} {benchmark.open} {benchmark.revealed} {benchmark.settings}"
    return serve_from_cache(
        request, name=key, version=benchmark.version, make=body, content_type=TYPES["json"]
    )


def _facts(benchmark: Benchmark, number: int) -> Values:
    """The values for all tasks or, by the number of a phase, for those that it has. Raises ProblemError."""
    phases = describe_phases(benchmark)
    phase = None
    for line in phases:
        if line["phase"].pk == number or (not number and line["standing"] == "open"):
            phase = line["phase"]
            break
    if number and phase is None:
        address = reverse("api:phases", args=[benchmark.name])
        raise not_found(f"{benchmark.name} has no phase {number}: {address} lists them.")
    in_phase = at_phase(benchmark, phase)
    shown = in_phase if number else benchmark
    record = shown.record
    return {
        **_benchmark_line(benchmark),
        "description": record.description,
        "website": record.url,
        "citation": record.citation,
        "version": benchmark.version,
        "tasks": [_task_facts(task) for task in record.tasks],
        "files": [
            {**file, "task": in_phase.record.file(file["name"]).task}
            for file in files_to_submit(in_phase.record)
        ],
        "policy": policy_at(benchmark, phase).as_dict(),
        "policy_sentences": feedback.explain_policy(benchmark, phase),
        "phases": [_phase_facts(line) for line in phases],
        "manifest": shown.manifest,
        "parents": shown.parents,
        "data": files_of(tasks_of(shown)),
        "coming_data": coming_files(benchmark),
    }


@_get("/{slug:name}/data/{path:path}", None, 404, 304)
def data_file(request: HttpRequest, name: str, path: str) -> HttpResponseBase:
    """A file of the Data page, whole or from a byte on."""
    return send_data_file(request, benchmark_or_404(request, name), path, reader(request))


@_get("/{slug:name}/phases", schemas.PhaseList, 404)
def phases(request: HttpRequest, name: str) -> Values:
    """Its phases with their extensions, when each closes for the caller, and which takes a file now."""
    caller = reader(request)
    benchmark = benchmark_or_404(request, name)
    slot = SubmissionSlot()
    if isinstance(caller, User):
        slot = slot_of(benchmark, caller, timezone.now())
    items = []
    for line in describe_phases(benchmark):
        ends = line["phase"].ends
        takes = line["standing"] == "open"
        if isinstance(caller, User):
            ends = ends_for(line["phase"], caller.pk)
            takes = line["phase"] == slot.phase
        items.append({**_phase_facts(line), "ends": ends, "takes": takes})
    return {"items": items}


@_get("/{slug:name}/announcements", schemas.AnnouncementList, 404, 422)
def announcements(request: HttpRequest, name: str, paging: Query[Paging]) -> Values:
    """What its organizers announced, newest first; texts are Markdown."""
    rows = benchmark_or_404(request, name).announcements.values("id", "title", "text", "at", "changed")
    page, facts = paging.page_of(request, rows)
    return {**facts, "items": list(page)}


@_get("/{slug:name}/board", schemas.Board, 404, 422, 304)
def board(request: HttpRequest, name: str, paging: Query[Paging], phase: int = 0) -> HttpResponseBase:
    """The board in its order, a page at a time; with an earlier answer's ETag, 304 while it is the same.

    `phase` is the id of another phase than the one that the board shows.
    """

    def body(benchmark: Benchmark) -> Values:
        only = {"phase": phase} if phase else {}
        places, facts = paging.page_of(request, range(len(board_entries(benchmark))), **only)
        part = slice(places.start, places.stop)
        return {**board_json(benchmark, scheme_of(benchmark.record), part=part), **facts}

    name_of_page = f"api board {phase} {paging.page} {paging.per_page}"
    return rank_pages.in_form(request, benchmark_or_404(request, name), "json", body, cache_key=name_of_page)


@_get("/{slug:name}/entries/{slug:key}", schemas.BoardRow, 404, 304, by_phase=True)
def entry(request: HttpRequest, name: str, key: str) -> HttpResponseBase:
    """One row of the board. Its full report is at /submissions/KEY/report."""
    benchmark = benchmark_or_404(request, name)
    pk = _entry(_benchmark_in_phase(request, benchmark), key).pk

    def body(benchmark: Benchmark) -> Any:
        rows = board_json(benchmark, scheme_of(benchmark.record), pk=pk)["rows"]
        return next(iter(rows), None)

    return rank_pages.in_form(request, benchmark, "json", body, cache_key=f"api entry {key}")


@_get("/{slug:name}/diagnostics/{str:task}", schemas.Diagnostics, 404, 422, 304, by_phase=True)
def diagnostics(request: HttpRequest, name: str, task: str, paging: Query[Paging]) -> HttpResponseBase:
    """A diagnostic set: each entry's scores by phenomenon, a page at a time."""
    benchmark = benchmark_or_404(request, name)
    in_phase = _benchmark_in_phase(request, benchmark)
    diagnostic = pages.task_or_404(tasks_of(in_phase).record, task, scored=False)
    table = f"diagnostics {diagnostic.name}"
    return _table_page(request, benchmark, table, paging, lambda row: diagnostics_json(row, diagnostic))


@_get(
    "/{slug:name}/diagnostics/{str:task}/phenomena/{str:phenomenon}",
    schemas.Phenomenon,
    404,
    304,
    by_phase=True,
)
def phenomenon(request: HttpRequest, name: str, task: str, phenomenon: str) -> HttpResponseBase:
    """One phenomenon or coarse category, by its address on the site: what it is about, and every entry."""
    return pages.phenomenon(request, benchmark_or_404(request, name).name, task, phenomenon, "json")


@_get("/{slug:name}/people", schemas.HumanStudyList, 404)
def people(request: HttpRequest, name: str) -> HttpResponse:
    """Scores of people on diagnostic sets, from the studies that are public."""
    benchmark = benchmark_or_404(request, name)
    return JsonResponse({"items": [facts_of(study) for study in public_studies(benchmark)]})


@_get("/{slug:name}/rules", schemas.Rules, 404, 304, by_phase=True)
def rules(request: HttpRequest, name: str) -> HttpResponseBase:
    """Ranks under every rule of aggregation, rank sets where a rule has them, and what holds under all."""
    return rank_pages.ranks_page(request, benchmark_or_404(request, name).name, "rules", "json")


@_get("/{slug:name}/pairs", schemas.PairList, 404, 304, by_phase=True)
def pairs(request: HttpRequest, name: str) -> HttpResponseBase:
    """Every pair of systems on the average, tested on the same examples, all pairs at once."""
    return rank_pages.ranks_page(request, benchmark_or_404(request, name).name, "pairs", "json")


@_get("/{slug:name}/health", schemas.Health, 404, 304, by_phase=True)
def health(request: HttpRequest, name: str) -> HttpResponseBase:
    """Head-room, and coarse shares of what the test sets still tell."""
    return health_pages.health(request, benchmark_or_404(request, name).name, "json")


@_get("/{slug:name}/efficiency", schemas.Efficiency, 404, 304, by_phase=True)
def efficiency(request: HttpRequest, name: str) -> HttpResponseBase:
    """Scores against parameters and latency."""
    return rank_pages.ranks_page(request, benchmark_or_404(request, name).name, "efficiency", "json")


@_get("/{slug:name}/compare", schemas.SystemComparison, 202, 404, 422, 503, by_phase=True)
def compare(request: HttpRequest, name: str, a: Query[Key], b: Query[Key]) -> HttpResponse:
    """Two systems on the same examples. 202 while a worker computes it: ask again after some seconds."""
    benchmark = _benchmark_in_phase(request, benchmark_or_404(request, name))
    one, other = sorted((_entry(benchmark, a), _entry(benchmark, b)), key=lambda row: (row.submitted, row.pk))
    if one == other:
        raise not_found("Name two different entries of the board.")
    comparison = compare_views.comparison_of(one, other)
    if comparison.status == "full":
        raise ProblemError(503, "busy", comparison.detail, headers={"Retry-After": "120"})
    return JsonResponse(comparison.as_json(one, other), status=comparison.http_status)


def _benchmark_in_phase(request: HttpRequest, benchmark: Benchmark) -> Benchmark:
    """The benchmark in the phase that the address names, or else in the one on its board. Raises Http404."""
    return rank_pages.of_phase(benchmark, rank_pages.phase_in_query(request))


def _entry(benchmark: Benchmark, key: str) -> Submission:
    row = compare_views.find_on_board(benchmark, key)
    if row is None:
        name = benchmark.name
        raise not_found(
            f"The board of {name} has no entry {key}. "
            f"{reverse('api:board', args=[name])} lists the entries with their keys."
        )
    return row


def benchmark_or_404(request: HttpRequest, name: str) -> Benchmark:
    """The benchmark of that name, if the caller may see it. Raises ProblemError."""
    caller = reader(request)
    with suppress(Http404):
        find_version(name, caller)  # which brings its phases in line with the clock
    benchmark = with_systems(Benchmark.objects.visible_to(caller)).filter(name=name).first()
    if benchmark is None:
        raise not_found(f"This site has no benchmark {name!r}.")
    return benchmark


def _benchmark_line(benchmark: Benchmark) -> Values:
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "url": benchmark.get_absolute_url(),
        "open": benchmark.open,
        "systems": getattr(benchmark, "systems", 0),
    }


def _task_facts(task: Task) -> Values:
    facts = ("name", "title", "summary", "section", "domain", "scored", "score_range", "private")
    return {
        **{name: getattr(task, name) for name in facts},
        "labels": task.words,
        "metrics": [{"name": row.name, "title": row.title, "file": row.file} for row in task.metrics],
        "phenomena": [{"name": row.name, "coarse": row.coarse} for row in task.phenomena],
        "source": task.source._asdict(),
    }


def _phase_facts(line: Facts) -> Values:
    phase = line["phase"]
    return {
        "id": phase.pk,
        **values_of(phase),
        **{name: line[name] for name in ("standing", "sentences", "announcements")},
        "board": phase.is_shown,
    }


def _table_page(
    request: HttpRequest, benchmark: Benchmark, table: str, paging: Paging, make: Make
) -> HttpResponseBase:
    """Answer with a page of a table's rows and the table's other values."""

    def body(benchmark: Benchmark) -> Values:
        # All rows are made once for each version of the benchmark.
        all_rows = once(
            f"api {table} {benchmark.name} {benchmark.board_phase}",
            benchmark.version,
            lambda: make(benchmark),
        )
        rows, facts = paging.page_of(request, all_rows["rows"])
        return {**all_rows, **facts, "rows": rows}

    name = f"api {table} {paging.page} {paging.per_page}"
    return rank_pages.in_form(request, benchmark, "json", body, cache_key=name)
