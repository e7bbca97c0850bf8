"""The health of a benchmark: coarse shares for everybody; counts, rows and the site's work for organizers.

The grader computes what needs labels, together with the ranking; here it is joined with the board's scores.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
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
from gluebench.leaderboard.apps.common.formats import ABSENT, percent, signed
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.parameters import takes_phase
from gluebench.leaderboard.apps.phases.models import phase_on_board
from gluebench.leaderboard.apps.ranks.places import ranking_of
from gluebench.leaderboard.apps.ranks.views import in_form
from gluebench.leaderboard.apps.similarity.similar import near
from gluebench.leaderboard.apps.submissions.counting import teams_of_several
from gluebench.leaderboard.apps.submissions.facts import compared_entries
from gluebench.leaderboard.apps.submissions.queries import Kind, Status, people_of

NEWEST = 1000
"""Submissions whose times and failures are counted, the newest ones."""
ATTEMPTS = 10
"""Attempts that are shown."""


def headroom(benchmark: Benchmark) -> list[Values]:
    """The best score on the average and each task, and how far from 100 (a loss: from 0) and from people."""
    boards = [
        entry["scores"]
        for entry in compared_entries(benchmark, ["kind", "scores"])
        if entry["kind"] != Kind.HUMAN
    ]
    rows = [_room(benchmark.record, None, ["score"], [board["score"] for board in boards])]
    for task in benchmark.record.scored:
        scores = [(board["tasks"].get(task.name) or {}).get("score") for board in boards]
        rows.append(_room(task, task.name, [metric.name for metric in task.metrics], scores))
    return rows


def _room(of: Record | Task, name: str | None, metrics: list[str], scores: list[Any]) -> Values:
    best = max((score["value"] for score in scores if score and score["value"] is not None), default=None)
    known = [row.scores for row in of.references if row.name == "Human" and {*metrics} <= {*row.scores}]
    human = sum(known[0][metric] for metric in metrics) / len(metrics) if known else None
    gaps = [None if best is None or end is None else end - best for end in (0.0 if of.loss else 1.0, human)]
    values = {"best": best, "human": human, "to_highest": gaps[0], "to_human": gaps[1]}
    return {"task": name, "title": of.title, **values, "loss": of.loss}


def table(rooms: list[Values], facts: Facts | None) -> Iterator[list[str]]:
    """Yield the cells of each line: the name, head-room, then shares or, for organizers, counts of items."""
    for room in rooms:
        loss, shown = room["loss"], facts or {"tasks": {}}
        own = shown["tasks"].get(room["task"], {}) if room["task"] else shown
        scores = [percent(room[name], loss) for name in ("best", "human")]
        items = [_items_text(own, name) for name in ("all", "none", "same")]
        ends = [room["to_highest"], room["to_human"], own.get("detectable")]
        gaps = [signed(end, loss).lstrip("+") for end in ends]
        yield [room["task"] or "Average", *scores, *gaps[:2], *items, gaps[2]]


def _items_text(task: Facts, name: str) -> str:
    """A coarse share, "about 15 %", or a count and its share, "12 (3.4 %)"."""
    value = task.get(name)
    if value is None:
        return ABSENT
    if "step" not in task:
        return f"{value:,} ({percent(value / task['n'])} %)"
    return f"about {100 * value:.0f} %" if value else f"under {50 * task['step']:g} %"


@takes_phase
@require_safe
def health(request: HttpRequest, name: str, form: str = "") -> HttpResponseBase:
    """What everybody may know of a benchmark's health."""

    def content(benchmark: Benchmark) -> Values:
        ranking, rooms = ranking_of(benchmark), headroom(benchmark)
        if form:
            return ranking.as_json("health/2", headroom=rooms, shares=ranking.shares)
        return {"ranking": ranking, "facts": ranking.shares, "rows": table(rooms, ranking.shares)}

    return in_form(request, name, form, content, cache_key="health", template="ranks/health.html")


@for_organizers(require_safe)
def organize_health(request: SignedInRequest, benchmark: Benchmark, form: str = "") -> HttpResponse:
    """What organizers know: counts, rows of doubtful labels, attempts, failures, times, near-duplicates."""
    ranking, rooms = ranking_of(benchmark), headroom(benchmark)
    facts = ranking.ranking.health if ranking.ranking else None
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
    drift = [(row, percent(row["mean"], loss), signed(row["gain"], loss)) for row in work["attempts"]]
    shown = {"ranking": ranking, "facts": facts, "rows": table(rooms, facts), "drift": drift}
    return render_tab(request, benchmark, "health", {**work, **shown})


def attempts(benchmark: Benchmark) -> list[Values]:
    """For each attempt number: how many people or teams got there, their mean score, and its mean gain.

    The gain is over their own first attempt; of the phase that the board shows, private submissions too.
    """
    scored = benchmark.submissions.filter(phase=benchmark.board_phase)
    teams = teams_of_several(scored.values_list("group", flat=True), phase_on_board(benchmark))
    own: dict[tuple[str, int], list[float]] = defaultdict(list)
    for owner, group, value in scored.order_by("submitted", "pk").values_list("owner", "group", "value"):
        if value is not None:
            own[people_of(owner, group, teams)].append(value)
    rows = []
    for at in range(min(ATTEMPTS, max(map(len, own.values()), default=0))):
        there = [(values[at], values[at] - values[0]) for values in own.values() if len(values) > at]
        mean, gain = (fmean(column) for column in zip(*there, strict=True))
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
    times = [(begun - sent, finished - begun) for sent, begun, finished in rows if begun and finished]
    facts: Values = {**waiting, "of": len(times)}
    for name, spans in zip(("waited", "graded"), zip(*times, strict=True), strict=False):
        seconds = [max(span.total_seconds(), 0.0) for span in spans]  # machines' clocks may differ
        cuts = quantiles(seconds if len(seconds) > 1 else 2 * seconds, n=20, method="inclusive")
        facts[name] = [round(cuts[9], 1), round(cuts[18], 1)]  # half, and 95 %
    return facts
