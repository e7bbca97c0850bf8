"""Whether two splits have the same labels in the same shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

FEWEST_EXPECTED = 5.0
"""Below this expected count the chi-squared distribution is no guide (Cochran 1954), and draws are made."""
DRAWS = 10_000


class Shift(NamedTuple):
    """Two columns of counts compared."""

    statistic: float
    """Pearson's chi-squared of the two-row table."""
    p: float
    largest: float
    """The largest difference of a label's shares, as a fraction."""


def shift(one: Sequence[int], other: Sequence[int]) -> Shift:
    """Test that two samples of labels come from the same shares; the counts stand label by label.

    Pearson's chi-squared test of homogeneity; where an expected count is below 5, the statistic is compared
    with that of 10,000 tables drawn with the same margins (seed 0). Raises ValueError for an empty sample.
    """
    import numpy as np

    table = np.array([one, other], dtype=np.int64)
    table = table[:, table.sum(axis=0) > 0]
    totals = table.sum(axis=1)
    if not totals.all():
        raise ValueError("a sample without labels has no shares to compare")
    labels = table.sum(axis=0)
    expected = np.outer(totals, labels) / totals.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    shares = table / totals[:, None]
    largest = float(abs(shares[0] - shares[1]).max())
    if table.shape[1] == 1:
        return Shift(0.0, 1.0, 0.0)
    if expected.min() >= FEWEST_EXPECTED:
        return Shift(statistic, chi_squared_tail(statistic, table.shape[1] - 1), largest)
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(labels, int(totals[0]), size=DRAWS, method="marginals")
    # with the margins fixed the second row's deviations are the first's turned round
    deviation = (drawn - expected[0]) ** 2
    statistics = (deviation / expected[0]).sum(axis=1) + (deviation / expected[1]).sum(axis=1)
    extreme = int((statistics >= statistic * (1 - 1e-9)).sum())
    return Shift(statistic, (1 + extreme) / (1 + DRAWS), largest)


def chi_squared_tail(value: float, df: int) -> float:
    """P(X >= value) for chi-squared with `df` degrees of freedom."""
    if df < 1:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    return 1.0 if value <= 0 else _upper_gamma(df / 2, value / 2)


def _upper_gamma(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function Q(a, x)."""
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        return max(0.0, 1 - front * _series(a, x))
    return front * _fraction(a, x)


def _series(a: float, x: float) -> float:
    """The sum of x^k / (a (a+1) ... (a+k)) (DLMF 8.11.4)."""
    total = term = 1 / a
    for k in range(1, 10_000):
        term *= x / (a + k)
        total += term
        if term < total * 1e-17:
            break
    return total


def _fraction(a: float, x: float) -> float:
    """The continued fraction of Q (DLMF 8.9.2), by Lentz's method."""
    b = x + 1 - a
    c, d = 1e300, 1 / b
    value = d
    for k in range(1, 10_000):
        factor = -k * (k - a)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
