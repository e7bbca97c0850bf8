"""Rankings as rows for pages, and as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.leaderboard.common.escapes import csv_cell
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.ranks.kept import Kept, Who, rule_titles

P = 0.05
"""A pair is told apart up to this, after Holm."""
SHOWN = 200
"""Contested pairs that a page spells out."""


class RuleRow(NamedTuple):
    """A system's rank under each rule."""

    who: Who
    ranks: tuple[str, ...]


class Contest(NamedTuple):
    """Two systems whose order depends on the rule."""

    ahead: Who
    behind: Who
    unless: str


class Cell(NamedTuple):
    """The system of the row against that of the column."""

    text: str
    told: bool
    behind: bool
    other: str
    """The column's key; empty on the diagonal."""


def rules_page(kept: Kept) -> dict[str, Any]:
    """Ranks under every rule, and which orders of two systems depend on it."""
    rules = kept.pairs["rules"]
    rows = [
        RuleRow(kept.systems[at], tuple(str(ranks[at] or "–") for ranks in rules.values()))
        for at in kept.order
    ]
    contested = kept.pairs["contested"]
    return {
        "titles": rule_titles(list(rules)),
        "rows": rows,
        "holds": len(kept.pairs["holds"]),
        "everywhere": sum(everywhere for *_, everywhere in kept.pairs["holds"]),
        "of": len(kept.pairs["holds"]) + len(contested),
        "contested": [
            Contest(kept.systems[a], kept.systems[b], ", ".join(rule_titles(unless)))
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
                **_who(kept.systems[at]),
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
        rows.append([*_cells(kept.systems[at]), *ends, *places, *ranks])
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
    return {"schema": "gluebench.pairs/1", **kept.facts(), "pairs": _pairs(kept)}


def _pairs(kept: Kept) -> list[dict[str, Any]]:
    if kept.why:
        return []
    names = [each.key for each in kept.systems]
    return [
        {"a": names[a], "b": names[b], "difference": difference, "p": p, "adjusted": adjusted}
        for a, b, difference, p, adjusted in kept.pairs["pairs"]
    ]


def pairs_csv(kept: Kept) -> str:
    """A row for each pair."""
    names = {each.key: each.name for each in kept.systems}
    head = ["a", "a_name", "b", "b_name", "difference", "p", "adjusted"]
    rows = [
        [each["a"], csv_cell(names[each["a"]]), each["b"], csv_cell(names[each["b"]])]
        + [each[name] for name in head[4:]]
        for each in _pairs(kept)
    ]
    return csv_text(head, rows)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows for a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def _who(who: Who) -> dict[str, Any]:
    return who._asdict()


def _cells(who: Who) -> list[str]:
    return [who.key, csv_cell(who.name), csv_cell(who.model)]


def named(entry: Mapping[str, Any]) -> list[str]:
    """The same cells of an entry of the board."""
    return [entry["key"], csv_cell(entry["name"]), csv_cell(entry["model"])]
