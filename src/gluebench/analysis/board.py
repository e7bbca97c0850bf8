"""What a site shows of its ranks and of two of its systems, from predictions and labels, JSON-ready.

All of it is for everybody to see: no number and no order says more of hidden labels than rounded scores do.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gluebench.analysis.compare import words
from gluebench.analysis.compare.comparison import Comparison, TaskComparison, compare, task_comparison
from gluebench.analysis.compare.scores import Difference
from gluebench.analysis.health import coarse_health, health
from gluebench.analysis.names import PLACEHOLDERS, Names, distinct_names
from gluebench.analysis.rank.boards import (
    BoardDecisions,
    Boards,
    majority_scores,
    measure_file,
    rounded_p_values,
)
from gluebench.analysis.rank.decisions import p_values, rank_sets
from gluebench.analysis.rank.packed import P_VALUES_UP_TO, pack_decisions, pack_p_values
from gluebench.analysis.rank.ranking import TESTED, UNTESTED, scales
from gluebench.analysis.rank.rules import Profile, RuleRanking, board_order, rank_by_every_rule, survives
from gluebench.analysis.rank.store import MeasuredSystem, MeasurementCache
from gluebench.analysis.rank.systems import BoardPlan
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.records import RULES
from gluebench.scoring import Gold, grade
from gluebench.scoring.feedback import rounded_p, rounded_report
from gluebench.scoring.grade import with_tag_counts
from gluebench.scoring.report import DiagnosticReport, Report, Score, TaskReport
from gluebench.scoring.tags import OVERALL
from gluebench.submission import check

HIDDEN = "it would reveal labels"
"""Why there is no interval."""
NO_SCORE = "it has no score there"
"""Why a system has no rank set on a board."""


def rounded_comparison(
    comparison: Comparison, reports: Sequence[Report], benchmark: Benchmark, *, smallest: int
) -> Comparison:
    """The comparison with the scores of both rounded reports, differences of these, and the words to them.

    p-values are rounded up. Of hidden labels no interval, error or number of examples is left, and no
    category with fewer examples than `smallest`. A task or diagnostic set whose labels are public stays.
    """
    names = distinct_names(comparison.a, comparison.b)
    tasks = {}
    scores = {}
    for name, exact in comparison.tasks.items():
        of_both = [report.tasks[name] for report in reports]
        tasks[name] = _round_task(benchmark.task(name), exact, of_both, names)
        score = tasks[name].score
        if score is not None:
            scores[name] = score
    sets = {}
    for name, exact in comparison.diagnostics.items():
        sets_of_both = [report.diagnostics[name] for report in reports]
        sets[name] = _round_set(benchmark.task(name), exact, sets_of_both, smallest, names)
    overall = comparison.overall
    over = comparison.over
    if overall and not all(benchmark.task(name).labels_public for name in over):
        overall = _round_mean(overall, {name: scores[name] for name in over}, benchmark.weights)
    conclusion = words.conclusion(overall, scores, names, over=over, left_out=comparison.left_out)
    return replace(comparison, overall=overall, tasks=tasks, diagnostics=sets, conclusion=conclusion)


def _round_task(
    task: Task, exact: TaskComparison, reports: Sequence[TaskReport], names: Names
) -> TaskComparison:
    if task.labels_public:
        return exact
    metrics = {}
    for name, difference in exact.metrics.items():
        metrics[name] = _round_difference(difference, [report.metrics[name] for report in reports])
    score = None
    if exact.score is not None:
        score = _round_difference(exact.score, [report.score for report in reports])
    return task_comparison(task, score, metrics, (), names)


def _round_set(
    task: Task,
    exact: TaskComparison,
    reports: Sequence[DiagnosticReport | None],
    smallest: int,
    names: Names,
) -> TaskComparison:
    if task.labels_public:
        return exact
    # By system, the score of each kind and name of category.
    scores = []
    for report in reports:
        if report:
            scores.append({(kind, name): score for kind, name, score in report.parts()})
    metric = task.metrics[0].name
    overall = _round_difference(exact.metrics[metric], [of_system[OVERALL, ""] for of_system in scores])
    categories = []
    for category in exact.categories:
        if category.difference.n >= smallest:
            of_both = [of_system[category.kind, category.name] for of_system in scores]
            difference = _round_difference(category.difference, of_both)
            categories.append(replace(category, difference=difference))
    return task_comparison(task, overall, {metric: overall}, tuple(categories), names)


def _round_difference(exact: Difference, scores: Sequence[Score | None]) -> Difference:
    """The difference of two rounded scores."""
    a, b = (score.value for score in scores if score is not None and score.value is not None)
    return _without_details(exact, a, b)


def _round_mean(
    exact: Difference, parts: Mapping[str, Difference], weights: Mapping[str, float] = {}
) -> Difference:
    """The difference of two (weighted) means of rounded scores."""
    sum_a = 0.0
    sum_b = 0.0
    whole = 0.0
    for name, part in parts.items():
        weight = weights.get(name, 1.0)
        sum_a += weight * part.a
        sum_b += weight * part.b
        whole += weight
    return _without_details(exact, sum_a / whole, sum_b / whole)


def _without_details(exact: Difference, a: float, b: float) -> Difference:
    """The difference of `a` and `b` with its p-values rounded up, and without what reveals labels."""
    difference = a - b
    p = 1.0
    if exact.p is not None:
        p = rounded_p(exact.p, exact.difference, difference)
    adjusted = None
    if exact.adjusted is not None:
        adjusted = rounded_p(exact.adjusted, exact.difference, difference)
    return replace(
        exact,
        a=a,
        b=b,
        difference=difference,
        p=p,
        adjusted=adjusted,
        low=None,
        high=None,
        error=None,
        alone=None,
        detectable=None,
        withheld=HIDDEN,
    )


class TooFewSystemsError(ValueError):
    """Fewer than two of the systems can be ranked; the message says how to find out why."""


def rank_all(
    systems: Mapping[str, str],
    gold: Gold,
    *,
    majorities: Sequence[Sequence[str]],
    shown: Mapping[str, Mapping[str, float]],
    leaders: Sequence[str] = (),
    smallest: int = 0,
    cache: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """All boards of the systems (name to file): scores as `shown`, and the ranks that each may truly have.

    "boards" has the average under every rule, once for each of `majorities`: tasks that every system is taken
    to answer with the most frequent label. What stands for a system is its position in "names", where those
    are left out that are not valid by the present checks. "sets" has the rank sets of every board, and
    "decisions" all pairs, for `analysis.rank.packed`: "" is the average, "RTE" a task, "MRPC/F1" a metric,
    "AX" a diagnostic set, and "AX:coarse:Logic" a category of at least `smallest` examples. With `leaders`,
    the best system of each team, "health" is for organizers, and "shares" for everybody. `cache` is a private
    folder in which measured systems are kept. Raises TooFewSystemsError for fewer than two valid systems.
    """
    plan = BoardPlan.of(gold, smallest)
    store = MeasurementCache(cache, gold, smallest)
    measured = {}
    for name, path in systems.items():
        digest = store.digest(path)
        system = store.read_or_measure(digest, partial(measure_file, path, digest, gold, plan))
        if system.facts["valid"]:
            measured[name] = system
    if len(measured) < 2:
        raise TooFewSystemsError(
            f"{len(measured)} of {len(systems)} submissions are valid; expected at least two to rank. "
            "Check them: gluebench check FILE names what is wrong in each."
        )
    boards = Boards(plan, measured, shown, store)
    names = list(measured)
    result: dict[str, Any] = {"names": names}
    for part in ("boards", "sets", "pairs", "decisions", "p_values"):
        result[part] = {}
    for tasks in majorities:
        profile = _profile(boards, names, tasks, gold)
        rankings = rank_by_every_rule(profile)
        result["boards"][" ".join(tasks)] = _rules_of(boards, profile, rankings, tasks, result)
        result["pairs"][" ".join(tasks)] = _pairs_of(profile, rankings)
    for name, parts in plan.boards.items():
        if name:
            board = boards.decide(parts, boards.values(name))
            _store_board(result, name, board, len(names))
    result["health"] = _health(systems, [name for name in leaders if name in measured], measured, gold, store)
    result["shares"] = result["health"] and coarse_health(result["health"])
    store.delete_unused()
    return result


def _profile(boards: Boards, names: Sequence[str], majority: Sequence[str], gold: Gold) -> Profile:
    """The scores by task as shown, where `majority` tasks are answered with the most frequent label."""
    tasks = [task for task in boards.plan.scored if task.weight]
    same = majority_scores([gold.benchmark.task(name) for name in majority], gold)
    columns: list[list[float | None]] = []
    exact = np.full((len(names), len(tasks)), np.nan)
    variances = np.zeros(exact.shape)
    for place, task in enumerate(tasks):
        if task.name in same:
            columns.append([same[task.name]] * len(names))
            exact[:, place] = same[task.name]
            continue
        columns.append(boards.values(task.name))
        exact[:, place] = [boards.plan.score(task, system) for system in boards.systems]
        variances[:, place] = boards.plan.variances(boards.systems)[:, boards.plan.scored.index(task)]
    weights = None
    if any(task.weight != 1 for task in tasks):
        weights = tuple(task.weight for task in tasks)
    # Exact scales would reveal what the rounding of scores hides.
    rough = [round(scale, 3) for scale in scales(list(exact[:, np.newaxis]), variances)]
    return Profile(
        systems=tuple(names),
        tasks=tuple(task.name for task in tasks),
        scores=tuple(zip(*columns, strict=True)),
        weights=weights,
        scales=tuple(rough),
    )


def _rules_of(
    boards: Boards,
    profile: Profile,
    rankings: Mapping[str, RuleRanking],
    majority: Sequence[str],
    result: dict[str, Any],
) -> dict[str, Any]:
    """The average under every rule; the decisions of the usual board go into the result."""
    places_of = {}
    scale_of = dict(zip(profile.tasks, profile.scale.tolist(), strict=True))
    for rule in RULES:
        order = rankings[rule]
        board = BoardDecisions(None, [], UNTESTED, False)
        if rule in TESTED:
            parts = []
            for weighted in boards.plan.boards[""]:
                task = boards.plan.parts[weighted.part].task.name
                if task not in majority:
                    scale = scale_of[task] if rule == "rank-score" else 1.0
                    parts.append(weighted._replace(weight=weighted.weight / scale))
            board = boards.decide(parts, order.higher_is_better(rule))
            if rule == "mean" and not majority:
                _store_board(result, "", board, len(profile.systems))
        sets = _sets_of(board, len(profile.systems))
        places = []
        for at, rank in enumerate(order.ranks):
            ends = {"rank_low": sets["low"][at], "rank_high": sets["high"][at]}
            places.append({"rank": rank, "value": order.values[at], **ends})
        notes = list(filter(None, [order.note]))
        places_of[rule] = {"places": places, "notes": notes, "withheld": board.withheld}
    return {
        "tasks": list(profile.tasks),
        "scales": list(profile.scales or ()),
        "scores": [list(row) for row in profile.scores],
        "rules": places_of,
    }


def _sets_of(board: BoardDecisions, size: int) -> dict[str, list[Any]]:
    """The rank sets of all systems, among those that have a score on the board."""
    nothing: list[Any] = [None] * size
    sets = {"low": nothing, "high": nothing.copy(), "withheld": [NO_SCORE] * size}
    for at in board.present:
        sets["withheld"][at] = board.withheld
    if board.decisions is not None:
        low, high = rank_sets(board.decisions.better)
        for row, at in enumerate(board.present):
            sets["low"][at] = int(low[row])
            sets["high"][at] = int(high[row])
    return sets


def _store_board(result: dict[str, Any], name: str, board: BoardDecisions, size: int) -> None:
    """Put a board's rank sets and decisions into the result, those of the usual one with their p-values."""
    result["sets"][name] = _sets_of(board, size)
    better = np.zeros((size, size), np.bool_)
    if board.decisions is not None:
        part = np.ix_(board.present, board.present)
        better[part] = board.decisions.better
        if not name and size <= P_VALUES_UP_TO:
            raw = np.ones((size, size))
            raw[part] = p_values(board.decisions.z)
            adjusted = np.ones((size, size))
            adjusted[part] = board.decisions.adjusted(raw[part])
            if board.hidden:
                raw = rounded_p_values(raw)
                adjusted = rounded_p_values(adjusted)
            result["p_values"][name] = pack_p_values(adjusted, raw)
    result["decisions"][name] = pack_decisions(better)


