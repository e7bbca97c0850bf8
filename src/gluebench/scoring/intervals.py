"""Intervals for proportions in closed form, and when an interval would be a pretence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gluebench.scoring.bars import Bar

Z = 1.959963984540054
"""97.5 % point of the normal distribution: every interval is of 95 %, two-sided."""

TOO_FEW = "too few to say"
UNDEFINED = "not defined"

FEWEST_UNITS = 8
"""Examples (or groups, where the gold has them) below which no interval of labels is given."""
FEWEST_OTHERS = 5
"""Units with a gold label other than the most frequent, below which a resampled interval falls short."""
FEWEST_NUMBERS = 25
"""Units below which no interval of a correlation, or of a metric from elsewhere, is given."""


def wilson(hits: float, n: float, *, z: float = Z) -> Bar:
    """Wilson's score interval for a proportion of n independent examples; n may be an effective number."""
    share = hits / n
    middle = share + z * z / (2 * n)
    margin = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    scale = 1 + z * z / n
    low, high = (middle - margin) / scale, (middle + margin) / scale
    return Bar(0.0 if hits == 0 else max(0.0, low), 1.0 if hits == n else min(1.0, high))


class Group(NamedTuple):
    """How many of a group's examples are right."""

    hits: int
    size: int


def grouped_wilson(groups: Sequence[Group]) -> Bar:
    """Wilson's interval for examples that come in groups, from the number that independent ones would be.

    That is n over the design effect: the jackknife variance over groups against the binomial one, at least
    1. The normal quantile is Student's with one less than the groups. With no hit, or no miss, the effect
    cannot be estimated and is taken as if each group gave one answer.
    """
    if len(groups) < FEWEST_UNITS:
        return Bar(None, None, TOO_FEW)
    n, hits = sum(group.size for group in groups), sum(group.hits for group in groups)
    share = hits / n
    if 0 < hits < n:
        left_out = [(group.hits - share * group.size) / (n - group.size) for group in groups]
        variance = sum(each * each for each in left_out) * (len(groups) - 1) / len(groups)
        effect = max(1.0, variance * n / (share * (1 - share)))
    else:
        effect = sum(group.size**2 for group in groups) / n
    bar = wilson(hits / effect, n / effect, z=student(len(groups) - 1))
    return Bar(0.0 if hits == 0 else bar.low, 1.0 if hits == n else bar.high)


def student(freedom: int) -> float:
    """97.5 % point of Student's t (Abramowitz and Stegun 26.7.5), to 1e-4 from five degrees of freedom."""
    z, x = Z, 1 / freedom
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term * x**power for power, term in enumerate(terms, 1))


def grouped_hits(gold: bytes, predicted: bytes, groups: Sequence[int]) -> list[Group]:
    """The groups of a column of labels."""
    sizes = Counter(groups)
    hits = Counter(group for group, g, p in zip(groups, gold, predicted, strict=True) if g == p)
    return [Group(hits[group], size) for group, size in sizes.items()]
