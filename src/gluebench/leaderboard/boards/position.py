"""What the author of a graded submission wants to know next: where it stands, and how it compares."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.boards.standings import Standing, standings
from gluebench.leaderboard.common.formats import interval_text, labels_of, percent, score_bars
from gluebench.leaderboard.ranks.compare_views import state_of
from gluebench.leaderboard.ranks.tables import P
from gluebench.leaderboard.submissions.models import Submission

HISTORY = 12
"""Own submissions that the page lists, the newest."""


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
    history = _history(submission)
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
    state = state_of(one, two)
    overall = (state.found or {}).get("overall")
    if not overall:
        return {**distance, "test": state.detail}
    low, high = overall["low"], overall["high"]
    if one.pk != other.pk and low is not None:
        low, high = -high, -low
    outcome = "significant" if overall["p"] <= P and overall["difference"] else "not significant"
    interval = interval_text({"low": low, "high": high})
    return {**distance, "interval": interval, "test": f"{outcome} at 5 %"}


def _history(submission: Submission) -> list[dict[str, Any]]:
    rows = Submission.objects.filter(owner=submission.owner_id, benchmark=submission.benchmark_id)
    rows = rows.current().filter(value__isnull=False).order_by("-submitted", "-pk")
    columns = ("key", "name", "model", "submitted", "scores", "public")
    history = [{**row} for row in rows.values(*columns)[:HISTORY]]
    return history if len(history) > 1 else []
