"""The page that compares two systems of a board."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.live import live
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.page_cache import JSON
from gluebench.leaderboard.ranks.compared import comparison_csv, parts_of, whole_of
from gluebench.leaderboard.ranks.kept import who
from gluebench.leaderboard.ranks.models import Pair
from gluebench.leaderboard.ranks.renewing import ask
from gluebench.leaderboard.ranks.systems import comparable, hidden
from gluebench.leaderboard.ranks.views import CSV
from gluebench.leaderboard.submissions.models import Submission

CHOICES = 1000
"""Systems that the form lists, the first ones of the board."""
FULL = "Many comparisons wait already. Ask for this one again in a few minutes."
WAIT = (
    "The two are being compared: usually within a minute, later while submissions wait to be graded. "
    "The result is kept; load the page again then."
)


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
        response["Content-Disposition"] = f'attachment; filename="{one.key}-{other.key}.csv"'
        return response
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
    context["query"] = urlencode({"a": a.key, "b": b.key})
    context["again"] = f"{reverse('compare', args=[benchmark.name])}?a={a.key}"
    if state.found:
        tasks, sets = parts_of(state.found, benchmark.record)
        context |= {"whole": whole_of(state.found), "tasks": tasks, "sets": sets, "found": state.found}
    return render(
        request, "ranks/compare.html", context, status=_status(state) if state.status == "full" else 200
    )
