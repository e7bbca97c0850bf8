"""Kemeny's order: the one that the fewest (task, pair of systems) contradict.

First the systems are divided into groups such that every one of a group has a strict majority of the tasks
against every one of the next: each best order keeps to that (Truchon 1998). A group of up to twelve is solved
exactly by dynamic programming over its subsets; a larger one by moving single systems while that helps,
which may miss the best order, by no more than the bound that is given with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

EXACT_UP_TO = 12
"""Systems in one group that are still put in order exactly."""
_EQUAL = 1e-9
"""Sums of weights closer than this are equal."""

Support = Sequence[Sequence[float]]
"""support[i][j]: the weight of the tasks on which system i is better than system j."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """The best orders of systems 0 to n - 1, all of them at once."""

    first: tuple[int, ...]
    """The best place, from 1, that each has in any of these orders."""
    last: tuple[int, ...]
    """The worst."""
    cost: float
    """Weight of the (task, pair) that contradict them."""
    bound: float
    """No order has less."""

    @property
    def exact(self) -> bool:
        """Whether it is proved that no order is better."""
        return self.cost - self.bound <= _EQUAL


def consensus(support: Support, *, exact_up_to: int = EXACT_UP_TO) -> Consensus:
    """The best orders for any matrix of support."""
    first, last = [0] * len(support), [0] * len(support)
    cost = bound = 0.0
    groups = _groups(support)
    for before, group in enumerate(groups):
        above = sum(map(len, groups[:before]))
        inner = [[support[i][j] for j in group] for i in group]
        inside = _exact(inner) if len(group) <= exact_up_to else _approximate(inner)
        for at, system in enumerate(group):
            first[system], last[system] = above + inside.first[at], above + inside.last[at]
        below = [j for later in groups[before + 1 :] for j in later]
        across = sum(support[j][i] for i in group for j in below)
        cost, bound = cost + inside.cost + across, bound + inside.bound + across
    return Consensus(tuple(first), tuple(last), cost, bound)


def _groups(support: Support) -> list[list[int]]:
    """The systems in groups from the top: the cycles of "has at least as many tasks as", in their order."""
    size = len(support)
    reach = [sum(1 << j for j in range(size) if support[i][j] >= support[j][i] - _EQUAL) for i in range(size)]
    for through in range(size):
        for i in range(size):
            if reach[i] >> through & 1:
                reach[i] |= reach[through]
    groups: dict[int, list[int]] = {}
    for i in range(size):
        groups.setdefault(reach[i], []).append(i)  # who reaches the same is in one cycle
    return sorted(groups.values(), key=lambda group: -reach[group[0]].bit_count())


def _exact(support: Support) -> Consensus:
    """By the cheapest way to fill the top places with a set, and the rest below it (Held and Karp 1962)."""
    size = len(support)
    whole = (1 << size) - 1
    added = [_added(row) for row in support]
    top = [0.0] + [float("inf")] * whole
    for chosen in range(whole):
        for i in range(size):
            if not chosen >> i & 1:
                wider = chosen | 1 << i
                top[wider] = min(top[wider], top[chosen] + added[i][chosen])
    rest = [float("inf")] * whole + [0.0]
    first, last = [size] * size, [1] * size
    for chosen in range(whole - 1, -1, -1):
        for i in range(size):
            if not chosen >> i & 1:
                tail = added[i][chosen] + rest[chosen | 1 << i]
                rest[chosen] = min(rest[chosen], tail)
                if top[chosen] + tail <= top[whole] + _EQUAL:
                    place = chosen.bit_count() + 1
                    first[i], last[i] = min(first[i], place), max(last[i], place)
    return Consensus(tuple(first), tuple(last), top[whole], top[whole])


def _added(row: Sequence[float]) -> list[float]:
    """What it costs to put a system below each set of others: the tasks on which it is better than they."""
    costs = [0.0] * (1 << len(row))
    for chosen in range(1, len(costs)):
        lowest = chosen & -chosen
        costs[chosen] = costs[chosen ^ lowest] + row[lowest.bit_length() - 1]
    return costs


def _approximate(support: Support) -> Consensus:
    """Borda's order, improved by moving one system at a time until no move helps."""
    size = len(support)
    order = sorted(range(size), key=lambda i: sum(support[j][i] - support[i][j] for j in range(size)))
    moved = True
    while moved:
        moved = False
        for system in list(order):
            better = _moved(order, system, support)
            moved, order = moved or better != order, better
    place = {system: at for at, system in enumerate(order, 1)}
    places = tuple(place[i] for i in range(size))
    cost = sum(support[j][i] for i in range(size) for j in range(size) if place[i] < place[j])
    bound = sum(min(support[i][j], support[j][i]) for i in range(size) for j in range(i))
    return Consensus(places, places, cost, bound)


def _moved(order: list[int], system: int, support: Support) -> list[int]:
    """The order with the system where it is contradicted least; as it was if no place is better."""
    others = [other for other in order if other != system]
    costs = [sum(support[other][system] for other in others)]  # at the top, all that beat it contradict
    for other in others:
        costs.append(costs[-1] - support[other][system] + support[system][other])
    best = min(range(len(costs)), key=costs.__getitem__)
    if costs[best] >= costs[order.index(system)] - _EQUAL:
        return order
    return [*others[:best], system, *others[best:]]
