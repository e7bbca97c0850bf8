"""Two systems of a board compared: the page, its JSON and its CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.leaderboard.benchmarks.live import live
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import labels_of
from gluebench.leaderboard.common.page_cache import CSV, JSON, as_download
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
    chosen = [_listed(benchmark, key) for key in keys]
    one, other = chosen
    if one is None or other is None or one == other:
        if form:
            raise Http404("Name two different systems of the board: ?a=KEY&b=KEY.")
        return _form(request, benchmark, chosen)
    if (one.submitted, one.pk) > (other.submitted, other.pk):
        return redirect(f"{request.path}?{urlencode({'a': other.key, 'b': one.key})}")
    state = state_of(one, other)
    if form == "json":
        return HttpResponse(json.dumps(twin(one, other, state)), JSON, _status(state))
    if form == "csv":
        response = HttpResponse(comparison_csv(state.found), CSV, _status(state))
        return as_download(response, f"{one.key}-{other.key}.csv")
    return _page(request, benchmark, one, other, state)


def state_of(a: Submission, b: Submission) -> State:
    """The comparison of two systems, the older one first; a worker is asked where there is none."""
    told = hidden(a.benchmark)
    if told:
        return State("none", told)
    if not (comparable(a) and comparable(b)):
        return State("none", "A system can be compared while its file is kept and its own score is shown.")
    pair: Pair | None = ask(a, b)
    if pair is None:
        return State("full", FULL)
    if pair.failure:
        return State("failed", f"The two could not be compared. {pair.failure}")
    return State("done", "", pair.found, pair.at) if pair.at else State("waiting", WAIT)


def twin(a: Submission, b: Submission, state: State) -> dict[str, Any]:
    """The comparison as JSON, or how far it is."""
    return {
        "status": state.status,
        "detail": state.detail or None,
        "computed": state.at.isoformat(timespec="seconds") if state.at else None,
        "a": who(a)._asdict(),
        "b": who(b)._asdict(),
        "comparison": state.found,
    }


def _status(state: State) -> int:
    return {"waiting": 202, "full": 503}.get(state.status, 200)


def _listed(benchmark: Benchmark, key: str) -> Submission | None:
    """The system of the board with that key; None where none is named. Raises Http404."""
    if not key:
        return None
    rows = Submission.objects.public().filter(benchmark=benchmark, key=key).select_related("benchmark")
    found = rows.defer("report", "problems", "scores").first() if key.isalnum() else None
    if found is None:
        raise Http404("One of the two is not on this board.")
    return found


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
    context["names"] = labels_of([{"name": x.name, "model": x.model, "key": x.key} for x in (a, b)])
    context["query"] = urlencode({"a": a.key, "b": b.key})
    context["again"] = f"{reverse('compare', args=[benchmark.name])}?a={a.key}"
    if state.found:
        tasks, sets = parts_of(state.found, benchmark.record)
        context |= {"whole": whole_of(state.found), "tasks": tasks, "sets": sets, "found": state.found}
    return render(
        request, "ranks/compare.html", context, status=_status(state) if state.status == "full" else 200
    )


class Line(NamedTuple):
    """One difference, ready to show."""

    title: str
    found: Mapping[str, Any]
    p: str
    effect: str
    """The effect in examples."""
    told: bool
    strong: bool
    """Whether it is a task's score, above its metrics."""


class Part(NamedTuple):
    """One table of differences."""

    title: str
    lines: tuple[Line, ...]
    words: str = ""


def parts_of(found: Mapping[str, Any], record: Record) -> tuple[list[Part], list[Part]]:
    """The scored tasks, a part for each, and the diagnostic sets, each whole and by category."""
    tasks = [
        Part(name, tuple(_task(task, record, name)), task["words"]) for name, task in found["tasks"].items()
    ]
    return tasks, [part for name, task in found["diagnostics"].items() for part in _set(task, record, name)]


def whole_of(found: Mapping[str, Any]) -> Line | None:
    """The average over the tasks."""
    if not found["overall"]:
        return None
    return line_of(f"Average of {len(found['over'])} tasks", found["overall"], strong=True)


def _task(task: Mapping[str, Any], record: Record, name: str) -> Iterator[Line]:
    """The task's score, then its metrics; a single metric's title where that is the score."""
    titles = {metric.name: metric.title for metric in record.task(name).metrics}
    several = len(task["metrics"]) > 1
    if task["score"]:
        title = "Task score" if several else titles[next(iter(task["metrics"]))]
        yield line_of(title, task["score"], strong=True)
    if several or not task["score"]:
        yield from (line_of(titles[metric], each) for metric, each in task["metrics"].items())


def _set(task: Mapping[str, Any], record: Record, name: str) -> Iterator[Part]:
    yield Part(f"{record.task(name).title} ({name})", tuple(_task(task, record, name)), task["words"])
    categories = task.get("categories", ())
    for kind in dict.fromkeys(each["kind"] for each in categories):
        lines = tuple(line_of(each["name"], each) for each in categories if each["kind"] == kind)
        yield Part(f"{name}: {KINDS.get(kind, kind)}", lines)


def line_of(title: str, found: Mapping[str, Any], *, strong: bool = False) -> Line:
    """One difference of the comparison."""
    decisive = found.get("adjusted", found["p"])
    p = "same answers" if found["same"] else p_text(decisive)
    return Line(title, found, p, _effect(found), decisive <= P and found["difference"] != 0, strong)


def p_text(p: float) -> str:
    """A p-value as people read it."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def _effect(found: Mapping[str, Any]) -> str:
    """ "17 more for A of 1,725 rows"; only the size where answers are numbers."""
    if "only_a" not in found:
        return ""
    net, rows = found["only_a"] - found["only_b"], f"{found['n']:,} rows"
    return f"{abs(net):,} more for {'A' if net > 0 else 'B'} of {rows}" if net else f"as many of {rows}"


def comparison_csv(found: Mapping[str, Any] | None) -> str:
    """A row for each difference; numbers are fractions."""
    return csv_text(["task", "kind", "name", "test", *NUMBERS], [] if found is None else list(_rows(found)))


def _rows(found: Mapping[str, Any]) -> Iterator[list[Any]]:
    if found["overall"]:
        yield _row("", "average", "", found["overall"])
    for name, task in [*found["tasks"].items(), *found["diagnostics"].items()]:
        if task["score"]:
            yield _row(name, "score", "", task["score"])
        yield from (_row(name, "metric", metric, each) for metric, each in task["metrics"].items())
        yield from (_row(name, each["kind"], each["name"], each) for each in task.get("categories", ()))


def _row(task: str, kind: str, name: str, found: Mapping[str, Any]) -> list[Any]:
    return [task, kind, name, found["test"], *(found.get(number) for number in NUMBERS)]
