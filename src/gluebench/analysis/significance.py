"""Tests of whether two systems differ, as plain functions of counts and correlations.

Only the standard library: the tails of the binomial and of Student's t are computed here, to the last
digits that a float holds, so that nothing but numpy has to be installed to compare two systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_STIRLING_FROM = 16
"""From here on seven terms of Stirling's series are exact in double precision."""


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p-value of McNemar's test: are `only_a` and `only_b` two halves of one toss?

    The arguments count the examples that one system alone got right; those on which both are right
    or both are wrong say nothing of a difference. Their sum is split as a fair coin would
    (McNemar 1947; exact as in Dietterich 1998, not the chi-squared approximation).
    Raises ValueError for a negative count.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"counts cannot be negative: {only_a} and {only_b}")
    smaller, total = min(only_a, only_b), only_a + only_b
    if 2 * smaller >= total - 1:  # the two tails meet in the middle
        return 1.0
    return min(1.0, 2 * _fair_tail(smaller, total))


def _fair_tail(k: int, n: int) -> float:
    """P(X <= k) for X binomial(n, 1/2) and k < n / 2, without overflow for any n.

    The last term times 1 + k/(n-k+1) + k(k-1)/((n-k+1)(n-k+2)) + ..., cut where nothing more is added.
    """
    total = term = 1.0
    for step in range(k):
        term *= (k - step) / (n - k + 1 + step)
        total += term
        if term < total * 1e-17:
            break
    return _fair_probability(k, n) * total


def _fair_probability(k: int, n: int) -> float:
    """P(X = k) for X binomial(n, 1/2), by Loader's saddle-point form (Loader 2000).

    Differences of log-factorials would lose nine digits at the size of QQP.
    """
    if k == 0 or k == n:
        return 0.5**n
    error = _stirling_error(n) - _stirling_error(k) - _stirling_error(n - k)
    deviance = _deviance(k, n / 2) + _deviance(n - k, n / 2)
    return math.exp(error - deviance) * math.sqrt(n / (2 * math.pi * k * (n - k)))


def _stirling_error(n: int) -> float:
    """The logarithm of n! over Stirling's approximation to it."""
    if n < _STIRLING_FROM:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    return sum(factor / float(n) ** (2 * power + 1) for power, factor in enumerate(_STIRLING))


def _deviance(x: float, mean: float) -> float:
    """x log(x / mean) + mean - x, by its series where the difference would cancel."""
    difference = x - mean
    if abs(difference) >= 0.1 * (x + mean):
        return x * math.log(x / mean) - difference
    ratio = difference / (x + mean)
    total = difference * ratio
    term = 2 * x * ratio
    for odd in range(3, 1000, 2):
        term *= ratio * ratio
        if total + term / odd == total:
            break
        total += term / odd
    return total


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test of two correlations with one variable in common."""

    t: float
    df: int
    p: float
    """Two-sided."""


def williams(gold_a: float, gold_b: float, *, a_b: float, n: int) -> Williams:
    """Whether the correlations `gold_a` and `gold_b` of two systems with one gold column differ.

    `a_b` is the correlation of the two systems with each other, `n` the number of examples.
    Williams 1959 as in Steiger 1980, equation 7 (T2), the test he recommends; Graham & Baldwin 2014
    for systems scored by correlation. Raises ValueError for n < 4, where there is no such test.
    """
    if n < 4:
        raise ValueError(f"Williams' test needs at least 4 examples, not {n}")
    determinant = 1 - gold_a**2 - gold_b**2 - a_b**2 + 2 * gold_a * gold_b * a_b
    mean = (gold_a + gold_b) / 2
    variance = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - a_b) ** 3
    difference = gold_a - gold_b
    if difference == 0:
        return Williams(0.0, n - 3, 1.0)
    if variance <= 0:  # three columns on one line, or two that are the same: no noise to measure against
        return Williams(math.copysign(math.inf, difference), n - 3, 0.0)
    t = difference * math.sqrt((n - 1) * (1 + a_b) / variance)
    return Williams(t, n - 3, student_t_two_sided(t, n - 3))


def student_t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with `df` degrees of freedom."""
    if df <= 0:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(df / (df + t * t), t * t / (df + t * t), df / 2, b=0.5)


def _incomplete_beta(x: float, complement: float, a: float, *, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b); `complement` is 1 - x, which would cancel here."""
    if x <= 0 or complement <= 0:
        return 0.0 if x <= 0 else 1.0
    log_front = a * _log(x, complement) + b * _log(complement, x) - _log_beta(a, b)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(x, a, b=b) / a
    return 1 - math.exp(log_front) * _beta_fraction(complement, b, b=a) / b


def _log(x: float, complement: float) -> float:
    """log x, from 1 - x where x is close to 1."""
    return math.log1p(-complement) if complement < 0.5 else math.log(x)


def _log_beta(a: float, b: float) -> float:
    """log B(a, b); from its series where b is 1/2 and the log-gammas of a would cancel."""
    large = max(a, b)
    if large < 50 or min(a, b) != 0.5:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    ratio = 0.5 * math.log(large) - 1 / (8 * large) + 1 / (192 * large**3) - 1 / (640 * large**5)
    return 0.5 * math.log(math.pi) - ratio


def _beta_fraction(x: float, a: float, *, b: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for coefficient in (even, odd):
            d = 1 / (1 + coefficient * d or tiny)
            c = 1 + coefficient / c or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            return value
    return value


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted for their number, in the order given (Holm 1979).

    The smallest is multiplied by how many there are, the next by one less, and so on; none may
    fall below the one before it, and none exceeds 1.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    floor = 0.0
    for rank, position in enumerate(sorted(range(count), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (count - rank) * p_values[position]))
        adjusted[position] = floor
    return tuple(adjusted)


def randomisation_p(extreme: int, resamples: int) -> float:
    """P-value of a randomisation test in which `extreme` of the resamples were no less far from zero.

    The observed arrangement counts as one of them, so it is never 0 (Phipson & Smyth 2010).
    """
    if not 0 <= extreme <= resamples:
        raise ValueError(f"{extreme} of {resamples} resamples cannot be extreme")
    return (1 + extreme) / (resamples + 1)
