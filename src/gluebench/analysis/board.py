"""What a board knows of its ranks and of two of its systems, from predictions and labels, JSON-ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluebench.analysis.rank import RankedSystem, Ranking
from gluebench.analysis.rank.rules import RULES
from gluebench.analysis.rank.survival import Survival
from gluebench.scoring import Gold
from gluebench.scoring.report import fields_of, rounded
from gluebench.submission import check


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
    whole = by_rule["mean"]
    scores = {each.name: each.scores for each in whole.systems}
    return {
        "tasks": list(whole.tasks),
        "scores": [[scores[name][task] for task in whole.tasks] for name in names],
        "rules": {by: _places(ranking, names) for by, ranking in by_rule.items()},
    }


def _places(ranking: Ranking, names: Sequence[str]) -> dict[str, Any]:
    systems = {each.name: each for each in ranking.systems}
    notes = [each for each in ranking.warnings if "Kemeny" in each]
    return {"places": [_place(systems[name]) for name in names], "notes": notes}


def _place(system: RankedSystem) -> dict[str, Any]:
    record = fields_of(system)
    return {name: record[name] for name in ("rank", "low", "high", "value", "first", "group", "told")}


def _pairs(ranking: Ranking, names: Sequence[str]) -> dict[str, Any]:
    at = {name: place for place, name in enumerate(names)}
    return {
        "order": [at[each.name] for each in ranking.systems],
        "pairs": [
            [at[each.a], at[each.b], *map(rounded, (each.difference, each.p, each.adjusted))]
            for each in ranking.pairs
        ],
        "rules": {rule: [ranks[name] for name in names] for rule, ranks in ranking.rules.items()},
        **_survival(ranking.survival, at),
    }


def _survival(survival: Survival, at: Mapping[str, int]) -> dict[str, Any]:
    return {
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
