"""Aggregation rules over arrays of scores, and Kemeny orders.

A Kemeny order is contradicted by the fewest (task, pair of systems). First the systems are divided into
groups such that every member of a group beats every member of the next by a strict majority of the tasks; all
best orders agree with these groups (Truchon 1998). A group of up to twelve is solved exactly by dynamic
programming over its subsets; a larger one by moving single systems while that helps. The latter may miss the
best order, whose cost is at least the bound that is returned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gluebench.analysis.rank.decisions import Floats


def rule_values(rule: str, scores: Floats, weights: Floats, scales: Floats) -> Floats:
    """Values that the rule ranks by, highest first, shape (systems,); NaN without a rank.

    `scales`, shape (tasks,), are the standard deviations that rank scores divide by.
    """
    if rule == "rank-score":
        scores = (scores - np.fmax.reduce(scores, axis=0)) / scales - 1.0
    return VALUES[rule](scores, weights)


def _mean(scores: Floats, weights: Floats) -> Floats:
    """The macro-average: the (weighted) mean of a system's task scores (section 3.4 of the paper)."""
    weighted = np.where(np.isnan(scores), 0.0, scores * weights).sum(axis=1)
    share = (~np.isnan(scores) * weights).sum(axis=1)
    means: Floats = np.divide(weighted, share, out=np.full(len(scores), np.nan), where=share > 0)
    return means


def _median(scores: Floats, weights: Floats) -> Floats:
    """The (weighted) median of a system's task scores; the mean of two middle scores."""
    order = np.argsort(scores, axis=1)  # NaN last
    ordered = np.take_along_axis(scores, order, axis=1)
    so_far = np.cumsum(np.where(np.isnan(ordered), 0.0, weights[order]), axis=1)
    half = so_far[:, -1:] / 2
    close = 1e-12 * half
    systems = np.arange(len(scores))
    lower = ordered[systems, np.argmax(so_far >= half - close, axis=1)]
    upper = ordered[systems, np.argmax(so_far > half + close, axis=1)]
    return np.where(half[:, 0] > 0, (lower + upper) / 2, np.nan)


def _borda(scores: Floats, weights: Floats) -> Floats:
    """Minus the (weighted) mean over the tasks of a system's rank on each, ties sharing their mean rank.

    With n systems, n minus the rank are Borda's points. If only k of n systems have a task, their ranks 1
    to k are spread over 1 to n (a single one gets the middle), so that no system gains by a task with few
    entries.
    """
    spread = np.stack([_spread_ranks(column) for column in scores.T], axis=1)
    return -_mean(spread, weights)


def _spread_ranks(column: Floats) -> Floats:
    """Mid-ranks spread over the number of all systems, shape (systems,)."""
    systems = len(column)
    known = ~np.isnan(column)
    ascending = np.sort(column[known])
    ranks = np.full(systems, np.nan)
    if len(ascending) == 1:
        ranks[known] = (systems + 1) / 2
    elif len(ascending):
        below = np.searchsorted(ascending, column[known])
        up_to = np.searchsorted(ascending, column[known], "right")
        mid = len(ascending) - (below + up_to + 1) / 2  # from 0, the best
        ranks[known] = 1 + mid * ((systems - 1) / (len(ascending) - 1))
    return ranks


def support(scores: Floats, weights: Floats) -> Floats:
    """Weight of the tasks on which one system beats another, shape (systems, systems).

    A task that one of the two lacks counts for neither.
    """
    return np.stack([((row > scores) * weights).sum(axis=1) for row in scores])


VALUES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "mean": _mean,
    "borda": _borda,
    "median": _median,
    "rank-score": _mean,
}
"""Rule to the function of its values; higher is better. Kemeny's order is that of `consensus`."""


EXACT_UP_TO = 12
"""Largest group of systems that is ordered exactly."""
_EQUAL = 1e-9
"""Sums of weights closer than this are equal."""

Support = Sequence[Sequence[float]]
"""support[i][j]: the weight of the tasks on which system i is better than system j."""


@dataclass(frozen=True, slots=True)
class Consensus:
    """A summary of all best orders of systems 0 to n - 1."""

    first: tuple[int, ...]
    """The best place, from 1, of each system in any of these orders."""
    cost: float
    """Total weight of the (task, pair) that contradict a best order."""
    bound: float
    """A lower bound of the cost of any order."""

    @property
    def exact(self) -> bool:
        """Whether the orders are proved to be best."""
        return self.cost - self.bound <= _EQUAL


