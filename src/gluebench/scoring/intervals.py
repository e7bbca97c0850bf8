"""95 % intervals as records and in closed form, Student's t, and Holm's adjustment; without numpy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

Z = 1.959963984540054
"""97.5 % point of the normal distribution; all intervals are two-sided 95 % intervals."""

TOO_FEW = "too few to say"
TOO_MANY = "too many different rows"
"""A metric from an entry point would have to be called once for each of them."""
UNDEFINED = "not defined"
CONSTANT = "constant predictions"
"""The score is the same on every sample, as a correlation of 0, or an area under the ROC curve of 1/2."""

FEWEST_UNITS = 8
"""Smallest number of examples (or groups, if the gold has them) for an interval of a label metric."""


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


class OptionalInterval(NamedTuple):
    """The ends of an interval, or the reason why it is withheld."""

    low: float | None
    high: float | None
    withheld: str | None = None
    widening: int | None = None
    """As in `report.Score`."""

    @property
    def interval(self) -> Interval | None:
        """The ends; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return Interval(self.low, self.high)


class DiscordantCounts(NamedTuple):
    """Numbers of examples that only A, and only B, has right."""

    a: int
    b: int

    @property
    def net(self) -> int:
        """How many more A has right than B."""
        return self.a - self.b


NO_INTERVAL = OptionalInterval(None, None)
"""The value for an interval that was not requested."""


def withheld(reason: str | None) -> OptionalInterval:
    """No interval, for a reason."""
    return OptionalInterval(None, None, reason)


def wilson(hits: float, n: float, *, z: float = Z) -> OptionalInterval:
    """Wilson's score interval (1927) for a proportion of n independent examples; n may be a fraction."""
    share = hits / n
    middle = share + z * z / (2 * n)
    margin = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    scale = 1 + z * z / n
    low = max(0.0, (middle - margin) / scale)
    high = min(1.0, (middle + margin) / scale)
    # At the bounds the ends are exact; the formula misses them by rounding.
    if hits == 0:
        low = 0.0
    if hits == n:
        high = 1.0
    return OptionalInterval(low, high)


def proportion_interval(hits: int, n: int) -> OptionalInterval:
    """Wilson's interval; withheld ("too few to say") below FEWEST_UNITS examples."""
    if n < FEWEST_UNITS:
        return withheld(TOO_FEW)
    return wilson(hits, n)


class Group(NamedTuple):
    """Correct answers and examples of one group."""

    hits: int
    size: int


def grouped_wilson(groups: Sequence[Group]) -> OptionalInterval:
    """Wilson's interval for examples in groups, from the effective number of independent examples.

    That is n over the design effect (Kish 1965; Rao and Scott 1992): the ratio, at least 1, of the jackknife
    variance over groups to the binomial one. Student's quantile with groups - 1 degrees of freedom replaces
    the normal one. If all or no examples are right, the effect assumes that a group's answers are identical.
    """
    if len(groups) < FEWEST_UNITS:
        return withheld(TOO_FEW)
    n = sum(group.size for group in groups)
    hits = sum(group.hits for group in groups)
    share = hits / n
    if 0 < hits < n:
        left_out = [(group.hits - share * group.size) / (n - group.size) for group in groups]
        variance = sum(residual * residual for residual in left_out) * (len(groups) - 1) / len(groups)
        effect = max(1.0, variance * n / (share * (1 - share)))
    else:
        effect = sum(group.size**2 for group in groups) / n
    return wilson(hits / effect, n / effect, z=student_quantile(0.975, len(groups) - 1))


def grouped_hits(right: Iterable[bool], groups: Sequence[int]) -> list[Group]:
    """Count the right answers and the examples of each group, from whether each example is right."""
    sizes = Counter(groups)
    hits = Counter(compress(groups, right))
    return [Group(hits[group], size) for group, size in sizes.items()]


def accuracy_interval(right: Sequence[bool], groups: Sequence[int] | None) -> OptionalInterval:
    """The interval of an accuracy, on independent examples or on examples in groups."""
    if groups is None:
        return proportion_interval(sum(right), len(right))
    return grouped_wilson(grouped_hits(right, groups))


class Part(NamedTuple):
    """One of several independent scores that are averaged."""

    name: str
    value: float
    bar: OptionalInterval
    weight: float = 1.0

    @property
    def interval(self) -> Interval | None:
        """The ends; both are `value` if the predictions are constant."""
        if self.bar.withheld == CONSTANT:
            return Interval(self.value, self.value)
        return self.bar.interval


