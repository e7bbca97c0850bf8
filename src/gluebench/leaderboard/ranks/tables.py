"""What was last computed for a benchmark: as rows for pages, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.urls import reverse

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.text import csv_text
from gluebench.leaderboard.ranks.models import Ranking
from gluebench.leaderboard.ranks.order import TITLES
from gluebench.leaderboard.ranks.systems import MOST, hidden
from gluebench.leaderboard.submissions.models import Submission

WHO = ("key", "name", "model")
"""What names a system."""
P = 0.05
"""A pair differs significantly up to this p-value, after Holm's correction."""
SHOWN = 200
"""Contested pairs that a page spells out."""
WAIT = (
    "This is computed in the background after the board changes: usually within a minute, later while "
    "submissions wait to be graded. Load the page again then."
)
TOO_FEW = "There is nothing to compare yet: it takes two systems with a score, whose files are still kept."


class Kept(NamedTuple):
    """A ranking, or why there is none."""

    why: str
    """Why there is nothing to show; empty where there is."""
    stale: bool = False
    """Whether the board has changed since, and a new one is under way."""
    at: Any = None
    systems: tuple[dict[str, str], ...] = ()
    """By position, as `who` names them."""
    board: Mapping[str, Any] = {"tasks": [], "rules": {}}
    """Systems and ranks for the usual board, of `Ranking.board`."""
    pairs: Mapping[str, Any] = {"order": [], "rules": {}, "pairs": [], "holds": [], "contested": []}
    """Pairs and rules for the usual board, of `Ranking.pairs`; `order` is the positions from its top."""

    def facts(self) -> dict[str, Any]:
        """What every JSON view says."""
        return {
            "status": "none" if self.why else "renewing" if self.stale else "current",
            "detail": self.why or None,
            "computed": self.at.isoformat(timespec="seconds") if self.at else None,
            "most": MOST,
        }


def kept(benchmark: Benchmark) -> Kept:
    """What may be shown of the last ranking: nothing, once one of its systems has left the board."""
    if reason := hidden(benchmark):
        return Kept(reason)
    ranking = Ranking.objects.filter(benchmark=benchmark).first()
    if ranking is None or ranking.at is None:
        return Kept(WAIT)
    if ranking.failure:
        return Kept(f"The ranks could not be computed. {ranking.failure}")
    if ranking.board is None or ranking.pairs is None:
        return Kept(TOO_FEW if ranking.since is None else WAIT)
    rows = Submission.objects.public().filter(benchmark=benchmark, key__in=ranking.board["keys"])
    systems = {row["key"]: who(row) for row in rows.values("key", "name", "model")}
    if len(systems) < len(ranking.board["keys"]):
        return Kept(WAIT)
    return Kept(
        "",
        ranking.version != benchmark.version,
        ranking.at,
        tuple(systems[key] for key in ranking.board["keys"]),
        ranking.board["boards"][""],
        ranking.pairs["boards"][""],
    )


def who(row: Mapping[str, Any]) -> dict[str, str]:
    """How JSON views name a submission."""
    return {**{name: row[name] for name in WHO}, "url": reverse("submission", args=[row["key"]])}


def rule_titles(rules: Sequence[str]) -> list[str]:
    """Rules as headings: "without RTE" is the average without a task."""
    return [TITLES.get(rule, rule.replace("mean without", "without")) for rule in rules]


def rules_page(kept: Kept) -> dict[str, Any]:
    """Ranks under every rule, and which orders of two systems depend on it."""
    rules, holds, contested = (kept.pairs[name] for name in ("rules", "holds", "contested"))
    return {
        "kept": kept,
        "titles": rule_titles(list(rules)),
        "rows": [
            (kept.systems[at], [ranks[at] or "–" for ranks in rules.values()]) for at in kept.pairs["order"]
        ],
        "holds": len(holds),
        "everywhere": sum(everywhere for *_, everywhere in holds),
        "of": len(holds) + len(contested),
        "contested": [
            (kept.systems[a], kept.systems[b], ", ".join(rule_titles(unless)))
            for a, b, unless in contested[:SHOWN]
        ],
        "more": max(len(contested) - SHOWN, 0),
    }


