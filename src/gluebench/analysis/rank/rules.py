"""The order of a board: by one score, or by macro-average, mean rank (Borda), median or Kemeny's order.

Numpy is loaded when several tasks are aggregated; the order by one score needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Literal, get_args

from gluebench.scoring.report import rounded

if TYPE_CHECKING:
    from gluebench.analysis.rank.arrays import Consensus
    from gluebench.scoring.units.base import Floats


def competition_ranks(scores: Sequence[float | None]) -> list[int | None]:
    """The rank of each score, 1 for the highest: one more than the number of higher scores.

    None, an incomplete submission's score, has no rank and takes none from others.
    """
    ascending = _descending(scores)[::-1]
    first = {score: len(ascending) - at for at, score in enumerate(ascending)}
    return [None if score is None else first[score] for score in scores]


def board_order(scores: Sequence[float | None], *, lowest_first: bool = False) -> list[int]:
    """Positions from the highest score to the lowest, or turned round, then those without one.

    Ties keep their order.
    """
    sign = 1.0 if lowest_first else -1.0
    return sorted(range(len(scores)), key=lambda at: (scores[at] is None, sign * (scores[at] or 0.0)))


def best(scores: Sequence[float | None]) -> float | None:
    """The highest score of a column, or None where there is none to compare: fewer than two."""
    descending = _descending(scores)
    return descending[0] if len(descending) > 1 else None


def _descending(scores: Sequence[float | None]) -> list[float]:
    return sorted((score for score in scores if score is not None), reverse=True)


Missing = Literal["unranked", "shared", "own", "lowest"]
"""What a missing score means; the names of `MISSING`."""
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
    """Of the tasks; None weighs all alike."""

    def __post_init__(self) -> None:
        shape = {len(row) for row in self.scores} | {len(self.tasks)}
        if len(self.scores) != len(self.systems) or len(shape) != 1:
            raise ValueError(
                f"expected scores for {len(self.systems)} systems on {len(self.tasks)} tasks each, found "
                f"{len(self.scores)} rows of {sorted({len(row) for row in self.scores})}"
            )
        for system, row in zip(self.systems, self.scores, strict=True):
            for task, score in zip(self.tasks, row, strict=True):
                if score is not None and not isfinite(score):
                    raise ValueError(f"the score of {system} on {task} is {score}; expected a finite number")
        self._check_weights()

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        wrong = len(self.weights) != len(self.tasks) or any(
            not isfinite(weight) or weight < 0 for weight in self.weights
        )
        if wrong or (self.tasks and not any(self.weights)):
            raise ValueError(
                f"the weights are {self.weights}; expected one for each of {len(self.tasks)} tasks, none "
                "negative and not all of them 0"
            )

    @property
    def weight(self) -> tuple[float, ...]:
        """The weight of each task, 1 where none were given."""
        return (1.0,) * len(self.tasks) if self.weights is None else self.weights

    @property
    def draws(self) -> Floats:
        """(systems, tasks, 1): the scores as a single draw, NaN where there is none."""
        import numpy as np

        return np.array(self.scores, np.float64).reshape(len(self.systems), len(self.tasks), 1)


def filled(profile: Profile, missing: Missing) -> Profile:
    """The profile after a rule for missing scores; a system that is not to be ranked keeps none at all."""
    from gluebench.analysis.rank.arrays import filled_draws  # imports numpy

    if missing == "shared":
        columns = list(zip(*profile.scores, strict=True))
        return _only(profile, [at for at, column in enumerate(columns) if None not in column])
    rows = filled_draws(profile.draws, missing)[:, :, 0].tolist()
    return replace(profile, scores=tuple(tuple(map(known, row)) for row in rows))


def known(score: float) -> float | None:
    """The score; None for NaN."""
    return None if isnan(score) else score


def without(profile: Profile, task: str) -> Profile:
    """The profile with one task left out. Raises ValueError if it is not there."""
    return _only(profile, [at for at in range(len(profile.tasks)) if at != profile.tasks.index(task)])


def _only(profile: Profile, kept: list[int]) -> Profile:
    weights = profile.weights and tuple(profile.weights[at] for at in kept)
    if weights is not None and not any(weights):
        kept, weights = [], ()
    return Profile(
        profile.systems,
        tuple(profile.tasks[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in profile.scores),
        weights,
    )


Rule = Literal["mean", "borda", "median", "kemeny"]


RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a rule makes of a profile."""

    rule: str
    values: tuple[float | None, ...]
    """One for each system: what it is ranked by; None where it has no rank."""
    ranks: tuple[int | None, ...]
    """From 1, ties sharing the best of their ranks."""
    lower_is_better: bool = False
    note: str = ""
    """A caveat: a Kemeny order that may not be the best one."""


