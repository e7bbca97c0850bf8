"""Macro-average, mean rank (Borda), median and Kemeny's order, and what holds under all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gluebench.analysis.rank.kemeny import Consensus, consensus
from gluebench.analysis.rank.order import competition_ranks
from gluebench.analysis.rank.profile import Missing, Profile, filled, known, without
from gluebench.scoring.report import rounded

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


RULES: tuple[Rule, ...] = get_args(Rule)


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

    from gluebench.analysis.rank.arrays import support

    return consensus(support(profile.draws[ranked], np.array(profile.weight))[:, :, 0].tolist())


def _by_scores(profile: Profile, rule: Rule) -> list[float | None]:
    """To 12 significant digits, so that the order of a sum cannot part two that are equal."""
    import numpy as np

    from gluebench.analysis.rank.arrays import VALUES

    values = VALUES[rule](profile.draws, np.array(profile.weight))[:, 0]
    return [rounded(known(value)) for value in values.tolist()]


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
