"""Aggregation rules over arrays of scores, observed or resampled, and Kemeny orders.

A Kemeny order is contradicted by the fewest (task, pair of systems). First the systems are divided into
groups such that every member of a group beats every member of the next by a strict majority of the tasks; all
best orders agree with these groups (Truchon 1998). A group of up to twelve is solved exactly by dynamic
programming over its subsets; a larger one by moving single systems while that helps. The latter may miss the
best order, whose cost is at least the bound that is returned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.units.base import Floats


def filled_draws(draws: Floats, missing: str) -> Floats:
    """Apply a rule for missing scores (NaN) to draws of shape (systems, tasks, resamples).

    All scores of a system that gets no rank become NaN. Under "own" missing scores stay NaN, since every
    aggregation rule handles them.
    """
    gaps: NDArray[np.bool_] = np.isnan(draws[:, :, 0])
    if missing == "own":
        return draws
    if missing == "shared":  # every rule ignores a task that no system has
        return np.where(np.any(gaps, axis=0)[:, np.newaxis], np.nan, draws)
    if missing == "unranked":
        return np.where(np.any(gaps, axis=1, keepdims=True)[:, :, np.newaxis], np.nan, draws)
    known = ~gaps.all(axis=0)
    lowest = np.full(draws.shape[1:], np.nan)
    lowest[known] = np.nanmin(draws[:, known], axis=0)
    return np.where(np.isnan(draws) & ~np.all(gaps, axis=1, keepdims=True)[:, :, np.newaxis], lowest, draws)


def values(rule: str, draws: Floats, weights: Floats, scales: Floats) -> Floats:
    """Values that the rule ranks by, highest first, shape (systems, resamples); NaN without a rank.

    `scales`, shape (tasks,), are the standard deviations that rank scores divide by.
    """
    return np.round(unrounded(rule, draws, weights, scales), 12)  # so that rounding errors break no ties


def unrounded(rule: str, draws: Floats, weights: Floats, scales: Floats) -> Floats:
    """`values` with all digits."""
    if rule == "rank-score":
        draws = (draws - np.fmax.reduce(draws, axis=0)) / scales[:, np.newaxis] - 1.0
    return VALUES[rule](draws, weights)


def _mean(draws: Floats, weights: Floats) -> Floats:
    """The macro-average: the (weighted) mean of a system's task scores (section 3.4 of the paper)."""
    weighted = np.where(np.isnan(draws), 0.0, draws * weights[:, np.newaxis]).sum(axis=1)
    share = (~np.isnan(draws[:, :, :1]) * weights[:, np.newaxis]).sum(axis=1)
    values: Floats = np.divide(weighted, share, out=np.full(weighted.shape, np.nan), where=share > 0)
    return values


def _median(draws: Floats, weights: Floats) -> Floats:
    """The (weighted) median of a system's task scores; the mean of two middle scores."""
    order = np.argsort(draws, axis=1)  # NaN last
    ordered = np.take_along_axis(draws, order, axis=1)
    weighed = np.where(np.isnan(ordered), 0.0, weights[order])
    so_far = np.cumsum(weighed, axis=1)
    half = so_far[:, -1:] / 2
    close = 1e-12 * half
    lower = np.argmax(so_far >= half - close, axis=1)[:, np.newaxis]
    upper = np.argmax(so_far > half + close, axis=1)[:, np.newaxis]
    ends = [np.take_along_axis(ordered, at, axis=1)[:, 0] for at in (lower, upper)]
    return np.where(half[:, 0] > 0, (ends[0] + ends[1]) / 2, np.nan)


def _borda(draws: Floats, weights: Floats) -> Floats:
    """Minus the (weighted) mean over the tasks of a system's rank on each, ties sharing their mean rank.

    With n systems, n minus the rank are Borda's points. If only k of n systems have a task, their ranks 1
    to k are spread over 1 to n (a single one gets the middle), so that no system gains by a task with few
    entries.
    """
    spread = np.stack([_spread_ranks(draws[:, at]) for at in range(draws.shape[1])], axis=1)
    return -_mean(spread, weights)


def _spread_ranks(column: Floats) -> Floats:
    """Mid-ranks spread over the number of all systems, shape (systems, resamples)."""
    known = ~np.isnan(column[:, 0])
    some, systems = column[known], len(column)
    having = len(some)
    values = np.full(column.shape, np.nan)
    if having == 1:
        values[known] = (systems + 1) / 2
    elif having:
        mid = np.array([(some > row).sum(axis=0) + ((some == row).sum(axis=0) - 1) / 2 for row in some])
        values[known] = 1 + mid * ((systems - 1) / (having - 1))
    return values


def support(draws: Floats, weights: Floats) -> Floats:
    """Weight of the tasks on which one system beats another, shape (systems, systems, resamples).

    A task that one of the two lacks counts for neither.
    """
    return np.stack([((row > draws) * weights[:, np.newaxis]).sum(axis=1) for row in draws])


def _kemeny(draws: Floats, weights: Floats) -> Floats:
    """Minus the best place that a system has in any Kemeny order."""
    values = np.full((len(draws), draws.shape[2]), np.nan)
    known = np.flatnonzero(~np.isnan(draws[:, :, 0]).all(axis=1))
    supports = support(draws[known], weights)
    for at in range(draws.shape[2]):
        values[known, at] = [-place for place in consensus(supports[:, :, at].tolist()).first]
    return values


VALUES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "mean": _mean,
    "borda": _borda,
    "median": _median,
    "kemeny": _kemeny,
    "rank-score": _mean,
}
"""Rule to the function of its values; higher is better."""


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
    last: tuple[int, ...]
    """The worst place of each system in any of these orders."""
    cost: float
    """Total weight of the (task, pair) that contradict a best order."""
    bound: float
    """A lower bound of the cost of any order."""

    @property
    def exact(self) -> bool:
        """Whether the orders are proved to be best."""
        return self.cost - self.bound <= _EQUAL


def consensus(support: Support, *, exact_up_to: int = EXACT_UP_TO) -> Consensus:
    """Find the best orders for a support matrix."""
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
    """Divide systems into ordered groups: the cycles of "wins at least as many tasks as it loses"."""
    size = len(support)
    reach = [sum(1 << j for j in range(size) if support[i][j] >= support[j][i] - _EQUAL) for i in range(size)]
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


def _approximate(support: Support) -> Consensus:
    """Borda's order, improved by moving one system at a time until no move helps."""
    size = len(support)
    order = sorted(range(size), key=lambda i: sum(support[j][i] - support[i][j] for j in range(size)))
    previous: list[int] = []
    while previous != order:
        previous = order
        for system in previous:
            order = _moved(order, system, support)
    place = {system: at for at, system in enumerate(order, 1)}
    places = tuple(place[i] for i in range(size))
    cost = sum(support[j][i] for i in range(size) for j in range(size) if place[i] < place[j])
    bound = sum(min(support[i][j], support[j][i]) for i in range(size) for j in range(i))
    return Consensus(places, places, cost, bound)


def _moved(order: list[int], system: int, support: Support) -> list[int]:
    """Move a system to its cheapest place; return the same order if no place is better."""
    others = [other for other in order if other != system]
    costs = [sum(support[other][system] for other in others)]  # cost at the top: all systems that beat it
    for other in others:
        costs.append(costs[-1] - support[other][system] + support[system][other])
    best = min(range(len(costs)), key=costs.__getitem__)
    if costs[best] >= costs[order.index(system)] - _EQUAL:
        return order
    return [*others[:best], system, *others[best:]]
