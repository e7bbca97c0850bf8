"""Two systems of a board compared: the page, its JSON and its CSV."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gluebench.analysis.charts import QUIET, ChartPoint, interval_chart
from gluebench.analysis.names import with_names
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark.figures import p_text
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, find_version
from gluebench.leaderboard.apps.common.formats import gap_text, labels_of, with_sign
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import TYPES, as_download
from gluebench.leaderboard.apps.common.parameters import pinned_keys, takes, takes_phase
from gluebench.leaderboard.apps.common.text import csv_text
from gluebench.leaderboard.apps.ranks.models import comparable, reason_not_compared
from gluebench.leaderboard.apps.ranks.pairs import board_pair
from gluebench.leaderboard.apps.ranks.places import system_json
from gluebench.leaderboard.apps.ranks.renewing import request_comparison
from gluebench.leaderboard.apps.ranks.views import of_phase, phase_in_query
from gluebench.leaderboard.apps.submissions.anonymity import mask
from gluebench.leaderboard.apps.submissions.models import Submission

P = 0.05
"""Two systems that were named beforehand differ significantly up to this p-value."""
CHOICES = 1000
"""Systems that the form lists, the first ones of the board."""
FULL = "Many comparisons are waiting. Try this one again in a few minutes."
WAIT = "The comparison is being computed, usually within a minute, later while submissions wait to be graded."
KINDS = {"coarse": "Coarse categories", "fine": "Fine phenomena"}
NUMBERS = ["a", "b", "difference", "low", "high", "p", "adjusted", "n", "only_a", "only_b", "detectable"]


class ComparisonState(NamedTuple):
    """The state of a comparison of two systems, and its values once it is done."""

    status: str
    """ "done", "waiting", "full", "failed", or "none" where there can be none."""
    detail: str
    values: Values | None = None
    """As `gluebench compare --json` gives them."""
    at: Any = None

    @property
    def http_status(self) -> int:
        """The HTTP status of its JSON and CSV."""
        return {"waiting": 202, "full": 503}.get(self.status, 200)

    def as_json(self, a: Submission, b: Submission) -> Values:
        """Return the comparison, or its state, as JSON; "board" is the same pair among all of the board."""
        return {
            "status": self.status,
            "detail": self.detail or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            "a": system_json(vars(a)),
            "b": system_json(vars(b)),
            "comparison": self.values,
            "board": board_pair(a.in_phase, a.pk, b.pk),
        }


@takes_phase
@takes("a", "b", "pin", forms=("", "json", "csv"))
@require_safe
def compare(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Two systems on the same examples. Without two in the address, a form that asks for them."""
    selected = pinned_keys(request.GET)
    keys = [request.GET.get(side, "") for side in ("a", "b")]
    if selected:  # rows of the board
        keys = [*selected, "", ""][:2]
    benchmark = find_version(name, request.user).benchmark()
    number = phase_in_query(request) or _phase_of(benchmark, keys)
    benchmark = of_phase(benchmark, number)
    chosen = one, other = [find_on_board(benchmark, key) for key in keys]
    if any(key and row is None for key, row in zip(keys, chosen, strict=True)):
        raise Http404("One of the two is not on this board.")
    if one is None or other is None or one == other or len(selected) > 2:
        if form:
            raise Http404("Name two different systems of the board: ?a=KEY&b=KEY.")
        rows = Submission.objects.on_board(benchmark).order_by("-value", "submitted", "pk")
        systems = rows.only("key", "name", "model")[:CHOICES]
        mask(benchmark, *systems)
        context: Values = {
            "benchmark": benchmark,
            "systems": systems,
            "here": "compare",
            "chosen": chosen,
            "same": one is not None and one == other,
            "selected": len(selected),
            "hidden": reason_not_compared(benchmark),
        }
        return render(request, "ranks/compare_form.html", context)
    is_reversed = (one.submitted, one.pk) > (other.submitted, other.pk)
    if selected or is_reversed:
        first, second = (other, one) if is_reversed else (one, other)
        return redirect(f"{request.path}?{urlencode({'a': first.key, 'b': second.key})}")
    comparison = comparison_of(one, other)
    if form == "json":
        return JsonResponse(comparison.as_json(one, other), status=comparison.http_status)
    if form == "csv":
        response = HttpResponse(comparison_csv(comparison.values), TYPES["csv"], comparison.http_status)
        return as_download(response, f"{one.key}-{other.key}.csv")
    context = {
        "benchmark": benchmark,
        "here": "compare",
        "a": one,
        "b": other,
        "comparison": comparison,
        "names": labels_of([vars(one), vars(other)]),
        "query": urlencode({"a": one.key, "b": other.key}),
        "again": f"{reverse('compare', args=[benchmark.name])}?a={one.key}",
    }
    if comparison.values:
        context |= tables_of(comparison.values, benchmark.record)
        context["picture"] = _differences(benchmark, context["names"], context["tasks"], context["whole"])
        context["on_board"] = board_pair(benchmark, one.pk, other.pk)
    status = comparison.http_status if comparison.status == "full" else 200
    return render(request, "ranks/compare.html", context, status=status)


def _phase_of(benchmark: Benchmark, keys: list[str]) -> int:
    """The number of the phase whose board has systems with these keys, if there is one; else 0."""
    phase = benchmark.phases.filter(submissions__key__in=keys).first()
    return phase.pk if phase and phase.is_shown else 0


