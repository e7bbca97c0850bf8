"""What the author of a graded submission wants to know next: where it stands, and how it compares."""

from __future__ import annotations

from typing import Any, NamedTuple

from gluebench.leaderboard.boards.standings import Standing, standings
from gluebench.leaderboard.common.formats import interval_text, labels_of, percent, score_bars
from gluebench.leaderboard.ranks.compare_views import state_of
from gluebench.leaderboard.ranks.tables import P
from gluebench.leaderboard.submissions.models import Submission

HISTORY = 12
"""Own submissions that the page lists, the newest."""


class Distance(NamedTuple):
    """How far another system of the board is from this one."""

    title: str
    other: Submission
    points: str
    """The difference of the rounded scores, other minus own."""
    interval: str
    """The 95 % interval of the difference; empty while it is not computed."""
    test: str
    """What the paired test says, or why there is none yet."""


class Position(NamedTuple):
    """Where a submission stands among the systems of its board."""

    rank: int
    systems: int
    """Complete systems of the board, this one included."""
    distances: tuple[Distance, ...]
    history: tuple[dict[str, Any], ...]
    """Its author's scores on this benchmark, newest first, where there are several."""
    picture: str


def position_of(submission: Submission) -> Position | None:
    """Its place and its distances; None where it has no score that may be shown."""
    own = submission.value
    if own is None:
        return None
    rows = standings(submission.benchmark).rows
    others = [(row.value, row) for row in rows if row.value is not None and row.pk != submission.pk]
    others.sort(key=lambda each: -each[0])
    rank = 1 + sum(value > own for value, _ in others)
    history = _history(submission)
    bars = zip(labels_of(history), (each["scores"]["score"] for each in history), strict=True)
    return Position(
        rank,
        len(others) + 1,
        tuple(_distance(submission, title, row) for title, row in _near([row for _, row in others], rank)),
        history if len(history) > 1 else (),
        score_bars("Your scores on this benchmark", "Score", bars) if len(history) > 1 else "",
    )


def _near(others: list[Standing], rank: int) -> list[tuple[str, Standing]]:
    """The next better system and the best; for the best, the one that follows."""
    if rank == 1:
        return [("The next one", others[0])] if others else []
    best = [("The best", others[0])]
    return best if rank == 2 else [("The next better", others[rank - 2]), *best]


def _distance(submission: Submission, title: str, row: Standing) -> Distance:
    other = Submission.objects.select_related("benchmark").defer("report", "problems").get(pk=row.pk)
    points = (row.value or 0) - (submission.value or 0)
    text = f"{'+' if points > 0 else ''}{percent(points)}"
    if not submission.is_listed:
        return Distance(title, other, text, "", "Publish yours to have the difference tested.")
    one, two = sorted((submission, other), key=lambda each: (each.submitted, each.pk))
    state = state_of(one, two)
    found = (state.found or {}).get("overall")
    if not found:
        return Distance(title, other, text, "", state.detail)
    low, high = found["low"], found["high"]
    if one.pk != other.pk and low is not None:
        low, high = -high, -low
    told = "significant" if found["p"] <= P and found["difference"] else "not significant"
    return Distance(title, other, text, interval_text({"low": low, "high": high}), f"{told} at 5 %")


def _history(submission: Submission) -> tuple[dict[str, Any], ...]:
    rows = Submission.objects.filter(owner=submission.owner_id, benchmark=submission.benchmark_id)
    rows = rows.current().filter(value__isnull=False).order_by("-submitted", "-pk")
    columns = ("key", "name", "model", "submitted", "scores", "public")
    return tuple({**row} for row in rows.values(*columns)[:HISTORY])