def standing(profile: Profile, rule: Rule) -> Standing:
    """The profile ranked by a rule: its (weighted) mean, mean rank (Borda), median, or Kemeny's order.

    Kemeny's value is the best place that a system has in any order that disagrees least with the tasks' own
    orders, pair by pair (Kemeny 1959); systems of one such place are tied.
    """
    ranked = [at for at, row in enumerate(profile.scores) if any(score is not None for score in row)]
    values: list[float | None] = [None] * len(profile.systems)
    note = ""
    if ranked and rule == "kemeny":
        order = _kemeny(profile, ranked)
        for at, place in zip(ranked, order.first, strict=True):
            values[at] = -float(place)
        if not order.exact:
            note = (
                f"The Kemeny order is approximate: it is contradicted {order.cost:g} times, and no order "
                f"less than {order.bound:g} times."
            )
    elif ranked:
        values = _by_scores(profile, rule)
    ranks = competition_ranks(values)
    lower_is_better = rule in ("borda", "kemeny")
    if lower_is_better:
        values = [None if value is None else -value for value in values]
    return Standing(rule, tuple(values), tuple(ranks), lower_is_better, note)


def _kemeny(profile: Profile, ranked: Sequence[int]) -> Consensus:
    import numpy as np

    from gluebench.analysis.rank.arrays import consensus, support

    return consensus(support(profile.draws[ranked], np.array(profile.weight))[:, :, 0].tolist())


def _by_scores(profile: Profile, rule: Rule) -> list[float | None]:
    """To 12 significant digits, so that the order of a sum cannot part two that are equal."""
    import numpy as np

    from gluebench.analysis.rank.arrays import VALUES

    values = VALUES[rule](profile.draws, np.array(profile.weight))[:, 0]
    return [rounded(known(value)) for value in values.tolist()]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The order of two systems under each rule; the first is ahead under more rules."""

    ahead: str
    behind: str
    unless: tuple[str, ...]
    """The rules under which the second is ahead, or the two are tied; empty if all agree."""
    everywhere: bool
    """Whether the first is no worse on any task and better on some: ahead or tied whatever the weights."""


@dataclass(frozen=True, slots=True)
class Survival:
    """All pairs of ranked systems."""

    holds: tuple[Verdict, ...]
    """The first is ahead of the second under every rule."""
    contested: tuple[Verdict, ...]


def every_rule(profile: Profile, missing: Missing = "unranked") -> dict[str, Standing]:
    """Macro-average, mean rank, median, Kemeny, and the macro-average without each task in turn."""
    whole = filled(profile, missing)
    standings: dict[str, Standing] = {rule: standing(whole, rule) for rule in RULES}
    if len(whole.tasks) > 1:
        standings |= {f"mean without {task}": standing(without(whole, task), "mean") for task in whole.tasks}
    return standings


def survives(profile: Profile, standings: Mapping[str, Standing]) -> Survival:
    """Every pair of systems that all standings rank, sorted by whether the standings agree on it.

    A tie is no agreement. The verdicts come in the order of the first standing.
    """
    order = _order(list(standings.values()))
    verdicts = [
        _verdict(profile, i, j, standings=standings) for at, i in enumerate(order) for j in order[at + 1 :]
    ]
    return Survival(
        tuple(verdict for verdict in verdicts if not verdict.unless),
        tuple(verdict for verdict in verdicts if verdict.unless),
    )


def _order(standings: Sequence[Standing]) -> list[int]:
    """The systems that all standings rank, by the first."""
    if not standings:
        return []
    first = {at: rank for at, rank in enumerate(standings[0].ranks) if rank is not None}
    ranked = [at for at in first if all(ranking.ranks[at] is not None for ranking in standings)]
    return sorted(ranked, key=first.__getitem__)


def _verdict(profile: Profile, i: int, j: int, *, standings: Mapping[str, Standing]) -> Verdict:
    leads = {name: (ranking.ranks[j] or 0) - (ranking.ranks[i] or 0) for name, ranking in standings.items()}
    if sum(lead < 0 for lead in leads.values()) > sum(lead > 0 for lead in leads.values()):
        i, j, leads = j, i, {name: -lead for name, lead in leads.items()}
    unless = tuple(name for name, lead in leads.items() if lead <= 0)
    everywhere = _no_worse(profile.scores[i], profile.scores[j])
    return Verdict(profile.systems[i], profile.systems[j], unless, everywhere)


def _no_worse(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return len(pairs) == len(one) and all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)
