"""The health of a benchmark: coarse shares for everybody; counts, rows and the site's work for organizers.

The grader computes what needs labels, together with the ranking; here it is joined with the board's scores.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from statistics import fmean, quantiles
from typing import Any

from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task
from gluebench.leaderboard.apps.accounts.models import SignedInRequest
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import for_organizers, render_tab
from gluebench.leaderboard.apps.common.formats import ABSENT, percent, with_sign
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.parameters import takes_phase
from gluebench.leaderboard.apps.phases.models import phase_on_board
from gluebench.leaderboard.apps.ranks.places import ranking_of
from gluebench.leaderboard.apps.ranks.views import in_form
from gluebench.leaderboard.apps.similarity.similar import near
from gluebench.leaderboard.apps.submissions.counting import teams_of_several
from gluebench.leaderboard.apps.submissions.facts import comparable_entries
from gluebench.leaderboard.apps.submissions.queries import Kind, Status, people_of

NEWEST = 1000
"""Submissions whose times and failures are counted, the newest ones."""
ATTEMPTS = 10
"""Attempts that are shown."""


def headroom(benchmark: Benchmark) -> list[Values]:
    """The best score on the average and each task, and how far from 100 (a loss: from 0) and from people."""
    systems = []
    for entry in comparable_entries(benchmark, ["kind", "scores"]):
        if entry["kind"] != Kind.HUMAN:
            systems.append(entry["scores"])
    rows = [_room(benchmark.record, None, ["score"], [scores["score"] for scores in systems])]
    for task in benchmark.record.scored:
        of_task = [(scores["tasks"].get(task.name) or {}).get("score") for scores in systems]
        rows.append(_room(task, task.name, [metric.name for metric in task.metrics], of_task))
    return rows


def _room(of: Record | Task, name: str | None, metrics: list[str], scores: list[Any]) -> Values:
    """A row of `headroom`; people's score is the mean of these published metrics."""
    best = max((score["value"] for score in scores if score and score["value"] is not None), default=None)
    human = None
    for reference in of.references:
        if reference.name == "Human" and set(metrics) <= set(reference.scores):
            human = sum(reference.scores[metric] for metric in metrics) / len(metrics)
            break
    to_highest = None
    to_human = None
    if best is not None:
        to_highest = (0.0 if of.loss else 1.0) - best
        if human is not None:
            to_human = human - best
    values = {"best": best, "human": human, "to_highest": to_highest, "to_human": to_human}
    return {"task": name, "title": of.title, **values, "loss": of.loss}


def table(rooms: list[Values], facts: Facts | None) -> Iterator[list[str]]:
    """Yield the cells of each line: the name, head-room, then shares or, for organizers, counts of items."""
    facts = facts or {"tasks": {}}
    for room in rooms:
        loss = room["loss"]
        own = facts
        if room["task"]:
            own = facts["tasks"].get(room["task"], {})
        gaps = [room["to_highest"], room["to_human"], own.get("detectable")]
        to_highest, to_human, detectable = [with_sign(gap, loss).lstrip("+") for gap in gaps]
        cells = [room["task"] or "Average", percent(room["best"], loss), percent(room["human"], loss)]
        cells += [to_highest, to_human]
        cells += [_items_text(own, name) for name in ("all", "none", "same")]
        yield cells + [detectable]


def _items_text(task: Facts, name: str) -> str:
    """A coarse share, "about 15 %", or a count and its share, "12 (3.4 %)"."""
    value = task.get(name)
    if value is None:
        return ABSENT
    if "step" not in task:
        return f"{value:,} ({percent(value / task['n'])} %)"
    if not value:  # rounded to the nearest step
        return f"under {50 * task['step']:g} %"
    return f"about {100 * value:.0f} %"


@takes_phase
@require_safe
def health(request: HttpRequest, name: str, form: str = "") -> HttpResponseBase:
    """What everybody may know of a benchmark's health."""

    def content(benchmark: Benchmark) -> Values:
        ranking = ranking_of(benchmark)
        rooms = headroom(benchmark)
        if form:
            return ranking.as_json("health/2", headroom=rooms, shares=ranking.shares)
        return {"ranking": ranking, "facts": ranking.shares, "rows": table(rooms, ranking.shares)}

    return in_form(request, name, form, content, cache_key="health", template="ranks/health.html")