def _pairs_of(profile: Profile, rankings: Mapping[str, RuleRanking]) -> dict[str, Any]:
    """The order of the systems, their ranks under every rule, and the pairs whose order depends on it."""
    position = {name: at for at, name in enumerate(profile.systems)}
    survival = survives(profile, rankings)
    holds = []
    for pair in survival.holds:
        holds.append([position[pair.ahead], position[pair.behind], pair.everywhere])
    contested = []
    for pair in survival.contested:
        contested.append([position[pair.ahead], position[pair.behind], list(pair.unless)])
    return {
        "order": board_order(rankings["mean"].ranks, lowest_first=True),
        "rules": {rule: list(ranking.ranks) for rule, ranking in rankings.items()},
        "holds": holds,
        "contested": contested,
        "counts": dict(survival.counts),
    }


def _health(
    systems: Mapping[str, str],
    leaders: Sequence[str],
    measured: Mapping[str, MeasuredSystem],
    gold: Gold,
    store: MeasurementCache,
) -> Any:
    """The health of the test sets by the answers of the leaders; None without leaders."""
    if not leaders:
        return None
    name = store.name_of("health", *(measured[leader].digest for leader in leaders))
    facts = store.facts(name)
    if facts is None:
        submissions = [with_tag_counts(check(systems[leader], gold.benchmark), gold) for leader in leaders]
        facts = health(submissions, gold)
        store.keep_facts(name, facts)
    return facts


def compare_two(a: str, b: str, gold: Gold, *, smallest: int) -> dict[str, Any]:
    """The comparison of two files as a site may show it, with placeholders for the names of the systems.

    Categories of private sets with fewer examples than that are left out.
    """
    systems = [check(path, gold.benchmark) for path in (a, b)]
    reports = [rounded_report(grade(system, gold), gold.benchmark) for system in systems]
    exact = compare(systems[0], systems[1], gold, names=PLACEHOLDERS)
    comparison = rounded_comparison(exact, reports, gold.benchmark, smallest=smallest).as_dict()
    return {"comparison": {**comparison, "a": "", "b": ""}}
