"""The one reader of computed ranks: of any board, each row's observed rank and its rank set.

All pages, files and answers that speak of a rank, or of a significant difference of two rows, read it here.
A *rank set* is the ranks that a system may truly have. It follows from the decisions which pairs differ
significantly, which all hold together in 95 % of test sets (`analysis.rank.decisions`).
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import ordinal
from django.urls import reverse

from gluebench.analysis.rank.rules import BEST_SHOWN, best_words, competition_ranks, rank_set_text
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.formats import ABSENT, NOT_RANKED
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.ranks.models import Decisions, Ranking, is_current, reason_not_compared
from gluebench.leaderboard.apps.ranks.sets import Count, rank_set
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.anonymity import mask_names
from gluebench.leaderboard.apps.submissions.models import Submission

WAIT = (
    "This is computed in the background after the board changes: usually within a minute, later while "
    "submissions wait to be graded."
)
TOO_FEW = "There is nothing to compare yet: it takes two systems with a score, whose files are still kept."
FORGOTTEN = "its predictions are no longer kept"
REFUSED = "its file is not valid by today's checks"
LADDER = "what the board shows is not its own score"
UNTESTED = "no two systems have this score"
ALONE = "no other system has a rank"
UNRANKED = "it has no rank here"
TOGETHER = "All rank sets of this board hold together in 95 % of test sets."
LEGEND = f"“3 · 1–6”: 3rd by score; true rank 1 to 6. {TOGETHER}"
NAMES = ("key", "name", "model")
"""Fields that identify a system."""
NO_PAIRS = {"holds": 0, "everywhere": 0, "contested": 0}


class RankWithSet(NamedTuple):
    """The observed rank of a row and its rank set, ready to show."""

    rank: int | None = None
    """From 1; equal scores share the best rank. None where the row has no rank."""
    low: int | None = None
    high: int | None = None
    """The ends of the rank set; None where there is none."""
    withheld: str = ""
    """Why a row has no rank set."""
    waiting: bool = False
    """Whether the rank set is being computed."""
    by: str = "score"
    """What it is ranked by."""
    value: str = ""
    """The number that it is ranked by, where that is not the score."""

    @property
    def span(self) -> str:
        """The rank set, "1–6"; empty where there is none."""
        if self.low is None or self.high is None:
            return ""
        return rank_set_text(self.low, self.high)

    @property
    def set_text(self) -> str:
        """ "1–6"; "…" while the set is being computed, "–" where there is none."""
        if self.span:
            return self.span
        return "…" if self.waiting else ABSENT

    @property
    def text(self) -> str:
        """ "3 · 1–6"; "3 · …" while the set is being computed, "3 · –" where there is none."""
        if self.rank is None:
            return ""
        return f"{self.rank} · {self.set_text}"

    @property
    def words(self) -> str:
        """ "3rd by score; true rank 1 to 6", or why it has no rank set; empty without a rank."""
        if self.rank is None:
            return ""
        head = f"{ordinal(self.rank)} by {self.by}"
        if self.span:
            return f"{head}; true rank {self.span.replace('–', ' to ')}"
        if self.waiting:
            return f"{head}; the rank set is being computed"
        return f"{head}; no rank set: {self.withheld}"

    @property
    def title(self) -> str:
        """What a reader is told of the cell with its `text`."""
        if not self.span:
            return self.words
        return f"{self.words}. {TOGETHER}"

    def as_json(self) -> Values:
        """Return the rank, the ends of its set, and why there is none."""
        withheld = "being computed" if self.waiting else self.withheld or None
        return {"rank": self.rank, "rank_low": self.low, "rank_high": self.high, "withheld": withheld}


NOWHERE = RankWithSet(withheld=UNRANKED)
"""The place of a row without a rank."""


def no_rank(apart: str, *, complete: bool = True) -> RankWithSet:
    """The place of a row without a rank, with the reason; `apart` as in `Submission.apart`."""
    if apart:
        return RankWithSet(withheld=NOT_RANKED[apart])
    if not complete:
        return RankWithSet(withheld="incomplete")
    return NOWHERE


class BoardRanks(NamedTuple):
    """The places of the rows of one board."""

    places: Mapping[int, RankWithSet]
    """By primary key, of the rows that have a rank."""
    reason: str = ""
    """Why no row has a rank set, as a sentence; empty where some have."""
    waiting: bool = False
    """Whether the rank sets are being computed."""
    missing: int = 0
    """Ranked systems of the board that are not among these, as they were not compared."""

    @property
    def best(self) -> list[int]:
        """The rows that may be the best, those whose rank sets begin at 1, by observed rank."""
        first = [pk for pk, place in self.places.items() if place.low == 1]
        return sorted(first, key=lambda pk: self.places[pk].rank or 0)

    @property
    def withheld(self) -> list[tuple[str, int]]:
        """Why rows have no rank set, each reason with their number."""
        reasons = (place.withheld for place in self.places.values() if place.withheld)
        return Counter(reasons).most_common()

    @property
    def number_untested(self) -> int:
        """The number of ranked systems of the board without a rank set."""
        return self.missing + sum(number for _, number in self.withheld)

    def best_words(self, names: Mapping[int, str], most: int = BEST_SHOWN) -> str:
        """ "May be the best: A, B.", or "A is the best (95 %)."; empty where no rank set tells."""
        return best_words([names[pk] for pk in self.best], len(self.places), self.number_untested, most)


def score_of_category(diagnostic_set: str, kind: str, name: str) -> str:
    """The name of a phenomenon's score among the decisions."""
    return f"{diagnostic_set}:{kind}:{name}"