@for_organizers(require_safe)
def organize_health(request: SignedInRequest, benchmark: Benchmark, form: str = "") -> HttpResponse:
    """What organizers know: counts, rows of doubtful labels, attempts, failures, times, near-duplicates."""
    ranking = ranking_of(benchmark)
    rooms = headroom(benchmark)
    facts = None
    if ranking.ranking is not None:
        facts = ranking.ranking.health
    compared, pairs = near(benchmark)
    work: Values = {
        "attempts": attempts(benchmark),
        "failures": failures(benchmark),
        "queue": queue(benchmark),
    }
    work["near_duplicates"] = len(pairs) if compared else None
    if form:
        return JsonResponse(ranking.as_json("organizer-health/2", headroom=rooms, facts=facts, **work))
    loss = benchmark.record.loss
    drift = [(row, percent(row["mean"], loss), with_sign(row["gain"], loss)) for row in work["attempts"]]
    shown = {"ranking": ranking, "facts": facts, "rows": table(rooms, facts), "drift": drift}
    return render_tab(request, benchmark, "health", {**work, **shown})


def attempts(benchmark: Benchmark) -> list[Values]:
    """For each attempt number: how many people or teams got there, their mean score, and its mean gain.

    The gain is over their own first attempt; of the phase that the board shows, private submissions too.
    """
    scored = benchmark.submissions.filter(phase=benchmark.board_phase)
    groups = scored.values_list("group", flat=True)
    teams = teams_of_several(groups, benchmark.pk, phase_on_board(benchmark))
    own: dict[tuple[str, int], list[float]] = defaultdict(list)
    for owner, group, value in scored.order_by("submitted", "pk").values_list("owner", "group", "value"):
        if value is not None:
            own[people_of(owner, group, teams)].append(value)
    rows: list[Values] = []
    for at in range(ATTEMPTS):
        there = [values for values in own.values() if len(values) > at]
        if not there:
            break
        mean = fmean(values[at] for values in there)
        gain = fmean(values[at] - values[0] for values in there)
        rows.append({"attempt": at + 1, "people": len(there), "mean": mean, "gain": gain})
    return rows


def failures(benchmark: Benchmark) -> list[tuple[str, int]]:
    """Kinds of failure among the newest submissions, the most frequent first: codes of errors, or reasons."""
    failed = benchmark.submissions.filter(status__in=(Status.INVALID, Status.FAILED)).order_by("-submitted")
    counts: Counter[str] = Counter()
    for problems, failure in failed.values_list("problems", "failure")[:NEWEST]:
        codes = {row["code"] for row in problems.get("problems", ()) if row["severity"] == "error"}
        counts.update(sorted(codes) or [failure or "no reason stored"])
    return counts.most_common()


def queue(benchmark: Benchmark) -> Values:
    """How many wait, since when, and seconds of waiting and grading: the median and the 95th percentile.

    Of the newest submissions that were graded once.
    """
    waiting = benchmark.submissions.waiting().aggregate(waiting=Count("pk"), oldest=Min("submitted"))
    graded = benchmark.submissions.filter(spent=0, finished__isnull=False).order_by("-submitted")
    rows = graded.values_list("submitted", "begun", "finished")[:NEWEST]
    waited = []
    worked = []
    for sent, begun, finished in rows:
        if begun and finished:
            waited.append(begun - sent)
            worked.append(finished - begun)
    facts: Values = {**waiting, "of": len(waited)}
    if waited:
        facts["waited"] = _median_and_95th(waited)
        facts["graded"] = _median_and_95th(worked)
    return facts


def _median_and_95th(spans: list[timedelta]) -> list[float]:
    """The median and the 95th percentile of spans of time, in seconds."""
    seconds = [max(span.total_seconds(), 0.0) for span in spans]  # machines' clocks may differ
    if len(seconds) == 1:  # too few for `quantiles`
        seconds *= 2
    cuts = quantiles(seconds, n=20, method="inclusive")
    return [round(cuts[9], 1), round(cuts[18], 1)]
