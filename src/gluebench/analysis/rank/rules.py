"""The order of a board: by one score, by several under a rule of aggregation, or by cost.

Numpy is loaded when several tasks are aggregated; the order by one score needs none.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from operator import le
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gluebench.benchmark.records import RULES, Rule
from gluebench.data import DataError
from gluebench.data.errors import refuse
from gluebench.scoring.report import rounded

if TYPE_CHECKING:
    from gluebench.scoring.units.base import Floats

BEST_SHOWN = 20
"""Most systems that a sentence says may be the best."""


def competition_ranks(scores: Sequence[float | None]) -> list[int | None]:
    """The rank of each score: one more than the number of higher scores.

    None, the score of an incomplete submission, has no rank and does not affect the other ranks.
    """
    ascending = sorted(score for score in scores if score is not None)
    # Of equal scores the last one counts: it has the fewest above it.
    rank_of: dict[float | None, int] = {}
    for at, score in enumerate(ascending):
        rank_of[score] = len(ascending) - at
    return [rank_of.get(score) for score in scores]


def board_order(scores: Sequence[float | None], *, lowest_first: bool = False) -> list[int]:
    """Positions from the highest score to the lowest, or lowest first; those without a score last.

    Ties keep their order.
    """
    sign = 1.0 if lowest_first else -1.0
    return sorted(range(len(scores)), key=lambda at: (scores[at] is None, sign * (scores[at] or 0.0)))


def best(scores: Sequence[float | None]) -> float | None:
    """The highest score of a column; None if fewer than two scores are known."""
    known_scores = [score for score in scores if score is not None]
    return max(known_scores) if len(known_scores) > 1 else None


Missing = Literal["unranked", "shared", "own", "lowest"]
"""A rule for missing scores; `MISSING` describes each."""
MISSING: Mapping[Missing, str] = {
    "unranked": "a system that lacks a score has no rank, as the paper's board has it",
    "shared": "only the tasks that every system has are counted",
    "own": "each system is judged on the tasks it has",
    "lowest": "a missing score counts as the lowest that any system has on the task",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """Scores by system and task, higher being better.

    Raises ValueError for scores of another shape, a number that is not finite, and weights that are
    negative or all zero.
    """

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: tuple[tuple[float | None, ...], ...]
    """A row for each system with a value for each task; None where there is none."""
    weights: tuple[float, ...] | None = None
    """Weights of the tasks; None for equal weights."""
    scales: tuple[float, ...] | None = None
    """Standard deviations of the tasks' scores; None for those of `scores`, which leave out runs."""

    def __post_init__(self) -> None:
        lengths = {len(row) for row in self.scores}
        if len(self.scores) != len(self.systems) or lengths - {len(self.tasks)}:
            raise ValueError(
                f"expected scores for {len(self.systems)} systems on {len(self.tasks)} tasks each, found "
                f"{len(self.scores)} rows of {sorted(lengths)}"
            )
        for system, row in zip(self.systems, self.scores, strict=True):
            for task, score in zip(self.tasks, row, strict=True):
                if score is not None and not isfinite(score):
                    raise ValueError(f"the score of {system} on {task} is {score}; expected a finite number")
        wrong = len(self.weight) != len(self.tasks) or any(not 0 <= weight < inf for weight in self.weight)
        if wrong or (self.tasks and not any(self.weight)):
            raise ValueError(
                f"the weights are {self.weights}; expected one for each of {len(self.tasks)} tasks, none "
                "negative and not all of them 0"
            )

    @property
    def weight(self) -> tuple[float, ...]:
        """The weight of each task, 1 where none were given."""
        return (1.0,) * len(self.tasks) if self.weights is None else self.weights

    @property
    def scale(self) -> Floats:
        """The standard deviation that rank scores divide the scores of each task by; 1.0 in place of 0."""
        import numpy as np

        if self.scales is None:
            scales = np.ma.masked_invalid(self.array).std(axis=0).filled(0.0)
        else:
            scales = np.array(self.scales)
        return np.where(scales > 0, scales, 1.0)

    @property
    def array(self) -> Floats:
        """The scores, NaN where there is none, shape (systems, tasks)."""
        import numpy as np

        return np.array(self.scores, np.float64).reshape(len(self.systems), len(self.tasks))