def latest_ranking(benchmark: Benchmark) -> tuple[Ranking | None, str, bool]:
    """The ranking of the board as it is now; or None, why, and whether it is being computed."""
    reason = reason_not_compared(benchmark)
    if reason:
        return None, reason, False
    rows = Ranking.objects.filter(benchmark=benchmark, phase=benchmark.board_phase)
    ranking = rows.defer("board", "pairs", "health").first()
    if ranking is None or not is_current(ranking, benchmark):
        return None, WAIT, True
    if ranking.failure:
        return None, f"The ranks could not be computed. {ranking.failure}", False
    if not ranking.systems:
        return None, TOO_FEW, False
    return ranking, "", False


def read_ranks(benchmark: Benchmark, score: str, values: Mapping[int, float | None]) -> BoardRanks:
    """The places of the rows of a board, by their shown scores as `values`, by primary key.

    `score` names what is ranked: see `Decisions.score`. Rows that were not tested widen the rank sets of the
    others, so that each observed rank lies within its set. Of a part of the board, the decisions between
    the rows of that part count.
    """
    ranks = competition_ranks(list(values.values()))
    ranked = {pk: rank for pk, rank in zip(values, ranks, strict=True) if rank is not None}
    if len(ranked) == 1:
        return BoardRanks({pk: RankWithSet(1, withheld=ALONE) for pk in ranked})
    ranking, reason, waiting = latest_ranking(benchmark)
    places = {}
    if ranking is None:
        withheld = "" if waiting else reason.removesuffix(".")
        for pk, rank in ranked.items():
            places[pk] = RankWithSet(rank, withheld=withheld, waiting=waiting)
        return BoardRanks(places, reason, waiting)
    counts = _counts(ranking, score, ranked)
    if not counts.keys() >= ranked.keys():
        counts = _why_untested(ranking, benchmark) | counts
    for pk, rank in ranked.items():
        count = counts.get(pk, FORGOTTEN)
        if isinstance(count, str):
            places[pk] = RankWithSet(rank, withheld=count)
        else:
            low, high = rank_set(count, len(ranked))
            places[pk] = RankWithSet(rank, low, high)
    return BoardRanks(places)


def _counts(ranking: Ranking, score: str, ranked: Mapping[int, int]) -> dict[int, Count]:
    """How many of the ranked systems are better and worse than each; or why one has no rank set."""
    rows = ranking.decisions.filter(score=score)

    def read() -> list[Count]:
        counts: list[Count] | None = rows.values_list("counts", flat=True).first()
        return counts or [UNTESTED] * len(ranking.systems)

    # Read once for each ranking: pages of a board of thousands ask for it again and again.
    stored = once(f"ranks {ranking.pk} {score} {ranking.stamp}", ranking.version, read)
    pks = [pk for pk, _ in ranking.systems]
    counts = dict(zip(pks, stored, strict=True))
    tested = [at for at, count in enumerate(stored) if not isinstance(count, str)]
    kept = [at for at in tested if pks[at] in ranked]
    if len(kept) == len(tested):
        return counts
    from gluebench.analysis.rank import packed

    better = packed.unpack_decisions(rows.get().better, len(pks))
    lows, highs = packed.restrict(better, kept)
    for at, low, high in zip(kept, lows.tolist(), highs.tolist(), strict=True):
        counts[pks[at]] = [low - 1, len(kept) - high]
    return counts


