"""What a board knows of its ranks and of two of its systems, from predictions and labels, JSON-ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluebench.analysis.rank import Ranking
from gluebench.analysis.rank.rules import RULES
from gluebench.scoring import Gold
from gluebench.scoring.report import fields_of, rounded
from gluebench.submission import check

_PLACE = ("rank", "low", "high", "value", "first", "group", "told")
"""The fields of a ranked system that a board shows."""


def rank_all(
    systems: Mapping[str, str], gold: Gold, *, majorities: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """The systems (name to file) under every rule, once for each of `majorities`.

    Those are tasks that every system is taken to answer with the most frequent label. What stands for a
    system is its position in `systems`.
    """
    from gluebench.analysis.rank import rankings

    read = {name: check(path, gold.benchmark) for name, path in systems.items()}
    boards, pairs = {}, {}
    for tasks in majorities:
        by_rule = rankings(read, gold, rules=tuple(RULES), majority=tasks)
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
    records = {system.name: fields_of(system) for system in ranking.systems}
    return {
        "places": [{field: records[name][field] for field in _PLACE} for name in names],
        "notes": [warning for warning in ranking.warnings if "Kemeny" in warning],
    }


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
        "holds": [[at[each.ahead], at[each.behind], each.everywhere] for each in survival.holds],
        "contested": [[at[each.ahead], at[each.behind], list(each.unless)] for each in survival.contested],
    }


def compare_two(a: str, b: str, gold: Gold, *, smallest: int) -> dict[str, Any]:
    """The comparison of two files; categories of private sets with fewer examples than that are left out."""
    from gluebench.analysis.compare import compare

    comparison = compare(check(a, gold.benchmark), check(b, gold.benchmark), gold).as_dict()
    for name, task in comparison["diagnostics"].items():
        if not gold.benchmark.task(name).labels_public and "categories" in task:
            task["categories"] = [each for each in task["categories"] if each["n"] >= smallest]
    return {"comparison": {**comparison, "a": "", "b": ""}}
