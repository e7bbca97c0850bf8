"""What a board knows of its ranks and of two of its systems, from predictions and labels, JSON-ready.

All of it is for everybody to see: no number and no order says more of hidden labels than rounded scores do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluebench.analysis.rank.ranking import RankedSystem, Ranking, rankings
from gluebench.analysis.rank.rules import RULES
from gluebench.scoring import Gold
from gluebench.scoring.report import fields_of, rounded
from gluebench.submission import check

_PLACE = ("rank", "low", "high", "value", "first", "group", "told")
"""The fields of a ranked system that a board shows."""


def rank_all(
    systems: Mapping[str, str],
    gold: Gold,
    *,
    majorities: Sequence[Sequence[str]],
    shown: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """The systems (name to file) under every rule by their scores as `shown`, once for each of `majorities`.

    Those are tasks that every system is taken to answer with the most frequent label. What stands for a
    system is its position in `systems`.
    """
    read = {name: check(path, gold.benchmark) for name, path in systems.items()}
    boards, pairs = {}, {}
    for tasks in majorities:
        by_rule = rankings(read, gold, rules=tuple(RULES), majority=tasks, shown=shown)
        boards[" ".join(tasks)] = _board(by_rule, list(systems))
        pairs[" ".join(tasks)] = _pairs(by_rule["mean"], list(systems))
    return {"boards": boards, "pairs": pairs}


def _board(by_rule: Mapping[Any, Ranking], names: Sequence[str]) -> dict[str, Any]:
    by_mean = by_rule["mean"]
    scores = {system.name: system.scores for system in by_mean.systems}
    return {
        "tasks": list(by_mean.tasks),
        "scores": [[scores[name][task] for task in by_mean.tasks] for name in names],
        "rules": {by: _places(ranking, names) for by, ranking in by_rule.items()},
    }


def _places(ranking: Ranking, names: Sequence[str]) -> dict[str, Any]:
    systems = {system.name: system for system in ranking.systems}
    notes = [warning for warning in ranking.warnings if "Kemeny" in warning]
    return {"places": [_place(systems[name]) for name in names], "notes": notes}


def _place(system: RankedSystem) -> dict[str, Any]:
    record = fields_of(system)
    if system.first is not None:
        record["first"] = round(system.first, 2)
    return {name: record[name] for name in _PLACE}


def _pairs(ranking: Ranking, names: Sequence[str]) -> dict[str, Any]:
    at = {name: place for place, name in enumerate(names)}
    survival = ranking.survival
    return {
        "order": [at[system.name] for system in ranking.systems],
        "pairs": [
            [at[pair.a], at[pair.b], *map(rounded, (pair.difference, pair.p, pair.adjusted))]
            for pair in ranking.pairs
        ],
        "rules": {rule: [ranks[name] for name in names] for rule, ranks in ranking.rules.items()},
        "holds": [[at[pair.ahead], at[pair.behind], pair.everywhere] for pair in survival.holds],
        "contested": [[at[pair.ahead], at[pair.behind], list(pair.unless)] for pair in survival.contested],
    }


def compare_two(a: str, b: str, gold: Gold, *, smallest: int) -> dict[str, Any]:
    """The comparison of two files as a site may show it.

    Categories of private sets with fewer examples than that are left out.
    """
    from gluebench.analysis.compare import compare
    from gluebench.analysis.compare.rounding import rounded_comparison

    exact = compare(check(a, gold.benchmark), check(b, gold.benchmark), gold)
    comparison = rounded_comparison(exact, gold.benchmark, smallest=smallest).as_dict()
    return {"comparison": {**comparison, "a": "", "b": ""}}
