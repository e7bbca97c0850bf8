"""Macro-average, mean rank (Borda), median and Kemeny's order, and what holds under all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gluebench.analysis.rank.kemeny import profile_consensus, with_scores
from gluebench.analysis.rank.order import competition_ranks
from gluebench.analysis.rank.profile import Missing, Profile, filled, without

Rule = Literal["mean", "borda", "median", "kemeny"]


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


def mean(profile: Profile) -> Standing:
    """The macro-average: the (weighted) mean of a system's task scores (section 3.4 of the paper)."""
    return _descending("mean", [_mean(row, profile.weight) for row in profile.scores])


def median(profile: Profile) -> Standing:
    """The (weighted) median of a system's task scores; of two in the middle, their mean."""
    return _descending("median", [_median(row, profile.weight) for row in profile.scores])


def mean_rank(profile: Profile) -> Standing:
    """The (weighted) mean over the tasks of a system's rank on each, ties sharing their mean rank.

    The order is Borda's: with n systems, n minus the rank are its points. Where only k of n systems
    have a task, their ranks 1 to k are spread over 1 to n (a single one stands in the middle), so that
    no system gains by a task with few entries.
    """
    columns = [_spread_ranks(profile.column(at)) for at in range(len(profile.tasks))]
    rows = list(zip(*columns, strict=True)) if columns else [()] * len(profile.systems)
    values = [_steady(_mean(row, profile.weight)) for row in rows]
    return _ascending("borda", values)


def kemeny(profile: Profile) -> Standing:
    """The order that disagrees least with the tasks' own orders, pair by pair (Kemeny 1959).

    The value is the best place that a system has in any best order; systems of one such place are tied.
    """
    order = profile_consensus(profile)
    best_place = dict(zip(with_scores(profile), order.first if order else (), strict=True))
    values = [float(best_place[at]) if at in best_place else None for at in range(len(profile.systems))]
    note = ""
    if order is not None and not order.exact:
        note = (
            f"The Kemeny order is approximate: it is contradicted {order.cost:g} times, and no order less "
            f"than {order.bound:g} times."
        )
    return _ascending("kemeny", values, note=note)


RULES: Mapping[Rule, Callable[[Profile], Standing]] = {
    "mean": mean,
    "borda": mean_rank,
    "median": median,
    "kemeny": kemeny,
}


def standing(profile: Profile, rule: Rule) -> Standing:
    """The standing under the rule of that name."""
    return RULES[rule](profile)


def _descending(rule: str, values: Sequence[float | None]) -> Standing:
    steady = [_steady(value) for value in values]
    return Standing(rule, tuple(steady), tuple(competition_ranks(steady)))


def _ascending(rule: str, values: Sequence[float | None], *, note: str = "") -> Standing:
    ranks = competition_ranks([None if value is None else -value for value in values])
    return Standing(rule, tuple(values), tuple(ranks), lower_is_better=True, note=note)


def _steady(value: float | None) -> float | None:
    """12 significant digits, so that the order of a sum cannot part two that are equal."""
    return None if value is None else float(f"{value:.12g}")


def _mean(row: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [(score, weight) for score, weight in zip(row, weights, strict=True) if score is not None]
    total = sum(weight for _, weight in known)
    return sum(score * weight for score, weight in known) / total if total > 0 else None


def _median(row: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = sorted(
        (score, weight)
        for score, weight in zip(row, weights, strict=True)
        if score is not None and weight > 0
    )
    half, so_far = sum(weight for _, weight in known) / 2, 0.0
    for at, (score, weight) in enumerate(known):
        so_far += weight
        if abs(so_far - half) <= 1e-12 * half:
            return (score + known[at + 1][0]) / 2
        if so_far > half:
            return score
    return None


def _spread_ranks(column: Sequence[float | None]) -> list[float | None]:
    """Mid-ranks from 1 for the highest, spread over the whole number of systems."""
    known = [score for score in column if score is not None]
    systems, having = len(column), len(known)
    if having == 1:
        return [None if score is None else (systems + 1) / 2 for score in column]
    stretch = (systems - 1) / (having - 1) if having else 0.0
    return [None if score is None else 1 + (_mid_rank(score, known) - 1) * stretch for score in column]


def _mid_rank(score: float, among: Sequence[float]) -> float:
    above, equal = sum(other > score for other in among), sum(other == score for other in among)
    return above + (equal + 1) / 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of two systems, of which the first is ahead under more of them."""

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
    standings: dict[str, Standing] = {name: rule(whole) for name, rule in RULES.items()}
    if len(whole.tasks) > 1:
        standings |= {f"mean without {task}": mean(without(whole, task)) for task in whole.tasks}
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
    ranked = [at for at in first if all(each.ranks[at] is not None for each in standings)]
    return sorted(ranked, key=first.__getitem__)


def _verdict(profile: Profile, i: int, j: int, *, standings: Mapping[str, Standing]) -> Verdict:
    leads = {name: (each.ranks[j] or 0) - (each.ranks[i] or 0) for name, each in standings.items()}
    if sum(lead < 0 for lead in leads.values()) > sum(lead > 0 for lead in leads.values()):
        i, j, leads = j, i, {name: -lead for name, lead in leads.items()}
    unless = tuple(name for name, lead in leads.items() if lead <= 0)
    everywhere = _no_worse(profile.scores[i], profile.scores[j])
    return Verdict(profile.systems[i], profile.systems[j], unless, everywhere)


def _no_worse(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    pairs = list(zip(one, other, strict=True))
    known = [(mine, yours) for mine, yours in pairs if mine is not None and yours is not None]
    return (
        len(known) == len(pairs)
        and all(mine >= yours for mine, yours in known)
        and any(mine > yours for mine, yours in known)
    )
