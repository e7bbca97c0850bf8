"""The rules of `aggregate` for many resamples at once: the same values, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from gluebench.analysis.aggregate import Missing, Rule, consensus
from gluebench.scoring.draws import Floats, Ints

KEMENY_UP_TO = 8
"""Systems of which the Kemeny order is still found for every resample."""


def filled_draws(draws: Floats, missing: Missing) -> Floats:
    """(systems, tasks, resamples) after a rule for missing scores, which are NaN (`aggregate.filled`)."""
    gaps: NDArray[np.bool_] = np.isnan(draws[:, :, 0])
    if missing == "own":
        return draws
    if missing == "shared":
        return draws[:, ~gaps.any(axis=0)]
    if missing == "unranked":
        return np.where(np.any(gaps, axis=1, keepdims=True)[:, :, np.newaxis], np.nan, draws)
    known = ~gaps.all(axis=0)
    lowest = np.full(draws.shape[1:], np.nan)
    lowest[known] = np.nanmin(draws[:, known], axis=0)
    return np.where(np.isnan(draws) & ~np.all(gaps, axis=1, keepdims=True)[:, :, np.newaxis], lowest, draws)


def values(rule: Rule, draws: Floats, weights: Floats) -> Floats:
    """(systems, resamples): what the rule ranks by, higher being better; NaN for a system without a rank."""
    return np.round(_VALUES[rule](draws, weights), 12)  # a sum's last digits must not part equal systems


def ranks(values: Floats) -> Ints:
    """(ranked systems, resamples): one more than the number of higher values."""
    return np.array([1 + (values > row).sum(axis=0) for row in values])


def _mean(draws: Floats, weights: Floats) -> Floats:
    weighted = np.where(np.isnan(draws), 0.0, draws * weights[:, np.newaxis]).sum(axis=1)
    share = (~np.isnan(draws[:, :, :1]) * weights[:, np.newaxis]).sum(axis=1)
    found: Floats = np.divide(weighted, share, out=np.full(weighted.shape, np.nan), where=share > 0)
    return found


def _median(draws: Floats, weights: Floats) -> Floats:
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
    spread = np.stack([_spread_ranks(draws[:, at]) for at in range(draws.shape[1])], axis=1)
    return -_mean(spread, weights)


def _spread_ranks(column: Floats) -> Floats:
    """(systems, resamples): mid-ranks, spread over the whole number of systems."""
    known = ~np.isnan(column[:, 0])
    some, systems = column[known], len(column)
    having = len(some)
    found = np.full(column.shape, np.nan)
    if having == 1:
        found[known] = (systems + 1) / 2
    elif having:
        mid = np.array([(some > row).sum(axis=0) + ((some == row).sum(axis=0) - 1) / 2 for row in some])
        found[known] = 1 + mid * ((systems - 1) / (having - 1))
    return found


def _kemeny(draws: Floats, weights: Floats) -> Floats:
    found = np.full((len(draws), draws.shape[2]), np.nan)
    known = np.flatnonzero(~np.isnan(draws[:, :, 0]).all(axis=1))
    some = draws[known]
    support = np.stack([((row > some) * weights[:, np.newaxis]).sum(axis=1) for row in some])
    for at in range(draws.shape[2]):
        found[known, at] = [-place for place in consensus(support[:, :, at].tolist()).first]
    return found


_VALUES: Mapping[Rule, Callable[[Floats, Floats], Floats]] = {
    "mean": _mean,
    "borda": _borda,
    "median": _median,
    "kemeny": _kemeny,
}
