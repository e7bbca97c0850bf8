"""The health of a benchmark: coarse shares for everybody; counts, rows and the site's work for organizers.

The grader computes what needs labels, together with the ranking; here it is joined with the board's scores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import Task
from gluebench.benchmark.figures import points
from gluebench.leaderboard.accounts.models import SignedInRequest
from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.ranks.models import Ranking
from gluebench.leaderboard.ranks.views import in_form, ranking_of
from gluebench.leaderboard.similarity.similar import near
from gluebench.leaderboard.submissions.facts import entries_of
from gluebench.leaderboard.submissions.models import Kind, Status
from gluebench.leaderboard.submissions.views import for_organizers, render_tab
from gluebench.scoring.feedback import bounds_of

NEWEST = 1000
"""Submissions whose times and failures are counted, the newest ones."""
ATTEMPTS = 10
"""Attempts that are shown one by one."""
ITEMS = ("all", "none", "same")
Row = dict[str, Any]


def headroom(benchmark: Benchmark) -> list[Row]:
    """The best score on the average and each task, and how far it is from the highest and from people's."""
    record = benchmark.record
    boards = [entry["scores"] for entry in entries_of(benchmark) if entry["kind"] != Kind.HUMAN]
    highest = {
        task.name: sum(bounds_of(task, metric.name)[1] for metric in task.metrics) / len(task.metrics)
        for task in record.scored
    }
    weights = {task.name: task.weight for task in record.averaged}
    top = sum(weights[name] * highest[name] for name in weights) / (sum(weights.values()) or 1)
    rows = [_room("", record, [scores["score"] for scores in boards], {"score"}, top)]
    for task in record.scored:
        scores = [(board["tasks"].get(task.name) or {}).get("score") for board in boards]
        rows.append(_room(task.name, task, scores, {row.name for row in task.metrics}, highest[task.name]))
    return rows


def _room(name: str, of: Record | Task, scores: Iterable[Any], metrics: set[str], highest: float) -> Row:
    best = max((score["value"] for score in scores if score and score["value"] is not None), default=None)
    human: Mapping[str, float] = next((row.scores for row in of.references if row.name == "Human"), {})
    people = sum(human[metric] for metric in metrics) / len(metrics) if metrics <= {*human} else None
    gaps = {
        "to_highest": None if best is None or not isfinite(highest) else highest - best,
        "to_human": None if best is None or people is None else people - best,
    }
    return {"task": name or None, "title": of.title, "best": best, "human": people, **gaps, "loss": of.loss}


def table(rooms: list[Row], facts: Mapping[str, Any] | None) -> list[list[str]]:
    """The cells of each line: the name, head-room, then shares or, for organizers, counts of items."""
    tasks = facts["tasks"] if facts else {}
    cells = []
    for room in rooms:
        own, loss = tasks.get(room["task"], {}), room["loss"]
        least = own.get("detectable") if room["task"] else (facts or {}).get("detectable")
        numbers = [percent(room["best"], loss), percent(room["human"], loss)]
        numbers += [points(gap, loss).replace("-", "−") for gap in (room["to_highest"], room["to_human"])]
        items = [_items_text(own, name) for name in ITEMS]
        cells.append([room["task"] or "Average", *numbers, *items, points(least, loss).replace("-", "–")])
    return cells


def _items_text(task: Mapping[str, Any], name: str) -> str:
    """A coarse share, "about 15 %", or a count and its share, "12 (3.4 %)"."""
    value = task.get(name)
    if value is None:
        return "–"
    if "step" not in task:
        return f"{value:,} ({percent(value / task['n'])} %)"
    return f"about {100 * value:.0f} %" if value else f"under {50 * task['step']:g} %"


@require_safe
def health(request: HttpRequest, name: str, form: str = "") -> HttpResponse:
    """What everybody may know of a benchmark's health."""

    def content(benchmark: Benchmark) -> dict[str, Any]:
        ranking, rooms = ranking_of(benchmark), headroom(benchmark)
        if form:
            return ranking.as_json("health", headroom=rooms, shares=ranking.shares)
        return {"ranking": ranking, "facts": ranking.shares, "rows": table(rooms, ranking.shares)}

    source = live(name, request.user)
    return in_form(request, source, form, content, cache_key="health", template="ranks/health.html")