def _why_untested(ranking: Ranking, benchmark: Benchmark) -> dict[int, Count]:
    """Why systems of the board were not compared, by primary key."""

    def read() -> dict[int, Count]:
        tested = {pk for pk, _ in ranking.systems}
        shown = Submission.objects.on_board(benchmark).values_list("pk", flat=True)
        rows = Submission.objects.filter(pk__in=[pk for pk in shown if pk not in tested])
        reasons: dict[int, Count] = {}
        for row in rows.select_related("benchmark", "phase").defer("report", "problems", "scores"):
            reasons[row.pk] = REFUSED
            if not row.file:
                reasons[row.pk] = FORGOTTEN
            elif feedback.climbs(row):
                reasons[row.pk] = LADDER
        return reasons

    return once(f"untested {ranking.pk} {ranking.stamp}", benchmark.version, read)


def not_different(benchmark: Benchmark, score: str, pk: int) -> list[int] | None:
    """The systems that do not differ significantly from this one; None if it was not tested."""
    ranking, _, _ = latest_ranking(benchmark)
    row = Decisions.objects.filter(ranking=ranking, score=score).first()
    if ranking is None or row is None:
        return None
    pks = [pk for pk, _ in ranking.systems]
    if pk not in pks or isinstance(row.counts[pks.index(pk)], str):
        return None
    from gluebench.analysis.rank import packed

    similar = packed.indistinguishable(row.better, len(pks), pks.index(pk))
    return [pks[at] for at in similar if not isinstance(row.counts[at], str)]


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
    places: tuple[RankWithSet, ...] = ()
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
    def positions_with_rank(self) -> list[int]:
        """The positions of the systems that have a rank on the board, from its top."""
        return [at for at in self.pairs["order"] if self.places[at].rank is not None]

    @property
    def stale(self) -> bool:
        """Whether the board has changed since this ranking was computed."""
        return self.waiting and not self.reason

    @property
    def at(self) -> datetime | None:
        """When it was computed."""
        if self.ranking is None:
            return None
        return self.ranking.at

    def as_json(self, schema: str, **values: Any) -> Values:
        """Return the JSON view: the state of the ranking, then `values`; `schema` has its number."""
        status = "current"
        if self.reason:
            status = "none"
        elif self.stale:
            status = "renewing"
        return {
            "schema": f"gluebench.{schema}",
            "status": status,
            "detail": self.reason or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            **values,
        }


def ranking_of(benchmark: Benchmark) -> RankingState:
    """Return what may be shown of the last ranking; nothing once one of its systems has left the board."""
    reason = reason_not_compared(benchmark)
    if reason:
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
    pks = [pk for pk, _ in ranking.systems]
    on_board = Submission.objects.on_board(benchmark)
    shown = on_board.filter(pk__in=pks).values("pk", *NAMES)
    systems = {row["pk"]: system_json(row) for row in mask_names(benchmark, shown)}
    if len(systems) < len(pks):
        return RankingState(WAIT, waiting=True)
    values = dict(on_board.filter(value__isnull=False).values_list("pk", "value"))
    places = read_ranks(benchmark, "", values).places
    return RankingState(
        reason="",
        waiting=waiting,
        ranking=ranking,
        systems=tuple(systems[pk] for pk in pks),
        board=ranking.board["boards"][""],
        pairs=ranking.pairs[""],
        places=tuple(places.get(pk, NOWHERE) for pk in pks),
        loss=benchmark.record.loss,
        shares=ranking.board["shares"],
    )


def system_json(row: Facts) -> dict[str, str]:
    """Return what identifies a submission in JSON views: its names and its URL."""
    url = reverse("submission", args=[row["key"]])
    return {"key": row["key"], "name": row["name"], "model": row["model"], "url": url}
