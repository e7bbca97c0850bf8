"""What templates call: filters that write numbers, and where an author's submission stands on the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from gluebench.leaderboard.boards.diagnostics import slug_of
from gluebench.leaderboard.boards.standings import Standing, standings
from gluebench.leaderboard.common import formats
from gluebench.leaderboard.common.formats import interval_text, labels_of, percent, score_bars
from gluebench.leaderboard.common.text import breakable, markdown
from gluebench.leaderboard.limits.quota import precise
from gluebench.leaderboard.ranks.compare_views import comparison_of
from gluebench.leaderboard.ranks.views import P
from gluebench.leaderboard.submissions.models import Submission

HISTORY = 12
"""Own submissions that the page lists, the newest."""

register = template.Library()
register.filter("count", formats.count)
register.filter("kappa", formats.kappa)
register.filter("percent", formats.percent)
register.filter("score", formats.score_text)
register.filter("interval", formats.interval_text)
register.filter("markdown", markdown)
register.filter("breakable", breakable)
register.filter("precise", precise)
register.filter("slugged", slug_of)


@register.filter
def item(values: Mapping[str, Any], name: str) -> Any:
    """What a mapping has under a name that is known only here; None where it has nothing."""
    return values.get(name)


@register.inclusion_tag("boards/position.html")
def position(submission: Submission) -> dict[str, Any]:
    """Where it stands, and what its author may do next."""
    return {"submission": submission, "benchmark": submission.benchmark, "position": position_of(submission)}


def position_of(submission: Submission) -> dict[str, Any] | None:
    """Its place among the complete systems, and its distances; None where it has no score that may be shown.

    `history` is its author's scores on this benchmark, newest first, where there are several.
    """
    own = submission.value
    if own is None:
        return None
    rows = standings(submission.benchmark).rows
    others = [(row.value, row) for row in rows if row.value is not None and row.pk != submission.pk]
    others.sort(key=lambda pair: -pair[0])
    rank = 1 + sum(value > own for value, _ in others)
    near = _near([row for _, row in others], rank)
    sent = Submission.objects.filter(owner=submission.owner_id, benchmark=submission.benchmark_id)
    sent = sent.current().filter(value__isnull=False).order_by("-submitted", "-pk")
    columns = ("key", "name", "model", "submitted", "scores", "public")
    history: list[dict[str, Any]] = [{**row} for row in sent.values(*columns)[:HISTORY]]
    history = history if len(history) > 1 else []
    bars = zip(labels_of(history), (entry["scores"]["score"] for entry in history), strict=True)
    return {
        "rank": rank,
        "systems": len(others) + 1,
        "distances": [_distance(submission, title, row) for title, row in near],
        "history": history,
        "picture": score_bars("Your scores on this benchmark", "Score", bars),
    }


def _near(others: list[Standing], rank: int) -> list[tuple[str, Standing]]:
    """The next better system and the best; for the best, the one that follows."""
    if rank == 1:
        return [("The next one", others[0])] if others else []
    best = [("The best", others[0])]
    return best if rank == 2 else [("The next better", others[rank - 2]), *best]


def _distance(submission: Submission, title: str, row: Standing) -> dict[str, Any]:
    """How far another system of the board is: the difference of the rounded scores, and what a test says."""
    other = Submission.objects.select_related("benchmark").defer("report", "problems").get(pk=row.pk)
    points = (row.value or 0) - (submission.value or 0)
    distance = {"title": title, "other": other, "points": f"{'+' if points > 0 else ''}{percent(points)}"}
    if not submission.is_listed:
        return {**distance, "test": "Publish yours to have the difference tested."}
    one, two = sorted((submission, other), key=lambda entry: (entry.submitted, entry.pk))
    comparison = comparison_of(one, two)
    overall = (comparison.values or {}).get("overall")
    if not overall:
        return {**distance, "test": comparison.detail}
    low, high = overall["low"], overall["high"]
    if one.pk != other.pk and low is not None:
        low, high = -high, -low
    outcome = "significant" if overall["p"] <= P and overall["difference"] else "not significant"
    interval = interval_text({"low": low, "high": high})
    return {**distance, "interval": interval, "test": f"{outcome} at 5 %"}
