"""Which conclusions, "this system is ahead of that", hold under every rule of aggregation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gluebench.analysis.rank.profile import Missing, Profile, filled, without
from gluebench.analysis.rank.rules import RULES, Standing, mean


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
