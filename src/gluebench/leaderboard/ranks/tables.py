"""What was last computed for a benchmark: as rows for pages, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.urls import reverse

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.ranks.models import Ranking
from gluebench.leaderboard.ranks.order import TITLES
from gluebench.leaderboard.ranks.systems import MOST, hidden
from gluebench.leaderboard.submissions.models import Submission

P = 0.05
"""A pair is told apart up to this, after Holm."""
SHOWN = 200
"""Contested pairs that a page spells out."""


WAIT = (
    "This is computed in the background after the board changes: usually within a minute, later while "
    "submissions wait to be graded. Load the page again then."
)
TOO_FEW = "There is nothing to compare yet: it takes two systems with a score, whose files are still kept."


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


def who(row: Submission) -> Who:
    """How a submission is named."""
    return Who(row.key, row.name, row.model, reverse("submission", args=[row.key]))


def rule_titles(rules: Sequence[str]) -> list[str]:
    """Rules as headings: "without RTE" is the average without a task."""
    return [TITLES.get(rule, rule.replace("mean without", "without")) for rule in rules]


class Cell(NamedTuple):
    """The system of the row against that of the column."""

    text: str
    told: bool
    behind: bool
    other: str
    """The column's key; empty on the diagonal."""


def rules_page(kept: Kept) -> dict[str, Any]:
    """Ranks under every rule, and which orders of two systems depend on it."""
    if kept.why:
        return {"kept": kept}
    rules = kept.pairs["rules"]
    rows = [(kept.systems[at], [ranks[at] or "–" for ranks in rules.values()]) for at in kept.order]
    contested = kept.pairs["contested"]
    return {
        "kept": kept,
        "titles": rule_titles(list(rules)),
        "rows": rows,
        "holds": len(kept.pairs["holds"]),
        "everywhere": sum(everywhere for *_, everywhere in kept.pairs["holds"]),
        "of": len(kept.pairs["holds"]) + len(contested),
        "contested": [
            (kept.systems[a], kept.systems[b], ", ".join(rule_titles(unless)))
            for a, b, unless in contested[:SHOWN]
        ],
        "more": max(len(contested) - SHOWN, 0),
    }


def rules_twin(kept: Kept) -> dict[str, Any]:
    """The same as JSON, with intervals by rule."""
    if kept.why:
        return {"schema": "gluebench.rules/1", **kept.facts(), "rows": [], "holds": [], "contested": []}
    names = [each.key for each in kept.systems]
    return {
        "schema": "gluebench.rules/1",
        **kept.facts(),
        "tasks": kept.board["tasks"],
        "rows": [
            {
                **kept.systems[at]._asdict(),
                "ranks": {rule: ranks[at] for rule, ranks in kept.pairs["rules"].items()},
                "by": {by: found["places"][at] for by, found in kept.board["rules"].items()},
            }
            for at in kept.order
        ],
        "holds": [
            {"ahead": names[a], "behind": names[b], "everywhere": everywhere}
            for a, b, everywhere in kept.pairs["holds"]
        ],
        "contested": [
            {"ahead": names[a], "behind": names[b], "unless": unless}
            for a, b, unless in kept.pairs["contested"]
        ],
    }


PLACE = ("rank", "low", "high", "value", "first")
RULES_HEAD = ("key", "name", "model", "tied_first", "tied_last", "told_low", "told_high")


def rules_csv(kept: Kept) -> str:
    """A row for each system: its place with interval by each of the four rules, then without each task."""
    if kept.why:
        return csv_text([*RULES_HEAD], [])
    by = list(kept.board["rules"])
    others = [rule for rule in kept.pairs["rules"] if rule not in by]
    head = [*RULES_HEAD, *(f"{rule}_{name}" for rule in by for name in PLACE), *others]
    rows = []
    for at in kept.order:
        mean = kept.board["rules"]["mean"]["places"][at]
        places = [kept.board["rules"][rule]["places"][at][name] for rule in by for name in PLACE]
        ends = [*(mean["group"] or (None, None)), *(mean["told"] or (None, None))]
        ranks = [kept.pairs["rules"][rule][at] for rule in others]
        rows.append([*kept.systems[at][:3], *ends, *places, *ranks])
    return csv_text(head, rows)


def matrix(kept: Kept) -> list[tuple[Who, list[Cell]]]:
    """Every system of the board against every other, from the top."""
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for a, b, difference, _, adjusted in kept.pairs["pairs"]:
        found[a, b], found[b, a] = (difference, adjusted), (-difference, adjusted)
    return [
        (kept.systems[row], [_cell(found.get((row, column)), kept.systems[column]) for column in kept.order])
        for row in kept.order
    ]


def _cell(pair: tuple[float, float] | None, other: Who) -> Cell:
    if pair is None:
        return Cell("", False, False, "")
    difference, adjusted = pair
    sign = "+" if difference > 0 else ""
    return Cell(f"{sign}{percent(difference)}", adjusted <= P, difference < 0, other.key)


def pairs_twin(kept: Kept) -> dict[str, Any]:
    """All pairs as JSON."""
    keys = [each.key for each in kept.systems]
    pairs = [
        {"a": keys[a], "b": keys[b], "difference": difference, "p": p, "adjusted": adjusted}
        for a, b, difference, p, adjusted in kept.pairs.get("pairs", [])
    ]
    return {"schema": "gluebench.pairs/1", **kept.facts(), "pairs": pairs}


def pairs_csv(kept: Kept) -> str:
    """A row for each pair."""
    head = ["a", "a_name", "b", "b_name", "difference", "p", "adjusted"]
    rows = [
        [*kept.systems[a][:2], *kept.systems[b][:2], *numbers]
        for a, b, *numbers in kept.pairs.get("pairs", [])
    ]
    return csv_text(head, rows)