def rules_json(kept: Kept) -> dict[str, Any]:
    """The same as JSON, with intervals by rule."""
    keys = [system["key"] for system in kept.systems]
    return {
        "schema": "gluebench.rules/1",
        **kept.facts(),
        "tasks": kept.board["tasks"],
        "rows": [
            {
                **kept.systems[at],
                "ranks": {rule: ranks[at] for rule, ranks in kept.pairs["rules"].items()},
                "by": {by: rule["places"][at] for by, rule in kept.board["rules"].items()},
            }
            for at in kept.pairs["order"]
        ],
        "holds": [
            {"ahead": keys[a], "behind": keys[b], "everywhere": everywhere}
            for a, b, everywhere in kept.pairs["holds"]
        ],
        "contested": [
            {"ahead": keys[a], "behind": keys[b], "unless": unless}
            for a, b, unless in kept.pairs["contested"]
        ],
    }


PLACE = ("rank", "low", "high", "value", "first")


def rules_csv(kept: Kept) -> str:
    """A row for each system: its place with interval by each of the four rules, then without each task."""
    by = kept.board["rules"]
    others = {rule: ranks for rule, ranks in kept.pairs["rules"].items() if rule not in by}
    head = [*WHO, "tied_first", "tied_last", "told_low", "told_high"]
    head += [*(f"{rule}_{name}" for rule in by for name in PLACE), *others]
    rows = []
    for at in kept.pairs["order"]:
        mean = by["mean"]["places"][at]
        ends = [*(mean["group"] or (None, None)), *(mean["told"] or (None, None))]
        places = [rule["places"][at][name] for rule in by.values() for name in PLACE]
        names = [kept.systems[at][name] for name in WHO]
        rows.append([*names, *ends, *places, *(ranks[at] for ranks in others.values())])
    return csv_text(head, rows)


def pairs_page(kept: Kept) -> dict[str, Any]:
    """Every system of the board against every other, from the top."""
    order = kept.pairs["order"]
    cells = {}
    for a, b, difference, _, adjusted in kept.pairs["pairs"]:
        cells[a, b], cells[b, a] = _cell(difference, adjusted), _cell(-difference, adjusted)
    rows = [
        (kept.systems[row], [(kept.systems[column]["key"], cells.get((row, column))) for column in order])
        for row in order
    ]
    return {
        "kept": kept,
        "told": sum(cell["told"] for cell in cells.values()) // 2,
        "of": len(order) * (len(order) - 1) // 2,
        "html": render_to_string("ranks/matrix.html", {"rows": rows}),
    }


def _cell(difference: float, adjusted: float) -> dict[str, Any]:
    text = f"{'+' if difference > 0 else ''}{percent(difference)}"
    return {"text": text, "told": adjusted <= P, "behind": difference < 0}


def pairs_json(kept: Kept) -> dict[str, Any]:
    """All pairs as JSON."""
    keys = [system["key"] for system in kept.systems]
    pairs = [
        {"a": keys[a], "b": keys[b], "difference": difference, "p": p, "adjusted": adjusted}
        for a, b, difference, p, adjusted in kept.pairs["pairs"]
    ]
    return {"schema": "gluebench.pairs/1", **kept.facts(), "pairs": pairs}


def pairs_csv(kept: Kept) -> str:
    """A row for each pair."""
    names = [(system["key"], system["name"]) for system in kept.systems]
    rows = [[*names[a], *names[b], *numbers] for a, b, *numbers in kept.pairs["pairs"]]
    return csv_text(["a", "a_name", "b", "b_name", "difference", "p", "adjusted"], rows)
