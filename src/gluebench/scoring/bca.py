"""Bias-corrected and accelerated bootstrap intervals (Efron 1987) for metrics of counts.

The plain percentiles of the resamples fall short where a metric is skewed, as R_K is for a good system or a
small category (docs/design/intervals.md has how far). The correction is exact here and almost free: the
jackknife needs one value for each kind of unit.
"""

from __future__ import annotations

from math import erfc, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from gluebench.scoring.bars import Bar, Interval
from gluebench.scoring.intervals import TOO_FEW, Z

Floats = NDArray[np.float64]

SHARES = (0.025, 0.975)
_STEEPEST = 0.1
"""Least denominator of the acceleration, so that an extreme jackknife value cannot turn the ends round."""


def quantile(ordered: Floats, share: float) -> float:
    """A quantile of sorted resamples, the k-th of B at k / (B + 1) (Hyndman and Fan 1996, definition 6)."""
    last = len(ordered) - 1
    at = min(max(share * (len(ordered) + 1) - 1, 0.0), float(last))
    below = int(at)
    return float(ordered[below] + (at - below) * (ordered[min(below + 1, last)] - ordered[below]))


def percentiles(draws: Floats) -> Interval:
    """The 2.5 % and 97.5 % points of the resamples."""
    ordered = np.sort(draws)
    low, high = (quantile(ordered, share) for share in SHARES)
    return Interval(low, high)


def bca_bar(value: float, ordered: Floats, acceleration: float) -> Bar:
    """The bar from sorted resamples; "too few to say" where they do not vary."""
    if ordered[0] == ordered[-1]:
        return Bar(None, None, TOO_FEW)
    below, up_to = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    share = float(below + up_to) / 2 / len(ordered)
    smallest = 1 / (len(ordered) + 1)
    bias = NormalDist().inv_cdf(min(max(share, smallest), 1 - smallest))
    ends = []
    for z in (-Z, Z):
        shifted = bias + z
        corrected = bias + shifted / max(1 - acceleration * shifted, _STEEPEST)
        ends.append(quantile(ordered, erfc(-corrected / sqrt(2)) / 2))
    return Bar(ends[0], ends[1])


def accelerations(left_out: Floats, *, counts: NDArray[np.int64], starts: NDArray[np.int64]) -> Floats:
    """The acceleration of each of several metrics, from its values with one unit left out.

    `left_out` and `counts` hold the kinds of unit of all of them in a row, each metric's from its place in
    `starts`; a kind stands for `counts` units.
    """
    units = np.add.reduceat(counts, starts)
    mean = np.add.reduceat(left_out * counts, starts) / units
    lengths = np.diff(starts, append=len(left_out))
    influence = np.repeat(mean, lengths) - left_out
    squares = np.add.reduceat(counts * influence**2, starts)
    cubes = np.add.reduceat(counts * influence**3, starts)
    scale = 6 * squares**1.5
    varies = squares > 1e-24
    return np.where(varies, cubes / np.where(varies, scale, 1.0), 0.0)