def optional_mean_interval(parts: Sequence[Part]) -> OptionalInterval:
    """The interval of a weighted mean of independent scores; withheld if that of a part is.

    The score of constant predictions adds no width; if all parts are constant, there is no interval.
    """
    if len(parts) == 1:
        return parts[0].bar
    reason = withheld_because({part.name: part.bar.withheld for part in parts})
    if reason:
        return withheld(reason)
    low, high = mean_interval(parts)
    return OptionalInterval(low, high)


def mean_interval(parts: Sequence[Part]) -> Interval:
    """The interval of a weighted mean of independent scores, from the interval of each.

    The distance of each end from the mean is the root of the sum of the parts' squared weighted distances
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
    """The first reason for a missing interval; constant predictions count only if all parts are constant."""
    all_reasons = list(reasons)
    for reason in all_reasons:
        if reason not in (None, CONSTANT):
            return reason
    if all_reasons and None not in all_reasons:
        return CONSTANT
    return None


def withheld_because(parts: Mapping[str, str | None]) -> str | None:
    """Why a mean has no interval, as "not defined on CoLA; too few to say on WNLI"; None where it has one.

    `parts` maps each name to the reason why that part has no interval.
    """
    reason = mean_withheld(parts.values())
    if reason is None:
        return None
    if reason == CONSTANT:  # of all parts, so that none is named
        return CONSTANT
    names_by_reason: dict[str, list[str]] = {}
    for name, why in parts.items():
        if why is not None and why != CONSTANT:
            names_by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{why} on {', '.join(names)}" for why, names in names_by_reason.items())


_QUANTILE_STEPS = 100
"""Upper bound on the steps of a quantile, which usually takes about four."""
_NORMAL_FROM = 1e5
"""Degrees of freedom from which a quantile of t is the normal one plus three terms in 1 / df."""


def student_t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with `df` degrees of freedom."""
    if df <= 0:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(df / (df + t * t), t * t / (df + t * t), df / 2, b=0.5)


def student_quantile(probability: float, df: float) -> float:
    """The t with P(T <= t) = `probability` for Student's t with `df` degrees of freedom.

    `df` is finite, at least 1 and may be a fraction; both tails hold at least 1e-100. The result is
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
    size = _near_normal(normal, df)
    if df < _NORMAL_FROM:
        size = _two_sided_quantile(2 * tail, df, start=size)
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
    low = 0.0
    high = math.inf
    t = start
    for _ in range(_QUANTILE_STEPS):
        beyond = student_t_two_sided(t, df)
        if beyond > p:
            low = t
        else:
            high = t
        step = -math.inf
        if beyond:
            log_density = log_density_at_0 - (df + 1) / 2 * math.log1p(t * t / df)
            step = math.log(beyond / p) * beyond / (2 * t) * math.exp(-log_density)
        better = t * math.exp(min(step, 100.0))
        if abs(better - t) <= 1e-10 * max(1.0, t):  # the error is about the square of the step
            return better
        if not low < better < high:
            better = 2 * t if math.isinf(high) else (low + high) / 2
        t = better
    return t


def _incomplete_beta(x: float, complement: float, a: float, *, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b); `complement` is 1 - x without cancellation."""
    if x <= 0:
        return 0.0
    if complement <= 0:
        return 1.0
    log_front = a * _log(x, complement) + b * _log(complement, x) - _log_beta(a, b)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(x, a, b=b) / a
    return 1 - math.exp(log_front) * _beta_fraction(complement, b, b=a) / b


def _log(x: float, complement: float) -> float:
    """log x, computed from 1 - x if x is close to 1."""
    if complement < 0.5:
        return math.log1p(-complement)
    return math.log(x)


def _log_beta(a: float, b: float) -> float:
    """log B(a, b); by a series if one argument is 1/2 and the log-gammas of the other would cancel."""
    large = max(a, b)
    if large < 50 or min(a, b) != 0.5:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    ratio = 0.5 * math.log(large) - 1 / (8 * large) + 1 / (192 * large**3) - 1 / (640 * large**5)
    return 0.5 * math.log(math.pi) - ratio


def _beta_fraction(x: float, a: float, *, b: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    tiny = 1e-300
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1) or tiny)
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

    The smallest of n is multiplied by n, the next by n - 1, and so on; each adjusted value is at least the
    one before it and at most 1.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    floor = 0.0
    for rank, position in enumerate(sorted(range(count), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (count - rank) * p_values[position]))
        adjusted[position] = floor
    return tuple(adjusted)
