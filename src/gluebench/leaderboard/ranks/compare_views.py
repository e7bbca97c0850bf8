"""Two systems of a board compared: the page, its JSON and its CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.common.formats import labels_of
from gluebench.leaderboard.common.page_cache import CSV, JSON, as_download
from gluebench.leaderboard.common.text import csv_text
from gluebench.leaderboard.ranks.models import Pair
from gluebench.leaderboard.ranks.renewing import ask
from gluebench.leaderboard.ranks.systems import comparable, hidden
from gluebench.leaderboard.ranks.tables import P, who
from gluebench.leaderboard.submissions.models import Submission

CHOICES = 1000
"""Systems that the form lists, the first ones of the board."""
FULL = "Many comparisons are waiting. Try this one again in a few minutes."
WAIT = (
    "The comparison is being computed. This usually takes less than a minute, longer while submissions "
    "wait to be graded. Load the page again then."
)
KINDS = {"coarse": "Coarse categories", "fine": "Fine phenomena"}
NUMBERS = ["a", "b", "difference", "low", "high", "p", "adjusted", "n", "only_a", "only_b", "detectable"]
Line = dict[str, Any]
"""A difference of the comparison with its texts."""
Part = dict[str, Any]
"""A table of differences: its title, lines and words."""


class State(NamedTuple):
    """A comparison as far as it is."""

    status: str
    """ "done", "waiting", "full", "failed", or "none" where there can be none."""
    detail: str
    found: dict[str, Any] | None = None
    at: Any = None


@require_safe
def compare(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Two systems on the same examples. Without two in the address, a form that asks for them."""
    benchmark = live(name).benchmark()
    keys = [request.GET.get(side, "") for side in ("a", "b")]
    chosen = [_named(benchmark, key) for key in keys]
    one, other = chosen
    if one is None or other is None or one == other:
        if form:
            raise Http404("Name two different systems of the board: ?a=KEY&b=KEY.")
        return _form(request, benchmark, chosen)
    if (one.submitted, one.pk) > (other.submitted, other.pk):
        return redirect(f"{request.path}?{urlencode({'a': other.key, 'b': one.key})}")
    state = state_of(one, other)
    if form == "json":
        return HttpResponse(json.dumps(as_json(one, other, state)), JSON, status_of(state))
    if form == "csv":
        response = HttpResponse(comparison_csv(state.found), CSV, status_of(state))
        return as_download(response, f"{one.key}-{other.key}.csv")
    return _page(request, benchmark, one, other, state)


def state_of(a: Submission, b: Submission) -> State:
    """The comparison of two systems, the older one first; a worker is to compute it where there is none."""
    if reason := hidden(a.benchmark):
        return State("none", reason)
    if not (comparable(a) and comparable(b)):
        return State("none", "A system can be compared while its file is kept and its own score is shown.")
    pair: Pair | None = ask(a, b)
    if pair is None:
        return State("full", FULL)
    if pair.failure:
        return State("failed", f"The two could not be compared. {pair.failure}")
    return State("done", "", pair.found, pair.at) if pair.at else State("waiting", WAIT)


def as_json(a: Submission, b: Submission, state: State) -> dict[str, Any]:
    """The comparison as JSON, or how far it is."""
    return {
        "status": state.status,
        "detail": state.detail or None,
        "computed": state.at.isoformat(timespec="seconds") if state.at else None,
        "a": who(vars(a)),
        "b": who(vars(b)),
        "comparison": state.found,
    }


def status_of(state: State) -> int:
    """The HTTP status of an answer to programs."""
    return {"waiting": 202, "full": 503}.get(state.status, 200)


def listed(benchmark: Benchmark, key: str) -> Submission | None:
    """The system of the board with that key; None where there is none."""
    rows = Submission.objects.public().filter(benchmark=benchmark, key=key).select_related("benchmark")
    return rows.defer("report", "problems", "scores").first() if key.isalnum() else None


def _named(benchmark: Benchmark, key: str) -> Submission | None:
    """The system of the board with that key; None where none is named. Raises Http404."""
    submission = listed(benchmark, key)
    if key and submission is None:
        raise Http404("One of the two is not on this board.")
    return submission


def _form(request: HttpRequest, benchmark: Benchmark, chosen: list[Submission | None]) -> HttpResponse:
    rows = Submission.objects.public().filter(benchmark=benchmark).order_by("-value", "submitted", "pk")
    context = {
        "benchmark": benchmark,
        "systems": rows.only("key", "name", "model")[:CHOICES],
        "chosen": chosen,
        "same": chosen[0] is not None and chosen[0] == chosen[1],
        "told": hidden(benchmark),
    }
    return render(request, "ranks/compare_form.html", context)