def consensus(support: Support) -> Consensus:
    """Find the best orders for a support matrix."""
    first = [0] * len(support)
    cost = 0.0
    bound = 0.0
    placed = 0  # the systems of the groups so far
    groups = _groups(support)
    for number, group in enumerate(groups):
        within = []
        for i in group:
            within.append([support[i][j] for j in group])
        of_group = _exact(within) if len(group) <= EXACT_UP_TO else _approximate(within)
        for system, place in zip(group, of_group.first, strict=True):
            first[system] = placed + place
        placed += len(group)
        # What contradicts that the group is above all later ones, in any order.
        across = 0.0
        for i in group:
            for later in groups[number + 1 :]:
                for j in later:
                    across += support[j][i]
        cost += of_group.cost + across
        bound += of_group.bound + across
    return Consensus(tuple(first), cost, bound)


def _groups(support: Support) -> list[list[int]]:
    """Divide systems into ordered groups: the cycles of "wins at least as many tasks as it loses"."""
    size = len(support)
    # The systems that one reaches by such steps, as bits of an integer.
    reach = []
    for i in range(size):
        wins = [j for j in range(size) if support[i][j] >= support[j][i] - _EQUAL]
        reach.append(sum(1 << j for j in wins))
    for through in range(size):
        for i in range(size):
            if reach[i] >> through & 1:
                reach[i] |= reach[through]
    groups: dict[int, list[int]] = {}
    for i in range(size):
        groups.setdefault(reach[i], []).append(i)  # systems with equal reach are in one cycle
    return sorted(groups.values(), key=lambda group: -reach[group[0]].bit_count())


def _exact(support: Support) -> Consensus:
    """Solve exactly by dynamic programming over the sets of systems at the top (Held and Karp 1962)."""
    size = len(support)
    whole = (1 << size) - 1
    added = [[0.0] * (1 << size) for _ in support]  # cost of placing a system below each set
    for row, costs in zip(support, added, strict=True):
        for chosen in range(1, len(costs)):
            lowest = chosen & -chosen
            costs[chosen] = costs[chosen ^ lowest] + row[lowest.bit_length() - 1]
    # The least cost of any order of each set, at the top; then of all systems below it.
    top = [float("inf")] * (whole + 1)
    top[0] = 0.0
    for chosen in range(whole):
        for i in range(size):
            if not chosen >> i & 1:
                wider = chosen | 1 << i
                top[wider] = min(top[wider], top[chosen] + added[i][chosen])
    rest = [float("inf")] * (whole + 1)
    rest[whole] = 0.0
    first = [size] * size
    for chosen in range(whole - 1, -1, -1):
        for i in range(size):
            if not chosen >> i & 1:
                tail = added[i][chosen] + rest[chosen | 1 << i]
                rest[chosen] = min(rest[chosen], tail)
                if top[chosen] + tail <= top[whole] + _EQUAL:
                    first[i] = min(first[i], chosen.bit_count() + 1)
    return Consensus(tuple(first), top[whole], top[whole])


def _approximate(support: Support) -> Consensus:
    """Borda's order, improved by moving one system at a time until no move helps."""
    systems = range(len(support))
    order = sorted(systems, key=lambda i: sum(support[j][i] - support[i][j] for j in systems))
    previous: list[int] = []
    while previous != order:
        previous = order
        for system in previous:
            order = _move_to_best_place(order, system, support)

    cost = 0.0
    bound = 0.0
    place_of = {system: place for place, system in enumerate(order, 1)}
    for i in systems:
        for j in systems:
            if place_of[i] < place_of[j]:
                cost += support[j][i]
            if j < i:
                bound += min(support[i][j], support[j][i])
    return Consensus(tuple(place_of[i] for i in systems), cost, bound)


def _move_to_best_place(order: list[int], system: int, support: Support) -> list[int]:
    """Move a system to its cheapest place; return the same order if no place is better."""
    others = [other for other in order if other != system]
    costs = [sum(support[other][system] for other in others)]  # cost at the top: all systems that beat it
    for other in others:
        costs.append(costs[-1] - support[other][system] + support[system][other])
    best = min(range(len(costs)), key=costs.__getitem__)
    if costs[best] >= costs[order.index(system)] - _EQUAL:
        return order
    others.insert(best, system)
    return others
