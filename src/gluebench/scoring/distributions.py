"""Student's t, and p-values adjusted for their number, in plain Python: no test needs more than numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence

_QUANTILE_STEPS = 100
"""A bound that is far from reached: a quantile takes about four steps."""
_NORMAL_FROM = 1e5
"""From this many degrees of freedom a quantile of t is that of the normal plus three terms in 1 / df."""


def student_t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with `df` degrees of freedom."""
    if df <= 0:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(df / (df + t * t), t * t / (df + t * t), df / 2, b=0.5)


def student_quantile(probability: float, df: float) -> float:
    """The t with P(T <= t) = `probability` for Student's t with `df` degrees of freedom.

    `df` is a finite number of at least 1, not only an integer; both tails hold at least 1e-100. The result is
    within 1e-9 * max(1, |t|) of the exact quantile. Raises ValueError outside these ranges.
    """
    if not 1 <= df < math.inf:
        raise ValueError(f"degrees of freedom must be finite and at least 1, not {df}")
    if not 1e-100 <= probability < 1:
        raise ValueError(f"the probability must be from 1e-100 to below 1, not {probability}")
    if probability == 0.5:
        return 0.0
    from statistics import NormalDist  # slow to import

    tail = min(probability, 1 - probability)
    normal = -NormalDist().inv_cdf(tail)
    size = _near_normal(normal, df) if df >= _NORMAL_FROM else _two_sided_quantile(2 * tail, df, start=normal)
    return math.copysign(size, probability - 0.5)


def _near_normal(z: float, df: float) -> float:
    """The quantile of t from that of the normal distribution (Abramowitz & Stegun 26.7.5)."""
    square = z * z
    first = (square + 1) / 4
    second = ((5 * square + 16) * square + 3) / 96
    third = (((3 * square + 19) * square + 17) * square - 15) / 384
    return z * (1 + (first + (second + third / df) / df) / df)


def _two_sided_quantile(p: float, df: float, *, start: float) -> float:
    """The t > 0 with P(|T| >= t) = p, by Newton's method for log P as a function of log t.

    That function is nearly a line in the tails. A step that leaves the bracket is replaced by its middle.
    """
    log_density_at_0 = -0.5 * math.log(df) - _log_beta(df / 2, 0.5)
    low, high, t = 0.0, math.inf, start
    for _ in range(_QUANTILE_STEPS):
        beyond = student_t_two_sided(t, df)
        low, high = (t, high) if beyond > p else (low, t)
        log_density = log_density_at_0 - (df + 1) / 2 * math.log1p(t * t / df)
        step = math.log(beyond / p) * beyond / (2 * t) * math.exp(-log_density) if beyond else -math.inf
        better = t * math.exp(min(step, 100.0))
        if abs(better - t) <= 1e-10 * max(1.0, t):  # the error is about the square of the step
            return better
        if not low < better < high:
            better = 2 * t if math.isinf(high) else (low + high) / 2
        t = better
    return t


def _incomplete_beta(x: float, complement: float, a: float, *, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b); `complement` is 1 - x, which would cancel here."""
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