def comparison_of(a: Submission, b: Submission) -> ComparisonState:
    """The comparison of two systems, the older one first; ask a worker to compute a missing one."""
    if reason := reason_not_compared(a.in_phase):
        return ComparisonState("none", reason)
    if not (comparable(a) and comparable(b)):
        return ComparisonState(
            "none", "Systems are compared while their files are kept and their own scores shown."
        )
    pair = request_comparison(a, b)
    if pair is None:
        return ComparisonState("full", FULL)
    if pair.failure:
        return ComparisonState("failed", f"The two could not be compared. {pair.failure}")
    if pair.at is None or pair.found is None:
        return ComparisonState("waiting", WAIT)
    return ComparisonState("done", "", _with_names(pair.found, a, b), pair.at)


def _with_names(values: Values, a: Submission, b: Submission) -> Values:
    """A stored comparison whose sentences call the two systems by what the page calls them."""
    names = labels_of([vars(a), vars(b)])
    named = dict(values)
    named["conclusion"] = with_names(values["conclusion"], *names)
    named["warnings"] = [with_names(warning, *names) for warning in values["warnings"]]
    for parts in ("tasks", "diagnostics"):
        of_parts = {}
        for name, part in values[parts].items():
            of_parts[name] = {**part, "words": with_names(part["words"], *names)}
        named[parts] = of_parts
    return named


def find_on_board(benchmark: Benchmark, key: str) -> Submission | None:
    """The system of the board with that key; None where there is none."""
    rows = Submission.objects.on_board(benchmark).filter(key=key).select_related("benchmark")
    row = rows.defer("report", "problems", "scores").first() if key.isalnum() else None
    mask(benchmark, *([row] if row else []))
    return row


def tables_of(comparison: Facts, record: Record) -> Values:
    """The average, the scored tasks, and the diagnostic sets, each as a whole and by category."""
    overall, average = comparison["overall"], f"Average of {len(comparison['over'])} tasks"
    sets = []
    for name, task in comparison["diagnostics"].items():
        sets.append(_task_table(f"{record.task(name).title} ({name})", task, record, name))
        categories = task.get("categories", ())
        for kind in dict.fromkeys(category["kind"] for category in categories):
            lines = [line_of(row["name"], row) for row in categories if row["kind"] == kind]
            sets.append({"title": f"{name}: {KINDS.get(kind, kind)}", "lines": lines, "words": ""})
    return {
        "whole": line_of(average, overall, strong=True) if overall else None,
        "tasks": [_task_table(name, task, record, name) for name, task in comparison["tasks"].items()],
        "sets": sets,
    }


def _differences(
    benchmark: Benchmark, names: Sequence[str], tasks: Sequence[Facts], whole: Facts | None
) -> str:
    """A chart of the difference of each task and of the average; empty where losses stand beside scores."""
    lines = [(part["title"], part["lines"][0]) for part in tasks if part["lines"]]
    if whole:
        lines.append((whole["title"], whole))
    losses = {bool(line["loss"]) for _, line in lines}
    if len(losses) != 1:
        return ""
    is_loss = losses.pop()
    rows = []
    for title, line in lines:
        ends = [line[end] for end in ("difference", "low", "high")]
        value, low, high = (None if end is None else end * (1 if is_loss else 100) for end in ends)
        ink = QUIET
        verdict = "not significant"
        if line["significant"]:
            ink = 0 if line["difference"] > 0 else 1
            verdict = f"{names[ink]} is better"
        interval = f" ({line['interval']})" if line["interval"] else ""
        note = f"{title}: {with_sign(line['difference'], is_loss)}{interval}, {verdict}"
        link = "" if line is whole else reverse("task", args=[benchmark.name, title])
        rows.append(ChartPoint(title, value or 0.0, low, high, link, ink, note))
    axis = "A minus B" if is_loss else "A minus B, in points"
    return interval_chart("Differences by task", rows, axis=axis, zero=True)


def _task_table(title: str, task: Facts, record: Record, name: str) -> Values:
    """The task's score, then its metrics; a single metric's title where that is the score."""
    titles = {metric.name: metric.title for metric in record.task(name).metrics}
    several, lines = len(task["metrics"]) > 1, []
    if task["score"]:
        heading = "Task score" if several else titles[next(iter(task["metrics"]))]
        lines.append(line_of(heading, task["score"], strong=True))
    if several or not task["score"]:
        lines += [line_of(titles[metric], numbers) for metric, numbers in task["metrics"].items()]
    return {"title": title, "lines": lines, "words": task["words"]}


def line_of(title: str, numbers: Facts, *, strong: bool = False) -> Values:
    """One difference of the comparison; the line of a task's score is `strong`, above its metrics."""
    decisive = numbers.get("adjusted", numbers["p"])
    effect = ""  # empty where answers are numbers
    if "only_a" in numbers:
        net, rows = numbers["only_a"] - numbers["only_b"], f"{numbers['n']:,} rows"
        more = f"{abs(net):,} more for {'A' if net > 0 else 'B'}" if net else "as many"
        effect = f"{more} of {rows}"
    return {
        **numbers,
        "title": title,
        "interval": gap_text(numbers),
        "loss": numbers.get("loss"),
        "p": "same answers" if numbers["same"] else p_text(decisive),
        "effect": effect,
        "significant": decisive <= P and numbers["difference"] != 0,
        "strong": strong,
    }


def comparison_csv(comparison: Facts | None) -> str:
    """A row for each difference; numbers are fractions."""
    comparison = comparison or {"overall": None, "tasks": {}, "diagnostics": {}}
    rows = [("", "average", "", comparison["overall"])]
    for task, of_task in [*comparison["tasks"].items(), *comparison["diagnostics"].items()]:
        rows.append((task, "score", "", of_task["score"]))
        rows += [(task, "metric", metric, numbers) for metric, numbers in of_task["metrics"].items()]
        rows += [(task, row["kind"], row["name"], row) for row in of_task.get("categories", ())]
    lines = ([*names, row["test"], *map(row.get, NUMBERS)] for *names, row in rows if row)
    return csv_text(["task", "kind", "name", "test", *NUMBERS], lines)
