"""A submission's position on its board: rank and rank set, distances with their tests, other scores."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence

from django import template

from gluebench.analysis.charts import Scale
from gluebench.leaderboard.apps.boards.columns import BoardEntry, board_entries
from gluebench.leaderboard.apps.boards.pages import places_of
from gluebench.leaderboard.apps.common.formats import gap_text, labels_of, score_intervals, with_sign
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.phases.models import at_phase
from gluebench.leaderboard.apps.ranks.compare_views import comparison_of
from gluebench.leaderboard.apps.ranks.places import NOWHERE, TOGETHER, RankWithSet, not_different
from gluebench.leaderboard.apps.submissions.anonymity import mask
from gluebench.leaderboard.apps.submissions.models import Submission

register = template.Library()
HISTORY = 12
"""Most submissions of the same author that a submission's page lists, newest first."""


BAR, MARK = 400, 12
"""Width of the picture of a rank set, and half the height of its mark."""
FEWEST_RANKS = 20
"""Ranks that the picture shows at least, if there are so many systems."""
VERSION = re.compile(
    r"(?<=[^\s,_-])[\s,_-]*+\(?(?:\b(?:v|version|run)\.?)?[\s_-]*+\d{1,8}(?:[.-]\d{1,8}){0,3}\)?$"
)
"""The end of a name that says which version of a system it is."""
MOST_VERSIONS = 500
"""Entries of one name, at most, that are searched for those of the same people."""
NAMES = 20
"""Most systems that a submission's page names as not significantly different."""


@register.inclusion_tag("boards/rank.html")
def rank(submission: Submission, owned: bool) -> Values:
    """Its rank on the board with its rank set, and from which systems it does not differ significantly.

    `owned`: its author reads it, and sees the neighbors below, with more about each.
    """
    context = {
        "submission": submission,
        "benchmark": submission.in_phase,
        "together": TOGETHER,
        "owned": owned,
    }
    return context | rank_of(submission)


def rank_of(submission: Submission) -> Values:
    """The place of a listed submission, of how many, and the systems not significantly different from it."""
    board = at_phase(submission.benchmark, submission.phase)
    places = places_of(board)
    rows = {row.pk: row for row in board_entries(board)}
    similar = [rows[pk] for pk in not_different(board, "", submission.pk) or () if pk in rows]
    place = places.get(submission.pk, NOWHERE)
    systems = sum(place.rank is not None for place in places.values())
    return {
        "place": place,
        "systems": systems,
        "bar": _rank_bar(place, systems),
        "similar": similar[:NAMES],
        "more": max(len(similar) - NAMES, 0),
        "neighbors": _neighbors(submission, places, rows, {row.pk for row in similar}),
        "versions": _versions(submission, rows.values()),
        "team_rows": _rows_of_team(submission, rows.values()),
    }


def _rank_bar(place: RankWithSet, systems: int) -> Values | None:
    """Positions of a rank and its rank set in a picture `BAR` wide, with the last rank that it shows."""
    if place.rank is None or place.low is None or place.high is None or systems < 2:
        return None
    last = min(systems, max(2 * place.high, FEWEST_RANKS))
    scale = Scale(1, last, MARK, BAR - MARK)
    low, high, at = (round(scale.position(rank)) for rank in (place.low, place.high, place.rank))
    return {"low": low, "high": high, "at": at, "last": last, "width": BAR}


def _neighbors(
    submission: Submission,
    places: Mapping[int, RankWithSet],
    rows: Mapping[int, BoardEntry],
    similar: Container[int],
) -> list[Values]:
    """The best system of the board, the next better and the next, with their differences in score."""
    ranked = sorted((place.rank, pk) for pk, place in places.items() if place.rank is not None and pk in rows)
    order = [pk for _, pk in ranked]
    if submission.pk not in order:
        return []
    at = order.index(submission.pk)
    titles = {0: "The best", at - 1: "The next better", at + 1: "The next"}
    neighbors = []
    for position in sorted(titles):
        if not 0 <= position < len(order) or position == at:
            continue
        row = rows[order[position]]
        neighbor = {"title": titles[position], "row": row, "place": places[row.pk], "test": ""}
        if row.value is not None and submission.value is not None:
            neighbor["points"] = with_sign(row.value - submission.value, submission.record.loss)
        if places[submission.pk].span and places[row.pk].span:
            neighbor["test"] = "not significant" if row.pk in similar else "significant"
        neighbors.append(neighbor)
    return neighbors


def _versions(submission: Submission, rows: Iterable[BoardEntry]) -> list[BoardEntry]:
    """The versions of a system on its board, the newest first: entries of the same people under one name.

    A number at the end of the name is the version's. None for a system with one entry, and while names are
    hidden.
    """
    if submission.benchmark.names_hidden_until is not None:
        return []
    name = _without_version(submission.name)
    same_name = {row.pk: row for row in rows if _without_version(row.name) == name}
    people = Submission.objects.of_same_people(submission).filter(pk__in=list(same_name)[:MOST_VERSIONS])
    own = [same_name[pk] for pk in people.order_by("-submitted", "-pk").values_list("pk", flat=True)]
    return own if len(own) > 1 else []


