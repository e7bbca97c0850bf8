"""All pairs of many systems: which differences of their average can be told from chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import erfc, inf, sqrt
from typing import NamedTuple

import numpy as np

from gluebench.analysis.significance import holm
from gluebench.scoring.draws import Floats

ALPHA = 0.05


class Pair(NamedTuple):
    """Two systems, by position."""

    a: int
    b: int
    difference: float
    """A minus B."""
    p: float
    """Two-sided."""
    adjusted: float
    """After Holm's adjustment over all pairs."""

    @property
    def winner(self) -> int | None:
        """The one that is better, where that can be told."""
        if self.adjusted >= ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b


def all_pairs(values: Sequence[float], draws: Floats) -> tuple[Pair, ...]:
    """Every pair of systems with these averages, from (systems, resamples) paired draws of them.

    The difference over its standard deviation in the resamples is held against the normal distribution:
    resamples alone could not tell a p-value small enough for thousands of pairs.
    """
    centred = draws - draws.mean(axis=1, keepdims=True)
    covariance = centred @ centred.T / (draws.shape[1] - 1)
    alone = np.diag(covariance)
    variance = alone[:, np.newaxis] + alone - 2 * covariance
    scale = alone[:, np.newaxis] + alone
    found = [
        (i, j, values[i] - values[j], _p(values[i] - values[j], variance[i, j], scale=scale[i, j]))
        for i in range(len(values))
        for j in range(i + 1, len(values))
    ]
    adjusted = holm([p for *_, p in found])
    return tuple(Pair(*each, after) for each, after in zip(found, adjusted, strict=True))


def _p(difference: float, variance: float, *, scale: float) -> float:
    if abs(difference) <= 1e-12:
        return 1.0
    deviation = sqrt(variance) if variance > 1e-12 * scale else 0.0
    return erfc(abs(difference) / deviation / sqrt(2)) if deviation else erfc(inf)


class Group(NamedTuple):
    """Neighbours on a board."""

    systems: tuple[int, ...]
    """From the top."""
    first: int
    last: int
    """Their places, from 1."""


def groups(order: Sequence[int], pairs: Sequence[Pair]) -> tuple[Group, ...]:
    """The board cut wherever every system above is better, beyond chance, than every one below.

    `order` has the systems from the top. Within a group the order may be chance.
    """
    winners = {frozenset((pair.a, pair.b)): pair.winner for pair in pairs}
    place = {system: at for at, system in enumerate(order)}
    lowest = list(range(len(order)))  # the last place that each is not told apart from
    for (one, other), winner in ((sorted(both, key=place.__getitem__), won) for both, won in winners.items()):
        if winner != one:
            lowest[place[one]] = max(lowest[place[one]], place[other])
    return tuple(_cut(order, lowest))


def _cut(order: Sequence[int], lowest: Sequence[int]) -> Iterator[Group]:
    start = reach = 0
    for at in range(len(order)):
        reach = max(reach, lowest[at])
        if reach == at:
            yield Group(tuple(order[start : at + 1]), start + 1, at + 1)
            start = at + 1
            reach = start


def told_ranks(systems: Sequence[int], pairs: Sequence[Pair]) -> dict[int, tuple[int, int]]:
    """The ranks a system may have by the tests: below all that are better, above all that are worse.

    As Holm's adjustment covers all pairs, all these ranges hold together in 95 % of test sets.
    """
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for pair in pairs:
        if pair.winner is not None:
            worse[pair.winner] += 1
            better[pair.b if pair.winner == pair.a else pair.a] += 1
    return {each: (1 + better[each], len(systems) - worse[each]) for each in systems}
