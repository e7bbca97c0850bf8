"""What a site shows of its ranks and of two of its systems, from predictions and labels, JSON-ready.

All of it is for everybody to see: no number and no order says more of hidden labels than rounded scores do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gluebench.analysis.compare import words
from gluebench.analysis.compare.comparison import (
    CategoryComparison,
    Comparison,
    TaskComparison,
    compare,
    divided,
)
from gluebench.analysis.compare.scores import Difference
from gluebench.analysis.health import coarse_health, health
from gluebench.analysis.rank.ranking import Ranking, rankings
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.records import RULES
from gluebench.scoring import Gold
from gluebench.scoring.feedback import bounds_of, rounded_p, rounded_value
from gluebench.scoring.grade import with_tag_counts
from gluebench.scoring.report import fields_of, rounded
from gluebench.submission import check

HIDDEN = "it would reveal labels"
"""Why there is no interval."""


def rounded_comparison(comparison: Comparison, benchmark: Benchmark, *, smallest: int) -> Comparison:
    """The comparison with scores rounded, differences of these, p-values rounded up, and the words to them.

    Of hidden labels no interval, error or number of examples is left, and no category with fewer examples
    than `smallest`. A task or diagnostic set whose labels are public stays as it is.
    """
    tasks = {name: _task(benchmark.task(name), part, smallest) for name, part in comparison.tasks.items()}
    sets = {
        name: _task(benchmark.task(name), part, smallest) for name, part in comparison.diagnostics.items()
    }
    scores = {name: part.score for name, part in tasks.items() if part.score is not None}
    overall, over = comparison.overall, comparison.over
    if overall and not all(benchmark.task(name).labels_public for name in over):
        overall = _mean(overall, {name: scores[name] for name in over}, benchmark.weights)
    conclusion = words.conclusion(overall, scores, over=over, left_out=comparison.left_out)
    return replace(comparison, overall=overall, tasks=tasks, diagnostics=sets, conclusion=conclusion)


def _task(task: Task, comparison: TaskComparison, smallest: int) -> TaskComparison:
    if task.labels_public:
        return comparison
    metrics = {name: _rounded(metric, bounds_of(task, name)) for name, metric in comparison.metrics.items()}
    score = comparison.score and _mean(comparison.score, metrics)
    text = words.sentence(task, score) if score else words.no_score(task)
    whole = TaskComparison(score, metrics, text)
    parts = tuple(
        CategoryComparison(category.kind, category.name, _rounded(category.difference, bounds_of(task)))
        for category in comparison.categories
        if category.difference.n >= smallest
    )
    return divided(whole, parts) if parts else whole


def _rounded(exact: Difference, bounds: tuple[float, float]) -> Difference:
    return _of(exact, *(rounded_value(value, exact.n, *bounds) for value in (exact.a, exact.b)))


def _mean(
    difference: Difference, parts: Mapping[str, Difference], weights: Mapping[str, float] = {}
) -> Difference:
    weight = [weights.get(name, 1.0) for name in parts]
    a, b = (
        sum(each * getattr(part, side) for each, part in zip(weight, parts.values(), strict=True))
        / sum(weight)
        for side in "ab"
    )
    return _of(difference, a, b)


def _of(exact: Difference, a: float, b: float) -> Difference:
    difference = a - b
    p, adjusted = (
        None if p_value is None else rounded_p(p_value, exact.difference, difference)
        for p_value in (exact.p, exact.adjusted)
    )
    hidden: dict[str, Any] = dict.fromkeys(("low", "high", "error", "alone", "detectable"))
    hidden |= {"withheld": HIDDEN, "p": 1.0 if p is None else p, "adjusted": adjusted}
    return replace(exact, a=a, b=b, difference=difference, **hidden)


_PLACE = ("rank", "low", "high", "value", "first", "group", "joint")
"""The fields of a ranked system that a board shows."""


def rank_all(
    systems: Mapping[str, str],
    gold: Gold,
    *,
    majorities: Sequence[Sequence[str]],
    shown: Mapping[str, Mapping[str, float]],
    leaders: Sequence[str] = (),
) -> dict[str, Any]:
    """The systems (name to file) under every rule by their scores as `shown`, once for each of `majorities`.

    Those are tasks that every system is taken to answer with the most frequent label. What stands for a
    system is its position in "names", where those are left out that are not valid by the present checks.
    With `leaders`, the best system of each team, "health" is for organizers, and "shares" for everybody.
    """
    checked = {name: with_tag_counts(check(path, gold.benchmark), gold) for name, path in systems.items()}
    read = {name: submission for name, submission in checked.items() if submission.verdict != "invalid"}
    names = list(read)
    boards, pairs = {}, {}
    for tasks in majorities:
        by_rule = rankings(read, gold, rules=RULES, majority=tasks, shown=shown)
        by_mean = by_rule["mean"]
        scores = {system.name: system.scores for system in by_mean.systems}
        boards[" ".join(tasks)] = {
            "tasks": list(by_mean.tasks),
            "scales": by_mean.scales,
            "scores": [[scores[name][task] for task in by_mean.tasks] for name in names],
            "rules": {by: _places(ranking, names) for by, ranking in by_rule.items()},
        }
        at, survival = {name: place for place, name in enumerate(names)}, by_mean.survival
        pairs[" ".join(tasks)] = {
            "order": [at[system.name] for system in by_mean.systems],
            "pairs": [
                [at[pair.a], at[pair.b], *map(rounded, (pair.difference, pair.p, pair.adjusted))]
                for pair in by_mean.pairs
            ],
            "rules": {rule: [ranks[name] for name in names] for rule, ranks in by_mean.rules.items()},
            "holds": [[at[pair.ahead], at[pair.behind], pair.everywhere] for pair in survival.holds],
            "contested": [
                [at[pair.ahead], at[pair.behind], list(pair.unless)] for pair in survival.contested
            ],
        }
    facts = health([read[name] for name in leaders if name in read], gold) if leaders else None
    shares = facts and coarse_health(facts)
    return {"names": names, "boards": boards, "pairs": pairs, "health": facts, "shares": shares}


def _places(ranking: Ranking, names: Sequence[str]) -> dict[str, Any]:
    """The fields of each system in the order of the names, and what is to be known of the order."""
    records = {system.name: fields_of(system) for system in ranking.systems}
    for record in records.values():
        record["first"] = None if record["first"] is None else round(record["first"], 2)
    return {
        "places": [{field: records[name][field] for field in _PLACE} for name in names],
        "notes": [warning for warning in ranking.warnings if "Kemeny" in warning],
        "withheld": ranking.withheld,
    }


def compare_two(a: str, b: str, gold: Gold, *, smallest: int) -> dict[str, Any]:
    """The comparison of two files as a site may show it.

    Categories of private sets with fewer examples than that are left out.
    """
    exact = compare(check(a, gold.benchmark), check(b, gold.benchmark), gold)
    comparison = rounded_comparison(exact, gold.benchmark, smallest=smallest).as_dict()
    return {"comparison": {**comparison, "a": "", "b": ""}}
