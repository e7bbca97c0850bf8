"""What may be shown of the last ranking of a board."""

from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.kinds import Facts, Values
from gluebench.leaderboard.ranks.models import Ranking, hidden_reason, is_current
from gluebench.leaderboard.ranks.places import NOWHERE, TOO_FEW, WAIT, Place, read_ranks
from gluebench.leaderboard.submissions.anonymity import masked
from gluebench.leaderboard.submissions.models import Submission

NAMES = ("key", "name", "model")
"""Fields that identify a system."""
NO_PAIRS = {"holds": 0, "everywhere": 0, "contested": 0}


class RankingState(NamedTuple):
    """The last ranking of a board, or why there is none."""

    reason: str
    """Why there is nothing to show; empty where there is."""
    waiting: bool = False
    """Whether a ranking of the board as it is now is under way."""
    ranking: Ranking | None = None
    systems: tuple[dict[str, str], ...] = ()
    """By position, as `system_json` names them."""
    board: Facts = {"tasks": [], "rules": {}}
    """Systems and ranks for the usual board, of `Ranking.board`."""
    pairs: Facts = {"order": [], "rules": {}, "holds": [], "contested": [], "counts": NO_PAIRS}
    """What holds under every rule, of `Ranking.pairs`; `order` is the positions from the top of the board."""
    places: tuple[Place, ...] = ()
    """By position, the places on the average, as the board shows them."""
    loss: bool = False
    """Whether scores are negated losses."""
    shares: Facts | None = None
    """The health of the test sets, as everybody may see it."""

    @property
    def keys(self) -> list[str]:
        """The systems' keys, by position."""
        return [system["key"] for system in self.systems]

    @property
    def ranked(self) -> list[int]:
        """The positions of the systems that have a rank on the board, from its top."""
        return [at for at in self.pairs["order"] if self.places[at].rank is not None]

    @property
    def stale(self) -> bool:
        """Whether the board has changed since this ranking was computed."""
        return self.waiting and not self.reason

    @property
    def at(self) -> datetime | None:
        """When it was computed."""
        return None if self.ranking is None else self.ranking.at

    def as_json(self, schema: str, **values: Any) -> Values:
        """Return the JSON view: the state of the ranking, then `values`; `schema` has its number."""
        return {
            "schema": f"gluebench.{schema}",
            "status": "none" if self.reason else "renewing" if self.stale else "current",
            "detail": self.reason or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            **values,
        }


def ranking_of(benchmark: Benchmark) -> RankingState:
    """Return what may be shown of the last ranking; nothing once one of its systems has left the board."""
    if reason := hidden_reason(benchmark):
        return RankingState(reason)
    rows = Ranking.objects.filter(benchmark=benchmark, phase=benchmark.board_phase)
    ranking = rows.defer("health").first()
    if ranking is None or ranking.at is None:
        return RankingState(WAIT, waiting=True)
    waiting = not is_current(ranking, benchmark)
    if ranking.failure:
        return RankingState(f"The ranks could not be computed. {ranking.failure}", waiting)
    if ranking.board is None or ranking.pairs is None:
        return RankingState(WAIT if waiting else TOO_FEW, waiting)
    shown = Submission.objects.on_board(benchmark).filter(pk__in=[pk for pk, _ in ranking.systems])
    systems = {row["pk"]: system_json(row) for row in masked(benchmark, shown.values("pk", *NAMES))}
    if len(systems) < len(ranking.systems):
        return RankingState(WAIT, waiting=True)
    values = Submission.objects.on_board(benchmark).filter(value__isnull=False)
    places = read_ranks(benchmark, "", dict(values.values_list("pk", "value"))).places
    return RankingState(
        "",
        waiting,
        ranking,
        tuple(systems[pk] for pk, _ in ranking.systems),
        ranking.board["boards"][""],
        ranking.pairs[""],
        tuple(places.get(pk, NOWHERE) for pk, _ in ranking.systems),
        benchmark.record.loss,
        ranking.board["shares"],
    )


def system_json(row: Facts) -> dict[str, str]:
    """Return what identifies a submission in JSON views: its names and its URL."""
    return {**{name: row[name] for name in NAMES}, "url": reverse("submission", args=[row["key"]])}
