"""What was last computed for a benchmark, with who its systems are, for pages, twins and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.urls import reverse

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.ranks.models import Ranking
from gluebench.leaderboard.ranks.order import TITLES
from gluebench.leaderboard.ranks.systems import MOST, hidden
from gluebench.leaderboard.submissions.models import Submission


class Who(NamedTuple):
    """A system as pages name it."""

    key: str
    name: str
    model: str
    url: str


class Kept(NamedTuple):
    """A ranking, or why there is none."""

    why: str
    """Why there is nothing to show; empty where there is."""
    stale: bool = False
    """Whether the board has changed since, and a new one is under way."""
    at: Any = None
    systems: tuple[Who, ...] = ()
    """By position."""
    board: Mapping[str, Any] = {}
    """Systems and ranks for the usual board, of `Ranking.board`."""
    pairs: Mapping[str, Any] = {}
    """Pairs and rules for the usual board, of `Ranking.pairs`."""

    @property
    def order(self) -> list[int]:
        """The positions from the top of the board."""
        return list(self.pairs["order"])

    def facts(self) -> dict[str, Any]:
        """What every twin says."""
        return {
            "status": "none" if self.why else "renewing" if self.stale else "current",
            "detail": self.why or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            "most": MOST,
        }


def kept(benchmark: Benchmark) -> Kept:
    """What may be shown of the last ranking: nothing, once one of its systems has left the board."""
    told = hidden(benchmark)
    if told:
        return Kept(told)
    ranking = Ranking.objects.filter(benchmark=benchmark).first()
    if ranking is None or ranking.at is None:
        return Kept(WAIT)
    if ranking.failure:
        return Kept(f"The ranks could not be computed. {ranking.failure}")
    if ranking.board is None or ranking.pairs is None:
        return Kept(TOO_FEW if ranking.since is None else WAIT)
    rows = Submission.objects.public().filter(benchmark=benchmark, key__in=ranking.board["keys"])
    found = {row.key: who(row) for row in rows.only("key", "name", "model")}
    if len(found) < len(ranking.board["keys"]):
        return Kept(WAIT)
    return Kept(
        "",
        ranking.version != benchmark.version,
        ranking.at,
        tuple(found[key] for key in ranking.board["keys"]),
        ranking.board["boards"][""],
        ranking.pairs["boards"][""],
    )


WAIT = (
    "This is computed in the background after the board changes: usually within a minute, later while "
    "submissions wait to be graded. Load the page again then."
)
TOO_FEW = "There is nothing to compare yet: it takes two systems with a score, whose files are still kept."


def who(row: Submission) -> Who:
    """How a submission is named."""
    return Who(row.key, row.name, row.model, reverse("submission", args=[row.key]))


def rule_titles(rules: Sequence[str]) -> list[str]:
    """Rules as headings: "without RTE" is the average without a task."""
    return [TITLES.get(rule, rule.replace("mean without", "without")) for rule in rules]
