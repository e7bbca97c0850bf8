"""95 % intervals as records, and those of proportions and of means in closed form; without numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gluebench.scoring.distributions import student_quantile

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