def _without_version(name: str) -> str:
    """The name of a system without the version that it ends in: "bert" of "BERT v2.1" and of "Bert (3)"."""
    return VERSION.sub("", name.casefold()).strip()


def _rows_of_team(submission: Submission, rows: Iterable[BoardEntry]) -> list[BoardEntry]:
    """The systems of the board under the same team's name, the newest first; none without a team."""
    own = [row for row in rows if row.team and row.team == submission.team]
    own.sort(key=lambda row: (row.submitted, row.pk), reverse=True)
    return own[:HISTORY] if len(own) > 1 else []


@register.simple_tag
def task_places(submission: Submission) -> dict[str, RankWithSet]:
    """The places of a listed submission on the boards of its tasks, by the task's name."""
    if not submission.is_listed:
        return {}
    board = at_phase(submission.benchmark, submission.phase)
    tasks = board.record.scored
    if len(tasks) == 1:  # its board is the benchmark's
        return {}

    def read() -> dict[str, RankWithSet]:
        return {task.name: places_of(board, task).get(submission.pk, NOWHERE) for task in tasks}

    return once(f"task places {submission.pk}", board.version, read)


@register.inclusion_tag("boards/position.html")
def position(submission: Submission) -> Values:
    """Its position on the board, and what its author may do next."""
    return {"submission": submission, "benchmark": submission.in_phase, "position": position_of(submission)}


def position_of(submission: Submission) -> Values | None:
    """Its place among the complete systems, and its distances; None where it has no score that may be shown.

    `history` is its author's scores on this benchmark, newest first, where there are several.
    """
    own, phase = submission.value, submission.phase
    if own is None or (phase is not None and not phase.is_shown):
        return None
    board = at_phase(submission.benchmark, phase)
    rows = board_entries(board)
    others = [(row.value, row) for row in rows if row.value is not None and row.pk != submission.pk]
    others.sort(key=lambda pair: -pair[0])
    rank = 1 + sum(value > own for value, _ in others)
    if rank == 1:
        near = [("The next one", row) for _, row in others[:1]]
    else:
        near = [("The next better", others[rank - 2][1])] if rank > 2 else []
        near.append(("The best", others[0][1]))
    sent = Submission.objects.filter(owner=submission.owner_id, benchmark=submission.benchmark_id)
    sent = sent.current().filter(value__isnull=False, phase=phase).order_by("-submitted", "-pk")
    columns = ("key", "name", "model", "submitted", "scores", "public")
    history: list[Values] = [{**row} for row in sent.values(*columns)[:HISTORY]]
    history = history if len(history) > 1 else []
    bars = zip(labels_of(history), (entry["scores"]["score"] for entry in history), strict=True)
    similar = not_different(board, "", submission.pk) or []
    places = places_of(board)
    return {
        "rank": rank,
        "systems": len(others) + 1,
        "distances": [
            _distance(submission, title, row, _decision(places, similar, submission.pk, row.pk))
            for title, row in near
        ],
        "history": history,
        "picture": score_intervals("Your scores on this benchmark", "Score", bars),
    }


def _decision(places: Mapping[int, RankWithSet], similar: Sequence[int], own: int, other: int) -> str:
    """Whether two systems differ significantly among all pairs of the board, or why that is not known."""
    for place in (places.get(own, NOWHERE), places.get(other, NOWHERE)):
        if not place.span:
            return place.words.partition("; ")[2]
    return f"{'not ' if other in similar else ''}significant, all pairs of the board at once"


def _distance(submission: Submission, title: str, row: BoardEntry, decision: str) -> Values:
    """Distance to another system of the board: the difference in score, and the board's decision on it."""
    other = Submission.objects.select_related("benchmark").defer("report", "problems").get(pk=row.pk)
    mask(submission.benchmark, other)
    points = (row.value or 0) - (submission.value or 0)
    loss = submission.record.loss
    distance = {"title": title, "other": other, "points": with_sign(points, loss)}
    if not submission.is_listed:
        may = not submission.public and submission.reproduces_id is None
        test = "Publish yours to have the difference tested." if may else "Tested for systems on the board."
        return {**distance, "test": test}
    older, newer = sorted((submission, other), key=lambda entry: (entry.submitted, entry.pk))
    comparison = comparison_of(older, newer)
    overall = (comparison.values or {}).get("overall")
    if not overall:
        return {**distance, "test": decision}
    low, high = overall["low"], overall["high"]
    if older.pk != other.pk and low is not None:
        low, high = -high, -low
    interval = gap_text({"low": low, "high": high, "loss": loss})
    return {**distance, "interval": interval, "test": decision}