def fill_missing(profile: Profile, missing: Missing) -> Profile:
    """Apply a rule for missing scores; a system that gets no rank has all its scores set to None."""
    import numpy as np

    scores = profile.array
    gaps = np.isnan(scores)
    if missing == "shared":
        return _only(profile, np.flatnonzero(~gaps.any(axis=0)).tolist())
    if missing == "unranked":
        scores = np.where(gaps.any(axis=1, keepdims=True), np.nan, scores)
    elif missing == "lowest":
        lowest = np.fmin.reduce(scores, axis=0)
        scores = np.where(gaps & ~gaps.all(axis=1, keepdims=True), lowest, scores)
    return replace(profile, scores=score_rows(scores))


def score_rows(scores: Floats) -> tuple[tuple[float | None, ...], ...]:
    """Rows of scores as a profile has them: None for NaN."""
    return tuple(tuple(map(none_if_nan, row)) for row in scores.tolist())


def rank_set_text(low: int, high: int) -> str:
    """The ranks that a system may truly have, as "1–6", or "3"."""
    return str(low) if low == high else f"{low}–{high}"


def best_words(best: Sequence[str], ranked: int, untested: int, most: int = BEST_SHOWN) -> str:
    """ "May be the best: A, B.", or "A is the best (95 %)."; empty where no rank set tells.

    Of the systems, `ranked` have a rank and `untested` have no rank set; at most `most` are named.
    """
    if not best or ranked < 2:
        return ""
    if len(best) == 1 and not untested:
        return f"{best[0]} is the best (95 %)."
    words = f"May be the best: {', '.join(best[:most])}"
    if len(best) > most:
        words += f" and {len(best) - most:,} more"
    words += "."
    if untested == 1:
        words += " 1 system has no rank set."
    elif untested:
        words += f" {untested:,} systems have no rank set."
    return words


def none_if_nan(score: float) -> float | None:
    """The score; None for NaN."""
    return None if isnan(score) else score


def without_task(profile: Profile, task: str) -> Profile:
    """The profile without one task. Raises ValueError if the profile lacks it."""
    return _only(profile, [at for at in range(len(profile.tasks)) if at != profile.tasks.index(task)])


