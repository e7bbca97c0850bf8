"""The rules of aggregation over arrays: scores as they are, or in many resamples at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.rank.kemeny import consensus
from gluebench.scoring.units.base import Floats


def filled_draws(draws: Floats, missing: str) -> Floats:
    """(systems, tasks, resamples) after a rule for missing scores, which are NaN.

    A system that is not to be ranked keeps none. Under "own" the gaps stay: every rule knows what to make of
    them.
    """
    gaps: NDArray[np.bool_] = np.isnan(draws[:, :, 0])
    if missing == "own":
        return draws
    if missing == "shared":  # every rule passes over a task that no system has
        return np.where(np.any(gaps, axis=0)[:, np.newaxis], np.nan, draws)
    if missing == "unranked":
        return np.where(np.any(gaps, axis=1, keepdims=True)[:, :, np.newaxis], np.nan, draws)
    known = ~gaps.all(axis=0)
    lowest = np.full(draws.shape[1:], np.nan)
    lowest[known] = np.nanmin(draws[:, known], axis=0)
    return np.where(np.isnan(draws) & ~np.all(gaps, axis=1, keepdims=True)[:, :, np.newaxis], lowest, draws)


def values(rule: str, draws: Floats, weights: Floats) -> Floats:
    """(systems, resamples): what the rule ranks by, higher being better; NaN for a system without a rank."""
    return np.round(VALUES[rule](draws, weights), 12)  # a sum's last digits must not part equal systems


def _mean(draws: Floats, weights: Floats) -> Floats:
    """The macro-average: the (weighted) mean of a system's task scores (section 3.4 of the paper)."""
    weighted = np.where(np.isnan(draws), 0.0, draws * weights[:, np.newaxis]).sum(axis=1)
    share = (~np.isnan(draws[:, :, :1]) * weights[:, np.newaxis]).sum(axis=1)
    values: Floats = np.divide(weighted, share, out=np.full(weighted.shape, np.nan), where=share > 0)
    return values


def _median(draws: Floats, weights: Floats) -> Floats:
    """The (weighted) median of a system's task scores; of two in the middle, their mean."""
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

    With n systems, n minus the rank are Borda's points. Where only k of n systems have a task, their ranks 1
    to k are spread over 1 to n (a single one stands in the middle), so that no system gains by a task with
    few entries.
    """
    spread = np.stack([_spread_ranks(draws[:, at]) for at in range(draws.shape[1])], axis=1)
    return -_mean(spread, weights)


def _spread_ranks(column: Floats) -> Floats:
    """(systems, resamples): mid-ranks, spread over the whole number of systems."""
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
    """(systems, systems, resamples): the weight of the tasks on which the first is better than the second.

    A task that one of the two lacks counts for neither.
    """
    return np.stack([((row > draws) * weights[:, np.newaxis]).sum(axis=1) for row in draws])


def _kemeny(draws: Floats, weights: Floats) -> Floats:
    """Minus the best place that a system has in any order that disagrees least with the tasks' own orders."""
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
}
"""Rule to what it ranks by, higher being better."""