def _page(
    request: HttpRequest, benchmark: Benchmark, a: Submission, b: Submission, state: State
) -> HttpResponse:
    context: dict[str, Any] = {"benchmark": benchmark, "a": a, "b": b, "state": state}
    context["names"] = labels_of([vars(a), vars(b)])
    context["query"] = urlencode({"a": a.key, "b": b.key})
    context["again"] = f"{reverse('compare', args=[benchmark.name])}?a={a.key}"
    if state.found:
        tasks, sets = parts_of(state.found, benchmark.record)
        context |= {"whole": whole_of(state.found), "tasks": tasks, "sets": sets, "found": state.found}
    return render(
        request, "ranks/compare.html", context, status=status_of(state) if state.status == "full" else 200
    )


def parts_of(comparison: Mapping[str, Any], record: Record) -> tuple[list[Part], list[Part]]:
    """The scored tasks, a part for each, and the diagnostic sets, each whole and by category."""
    tasks, sets = comparison["tasks"].items(), comparison["diagnostics"].items()
    parts = [_part(name, _task(task, record, name), task["words"]) for name, task in tasks]
    return parts, [part for name, task in sets for part in _set(task, record, name)]


def _part(title: str, lines: Iterable[Line], words: str = "") -> Part:
    return {"title": title, "lines": list(lines), "words": words}


def whole_of(comparison: Mapping[str, Any]) -> Line | None:
    """The average over the tasks."""
    if not comparison["overall"]:
        return None
    return line_of(f"Average of {len(comparison['over'])} tasks", comparison["overall"], strong=True)


def _task(task: Mapping[str, Any], record: Record, name: str) -> Iterator[Line]:
    """The task's score, then its metrics; a single metric's title where that is the score."""
    titles = {metric.name: metric.title for metric in record.task(name).metrics}
    several = len(task["metrics"]) > 1
    if task["score"]:
        title = "Task score" if several else titles[next(iter(task["metrics"]))]
        yield line_of(title, task["score"], strong=True)
    if several or not task["score"]:
        yield from (line_of(titles[metric], numbers) for metric, numbers in task["metrics"].items())


def _set(task: Mapping[str, Any], record: Record, name: str) -> Iterator[Part]:
    yield _part(f"{record.task(name).title} ({name})", _task(task, record, name), task["words"])
    categories = task.get("categories", ())
    for kind in dict.fromkeys(category["kind"] for category in categories):
        lines = (line_of(category["name"], category) for category in categories if category["kind"] == kind)
        yield _part(f"{name}: {KINDS.get(kind, kind)}", lines)


def line_of(title: str, numbers: Mapping[str, Any], *, strong: bool = False) -> Line:
    """One difference of the comparison; the line of a task's score is `strong`, above its metrics."""
    decisive = numbers.get("adjusted", numbers["p"])
    return {
        **numbers,
        "title": title,
        "p": "same answers" if numbers["same"] else p_text(decisive),
        "effect": _effect(numbers),
        "told": decisive <= P and numbers["difference"] != 0,
        "strong": strong,
    }


def p_text(p: float) -> str:
    """A p-value as people read it."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def _effect(numbers: Mapping[str, Any]) -> str:
    """ "17 more for A of 1,725 rows"; only the size where answers are numbers."""
    if "only_a" not in numbers:
        return ""
    net, rows = numbers["only_a"] - numbers["only_b"], f"{numbers['n']:,} rows"
    return f"{abs(net):,} more for {'A' if net > 0 else 'B'} of {rows}" if net else f"as many of {rows}"


def comparison_csv(comparison: Mapping[str, Any] | None) -> str:
    """A row for each difference; numbers are fractions."""
    rows = _differences(comparison) if comparison else ()
    return csv_text(
        ["task", "kind", "name", "test", *NUMBERS],
        ([*names, numbers["test"], *map(numbers.get, NUMBERS)] for *names, numbers in rows),
    )


def _differences(comparison: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Task, kind and name of each difference, and its numbers."""
    if comparison["overall"]:
        yield "", "average", "", comparison["overall"]
    for task, of_task in [*comparison["tasks"].items(), *comparison["diagnostics"].items()]:
        if of_task["score"]:
            yield task, "score", "", of_task["score"]
        yield from ((task, "metric", metric, numbers) for metric, numbers in of_task["metrics"].items())
        yield from ((task, row["kind"], row["name"], row) for row in of_task.get("categories", ()))