def _only(profile: Profile, tasks: list[int]) -> Profile:
    """The profile with the tasks at these positions; with none if all of them have the weight 0."""
    if profile.weights is not None and not any(profile.weights[at] for at in tasks):
        tasks = []

    def take_tasks(row: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(row[at] for at in tasks)

    return Profile(
        profile.systems,
        take_tasks(profile.tasks),
        tuple(map(take_tasks, profile.scores)),
        profile.weights and take_tasks(profile.weights),
        profile.scales and take_tasks(profile.scales),
    )


TITLES: Mapping[str, str] = {
    "mean": "macro-average", "borda": "mean rank", "median": "median", "kemeny": "Kemeny",
    "rank-score": "rank score",
}  # fmt: skip
"""Rule to the name of the value that it ranks by."""
LOWER: tuple[Rule, ...] = ("borda", "kemeny", "rank-score")
"""The rules by whose value the lowest is the best."""


KEMENY_UP_TO = 200
"""Most systems that are put in Kemeny's order, whose cost grows with the cube of their number."""


class RuleRanking(NamedTuple):
    """The values and ranks that one rule gives to a profile's systems."""

    values: tuple[float | None, ...]
    """The value that each system is ranked by; None where it has no rank."""
    ranks: tuple[int | None, ...]
    """From 1; tied systems share their best rank."""
    note: str = ""
    """A caveat: a Kemeny order that may not be the best one, or is not computed."""

    def higher_is_better(self, rule: Rule) -> list[float | None]:
        """The values with a sign by which the highest is the best."""
        if rule not in LOWER:
            return list(self.values)
        return _negate(self.values)


def _negate(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else -value for value in values]


def rank_by_rule(profile: Profile, rule: Rule) -> RuleRanking:
    """Rank a profile by (weighted) mean, mean rank (Borda), median, Kemeny order, or rank score (EuroEval).

    A Kemeny order has the fewest pairwise disagreements with the tasks' orders (Kemeny 1959); the value of a
    system is its best place in any such order, and equal values are ties. Values are rounded to 12
    significant digits, so that the order of summation cannot break a tie. A rank score is 1 plus the mean
    distance to the best system on each task, in standard deviations of the task's scores.
    """
    import numpy as np

    from gluebench.analysis.rank import arrays

    ranked = []  # the systems with a score
    for at, row in enumerate(profile.scores):
        if any(score is not None for score in row):
            ranked.append(at)
    values: list[float | None] = [None] * len(profile.systems)
    scores = profile.array
    weight = np.array(profile.weight)
    note = ""
    if rule == "kemeny" and len(ranked) > KEMENY_UP_TO:
        note = f"The Kemeny order is computed for up to {KEMENY_UP_TO} systems."
    elif ranked and rule == "kemeny":
        order = arrays.consensus(arrays.support(scores[ranked], weight).tolist())
        for at, place in zip(ranked, order.first, strict=True):
            values[at] = -float(place)
        if not order.exact:
            note = (
                f"The Kemeny order is approximate: it is contradicted {order.cost:g} times, and no order "
                f"less than {order.bound:g} times."
            )
    elif ranked:
        exact = arrays.rule_values(rule, scores, weight, profile.scale).tolist()
        values = [rounded(none_if_nan(value)) for value in exact]
    ranks = tuple(competition_ranks(values))
    if rule in LOWER:
        values = _negate(values)
    return RuleRanking(tuple(values), ranks, note)


@dataclass(frozen=True, slots=True)
class PairOrder:
    """The order of two systems under each rule; the first is ahead under more rules."""

    ahead: str
    behind: str
    unless: tuple[str, ...]
    """The rules under which the first is not ahead; none if it is ahead under all, all if they are equal."""
    everywhere: bool
    """Whether the first is no worse on any task and better on some: no weights can put it behind."""


LISTED = 10_000
"""Most pairs of either kind that a `Survival` lists."""


@dataclass(frozen=True, slots=True)
class Survival:
    """All pairs of ranked systems, by whether their order depends on the rule; LISTED of each are listed."""

    holds: tuple[PairOrder, ...]
    """The first is ahead of the second under every rule."""
    contested: tuple[PairOrder, ...]
    counts: Mapping[str, int]
    """How many pairs there are: "holds", of these "everywhere", and "contested"."""


def rank_by_every_rule(profile: Profile, missing: Missing = "unranked") -> dict[str, RuleRanking]:
    """Every rule, and the macro-average without each task in turn."""
    whole = fill_missing(profile, missing)
    rankings: dict[str, RuleRanking] = {rule: rank_by_rule(whole, rule) for rule in RULES}
    if len(whole.tasks) > 1:
        for task in whole.tasks:
            rankings[f"mean without {task}"] = rank_by_rule(without_task(whole, task), "mean")
    return rankings


def survives(profile: Profile, rankings: Mapping[str, RuleRanking]) -> Survival:
    """Split the pairs of systems that all rules rank by whether all rules order them alike.

    A tie counts as disagreement. Pairs are in the order of the first ranking. A rule that ranks no system,
    since it is not computed for so many, is left out.
    """
    import numpy as np

    rules = [name for name, ranking in rankings.items() if any(ranking.ranks)]
    # Rank 0 stands for none.
    ranks = np.nan_to_num(np.array([rankings[name].ranks for name in rules], np.float64)).astype(np.int64)
    order = np.arange(0)
    if rules:
        ranked = np.flatnonzero((ranks > 0).all(axis=0))
        order = ranked[np.argsort(ranks[0, ranked], kind="stable")]
    scores = profile.array
    counts = dict.fromkeys(("holds", "everywhere", "contested"), 0)
    holds: list[PairOrder] = []
    contested: list[PairOrder] = []
    for place, i in enumerate(order.tolist()):
        # Each system i with all those below it in the first ranking.
        others = order[place + 1 :]
        leads = ranks[:, others] - ranks[:, [i]]  # shape (rules, others), positive where i is ahead
        turned = (leads < 0).sum(axis=0) > (leads > 0).sum(axis=0)  # ahead under more rules than i
        sign = np.where(turned, -1, 1)
        against = leads * sign <= 0
        depends = against.any(axis=0)
        distances = (scores[i] - scores[others]) * sign[:, np.newaxis]
        everywhere = (distances >= 0).all(axis=1) & (distances > 0).any(axis=1)
        counts["contested"] += int(depends.sum())
        counts["holds"] += int((~depends).sum())
        counts["everywhere"] += int((everywhere & ~depends).sum())
        for pairs, chosen in ((holds, ~depends), (contested, depends)):
            for at in np.flatnonzero(chosen)[: LISTED - len(pairs)].tolist():
                names = [profile.systems[i], profile.systems[int(others[at])]]
                if turned[at]:
                    names.reverse()
                unless = tuple(rules[rule] for rule in np.flatnonzero(against[:, at]))
                pairs.append(PairOrder(names[0], names[1], unless, bool(everywhere[at])))
    return Survival(tuple(holds), tuple(contested), counts)


class Cost(NamedTuple):
    """The cost of one system; lower is better."""

    parameters: float | None
    latency: float | None
    """In the unit of the table, which is the same for all systems."""


COLUMNS = ("system", *Cost._fields)


def read_costs(path: str | os.PathLike[str], systems: Mapping[str, str]) -> Mapping[str, Cost]:
    """The costs in a tab-separated file with the header system, parameters, latency; a cell may be empty.

    `systems` maps each path to the system's name. The file names a system by its name, its path or the last
    part of the path. Raises DataError that lists every problem.
    """
    name = os.fspath(path)
    with open(name, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or tuple(rows[0]) != COLUMNS:
        header = "<TAB>".join(COLUMNS)
        raise DataError(f"{name}, line 1: found {rows[0] if rows else []}; expected the header {header}")
    name_of: dict[str, str] = {}
    for source, system in systems.items():
        name_of[os.path.basename(os.path.normpath(source))] = system
    # Paths and names go before the last parts of other paths.
    name_of |= systems
    for system in systems.values():
        name_of[system] = system

    costs: dict[str, Cost] = {}
    problems = []
    for line, row in enumerate(rows[1:], 2):
        try:
            system, parameters, latency = row
            if system not in name_of:
                raise ValueError(f"{system!r} is none of {', '.join(systems.values())}")
            if name_of[system] in costs:
                raise ValueError(f"{system!r} is there twice")
            costs[name_of[system]] = Cost(_number(parameters), _number(latency))
        except ValueError as error:
            problems.append(
                f"{name}, line {line}: {error}; expected a system, its parameters and its latency"
            )
    refuse(problems)
    return costs


def _number(text: str) -> float | None:
    if not text.strip():
        return None
    value = float(text)
    if not 0 <= value < inf:
        raise ValueError(f"{text} is not a number from 0")
    return value


def pareto_front(
    scores: Sequence[float | None], costs: Sequence[Sequence[float | None]]
) -> list[bool | None]:
    """Whether each system is Pareto-optimal: no other is better in score or a cost and no worse in any.

    `costs` has a row for each system, lower being better: parameters, latency. None for a system that lacks
    its score or a cost; such a system dominates none (Ethayarajh and Jurafsky 2020). Raises ValueError if
    the lengths differ.
    """
    points: list[tuple[float, ...] | None] = []
    for score, row in zip(scores, costs, strict=True):
        known_costs = [cost for cost in row if cost is not None]
        if score is None or len(known_costs) < len(row):
            points.append(None)
        else:
            points.append((-score, *known_costs))
    known_points = [point for point in points if point is not None]

    def is_dominated(point: tuple[float, ...]) -> bool:
        return any(other != point and all(map(le, other, point)) for other in known_points)

    return [None if point is None else not is_dominated(point) for point in points]
