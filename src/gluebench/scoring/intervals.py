"""95 % intervals as records and in closed form, Student's t, and Holm's adjustment; without numpy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Z = 1.959963984540054
"""97.5 % point of the normal distribution: every interval is of 95 %, two-sided."""

TOO_FEW = "too few to say"
UNDEFINED = "not defined"
CONSTANT = "constant predictions"
"""The score is 0 on every sample: a correlation, or the F1 of a label that is never predicted."""

FEWEST_UNITS = 8
"""Examples (or groups, where the gold has them) below which no interval of labels is given."""


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


class Bar(NamedTuple):
    """The ends of an interval, or why there is none."""

    low: float | None
    high: float | None
    withheld: str | None = None

    @property
    def interval(self) -> Interval | None:
        """The ends; None where there are none."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high)


class Alone(NamedTuple):
    """Examples that one of two systems has right and the other wrong."""

    a: int
    b: int

    @property
    def net(self) -> int:
        """How many more A has right than B."""
        return self.a - self.b


NO_BAR = Bar(None, None)
"""Stands for an interval that was not requested."""


def wilson(hits: float, n: float, *, z: float = Z) -> Bar:
    """Wilson's score interval (1927) for a proportion of n independent examples; n may be fractional."""
    share = hits / n
    middle = share + z * z / (2 * n)
    margin = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    scale = 1 + z * z / n
    low, high = (middle - margin) / scale, (middle + margin) / scale
    return Bar(0.0 if hits == 0 else max(0.0, low), 1.0 if hits == n else min(1.0, high))


def proportion_bar(hits: int, n: int) -> Bar:
    """Wilson's interval; "too few to say" of fewer than eight examples."""
    return wilson(hits, n) if n >= FEWEST_UNITS else Bar(None, None, TOO_FEW)


class Group(NamedTuple):
    """How many of a group's examples are right."""

    hits: int
    size: int


def grouped_wilson(groups: Sequence[Group]) -> Bar:
    """Wilson's interval for examples that come in groups, from the number that independent ones would be.

    That is n over the design effect (Kish 1965; Rao and Scott 1992): the jackknife variance over groups
    against the binomial one, at least 1. The normal quantile is Student's with one less than the groups. With
    no hit, or no miss, the effect cannot be estimated and is taken as if each group gave one answer.
    """
    if len(groups) < FEWEST_UNITS:
        return Bar(None, None, TOO_FEW)
    n, hits = sum(group.size for group in groups), sum(group.hits for group in groups)
    share = hits / n
    if 0 < hits < n:
        left_out = [(group.hits - share * group.size) / (n - group.size) for group in groups]
        variance = sum(residual * residual for residual in left_out) * (len(groups) - 1) / len(groups)
        effect = max(1.0, variance * n / (share * (1 - share)))
    else:
        effect = sum(group.size**2 for group in groups) / n
    return wilson(hits / effect, n / effect, z=student_quantile(0.975, len(groups) - 1))


def grouped_hits(gold: bytes, predicted: bytes, groups: Sequence[int]) -> list[Group]:
    """The groups of a column of labels."""
    sizes = Counter(groups)
    hits = Counter(group for group, g, p in zip(groups, gold, predicted, strict=True) if g == p)
    return [Group(hits[group], size) for group, size in sizes.items()]


def share_bar(right: Sequence[bool], groups: Sequence[int] | None) -> Bar:
    """The interval of the share that is right, of independent examples or of those in groups."""
    if groups is None:
        return proportion_bar(sum(right), len(right))
    return grouped_wilson(grouped_hits(bytes(right), bytes([True]) * len(right), groups))


class Part(NamedTuple):
    """One of several independent scores that are averaged."""

    name: str
    value: float
    bar: Bar
    weight: float = 1.0

    @property
    def interval(self) -> Interval | None:
        """The ends; both are the value where the score is the same on every sample."""
        return Interval(self.value, self.value) if self.bar.withheld == CONSTANT else self.bar.interval


def mean_bar(parts: Sequence[Part]) -> Bar:
    """The interval of a weighted mean of independent scores; withheld where that of a part is.

    A score of constant predictions adds nothing to the width, unless all are.
    """
    if len(parts) == 1:
        return parts[0].bar
    withheld = withheld_because({part.name: part.bar.withheld for part in parts})
    return Bar(None, None, withheld) if withheld else Bar(*mean_interval(parts))


def mean_interval(parts: Sequence[Part]) -> Interval:
    """The interval of a weighted mean of independent scores, from the interval of each.

    Each end is as far from the mean as the root of the summed squares of the parts' own distances
    (Zou and Donner 2008). Raises ValueError if a part has no interval.
    """
    whole = sum(part.weight for part in parts)
    value = sum(part.weight * part.value for part in parts) / whole
    below = above = 0.0
    for part in parts:
        interval = part.interval
        if interval is None:
            raise ValueError(f"{part.name} has no interval; expected one for every part of a mean")
        below += (part.weight * max(0.0, part.value - interval.low)) ** 2
        above += (part.weight * max(0.0, interval.high - part.value)) ** 2
    return Interval(value - below**0.5 / whole, value + above**0.5 / whole)


def mean_withheld(reasons: Iterable[str | None]) -> str | None:
    """The first reason of a part without interval; constant predictions count only if all parts have them."""
    given = list(reasons)
    if given and all(why == CONSTANT for why in given):
        return CONSTANT
    return next((why for why in given if why not in (None, CONSTANT)), None)


def withheld_because(parts: Mapping[str, str | None]) -> str | None:
    """Why a mean has no interval, as "not defined on CoLA; too few to say on WNLI"; None where it has one.

    `parts` is name to why the part has none.
    """
    if (reason := mean_withheld(parts.values())) in (None, CONSTANT):
        return reason
    reasons: dict[str, list[str]] = {}
    for name, why in parts.items():
        if why not in (None, CONSTANT):
            reasons.setdefault(why, []).append(name)
    return "; ".join(f"{why} on {', '.join(names)}" for why, names in reasons.items()) or None


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