@for_organizers(require_safe)
def organise_health(request: SignedInRequest, benchmark: Benchmark, form: str = "") -> HttpResponse:
    """What organizers know: counts, rows of doubtful labels, attempts, failures, times, near-duplicates."""
    ranking, rooms = ranking_of(benchmark), headroom(benchmark)
    rankings = Ranking.objects.filter(benchmark=benchmark)
    facts = None if ranking.reason else rankings.values_list("health", flat=True).first()
    compared, pairs = near(benchmark)
    work: Row = {
        "attempts": attempts(benchmark),
        "failures": failures(benchmark),
        "queue": queue(benchmark),
        "near_duplicates": len(pairs) if compared else None,
    }
    if form:
        return JsonResponse(ranking.as_json("organizer-health", headroom=rooms, facts=facts, **work))
    doubtful = [(name, task) for name, task in facts["tasks"].items() if task["rows"]] if facts else []
    shown = {"ranking": ranking, "facts": facts, "rows": table(rooms, facts), "doubtful": doubtful}
    loss = benchmark.record.loss
    drift = [(row, percent(row["mean"], loss), points(row["gain"], loss)) for row in work["attempts"]]
    return render_tab(request, benchmark, "health", {**shown, **work, "drift": drift})


def attempts(benchmark: Benchmark) -> list[Row]:
    """For each attempt number: how many people or teams got there, their mean score, and its mean gain.

    The gain is over their own first attempt; of the phase that the board shows, private submissions too.
    """
    scored = benchmark.submissions.filter(phase=benchmark.board_phase)
    own: dict[tuple[str, int], list[float]] = defaultdict(list)
    for owner, group, value in scored.order_by("submitted", "pk").values_list("owner", "group", "value"):
        if value is not None:
            own[("team", group) if group else ("person", owner)].append(value)
    rows = []
    for at in range(ATTEMPTS):
        there = [values for values in own.values() if len(values) > at]
        if there:
            mean = float(np.mean([values[at] for values in there]))
            gain = float(np.mean([values[at] - values[0] for values in there]))
            rows.append({"attempt": at + 1, "people": len(there), "mean": mean, "gain": gain})
    return rows


def failures(benchmark: Benchmark) -> list[tuple[str, int]]:
    """Kinds of failure among the newest submissions, the most frequent first: codes of errors, or reasons."""
    failed = benchmark.submissions.filter(status__in=(Status.INVALID, Status.FAILED)).order_by("-submitted")
    counts: Counter[str] = Counter()
    for problems, failure in failed.values_list("problems", "failure")[:NEWEST]:
        codes = {row["code"] for row in problems.get("problems", ()) if row["severity"] == "error"}
        counts.update(codes or {failure or "no reason stored"})
    return counts.most_common()


def queue(benchmark: Benchmark) -> dict[str, Any]:
    """How many wait, since when, and seconds of waiting and grading: the median and the 95th percentile.

    Of the newest submissions that were graded once.
    """
    waiting = benchmark.submissions.waiting().aggregate(waiting=Count("pk"), oldest=Min("submitted"))
    graded = benchmark.submissions.filter(spent=0, finished__isnull=False).order_by("-submitted")
    rows = graded.values_list("submitted", "begun", "finished")[:NEWEST]
    times = [(begun - sent, finished - begun) for sent, begun, finished in rows if begun and finished]
    facts: Row = {**waiting, "of": len(times)}
    for name, spans in zip(("waited", "graded"), zip(*times, strict=True), strict=False):
        seconds = [max(span.total_seconds(), 0.0) for span in spans]  # machines' clocks may differ
        facts[name] = np.quantile(seconds, (0.5, 0.95)).round(1).tolist()
    return facts
