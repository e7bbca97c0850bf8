"""Pearson's and Spearman's correlation in plain Python, close to exact arithmetic for all finite floats.

Pearson's r is within 2e-15 of the exact correlation of the given floats, whatever their offset and scale:
each column is centered and divided by its largest deviation before anything is multiplied, and each sum
is rounded once (`math.fsum`). Spearman's rho sums integers and is rounded only at the end. A column is
constant where its smallest and its largest value are equal; a correlation with it is 0.0 by convention.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from math import frexp, fsum, ldexp, sqrt
from operator import mul

_LARGEST_EXPONENT = 900
"""Sums and differences of values between 2**-900 and 2**900 neither overflow nor lose digits near zero."""


def pearson_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's r of two columns of n finite numbers, -1 to 1; 0.0 where either is constant.

    Permuting the rows, or multiplying a column exactly by a power of two, does not change any bit of it.
    """
    x, y = _deviations(gold), _deviations(predicted)
    return _ratio(_dot(x, y), _dot(x, x), _dot(y, y))


def spearman_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rho of two columns of n finite numbers, -1 to 1; 0.0 where either is constant.

    Ties share their mean rank.
    """
    x, y = (_doubled_ranks(array("d", column).tobytes()) for column in (gold, predicted))
    center = len(gold) * (len(gold) + 1) ** 2  # doubled ranks have the mean n + 1: all sums are exact
    cross, x_spread, y_spread = (
        float(sum(map(mul, first, second)) - center) for first, second in ((x, y), (x, x), (y, y))
    )
    return _ratio(cross, x_spread, y_spread)


def standardized(values: Sequence[float]) -> list[float]:
    """Return the column with mean 0 and mean square 1; all 0.0 where it is constant.

    `values` are n finite numbers. The results, at most the square root of n in size, have a root mean
    square error below 1e-15 whatever the offset and scale of the values, so that their sums, squares and
    products are well conditioned: use them for resamples, and a resample agrees with the point.
    """
    deviations = _deviations(values)
    if not any(deviations):
        return deviations  # a constant column
    n = len(deviations)
    root_mean_square = sqrt(_dot(deviations, deviations) / n)
    mean = fsum(deviations) / n  # what rounding left; not small beside the others' if one value lies far out
    return [(deviation - mean) / root_mean_square for deviation in deviations]


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1, ties sharing their mean rank."""
    return [rank / 2 for rank in _doubled_ranks(array("d", values).tobytes())]


@lru_cache(maxsize=8)
def _doubled_ranks(data: bytes) -> tuple[int, ...]:
    """Twice the rank of each value of an array; cached, since all submissions share the gold column."""
    values = array("d", data).tolist()
    ordered = sorted(values)
    last = dict(zip(ordered, range(1, len(ordered) + 1), strict=True))
    first = dict(zip(reversed(ordered), range(len(ordered), 0, -1), strict=True))
    if len(last) == len(ordered):
        return tuple([2 * last[value] for value in values])
    return tuple([first[value] + last[value] for value in values])


def constant(values: Sequence[float]) -> bool:
    """Return whether the smallest and the largest value are equal, as they are in an empty column."""
    return min(values, default=0.0) == max(values, default=0.0)


def _deviations(values: Sequence[float]) -> list[float]:
    """Deviations from the mean over the largest of them, which becomes 1 or -1; all 0.0 if constant."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low == high:
        return [0.0] * len(values)
    exponent = frexp(max(high, -low))[1]
    if abs(exponent) > _LARGEST_EXPONENT:
        return _deviations([ldexp(value, -exponent) for value in values])
    mean = fsum(values) / len(values)
    largest = max(high - mean, mean - low)
    if abs(mean) > 4 * largest:  # rounding the mean would shift every deviation: center the differences again
        return _deviations([value - mean for value in values])
    return [(value - mean) / largest for value in values]


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return fsum(map(mul, first, second))


def _ratio(cross: float, x_spread: float, y_spread: float) -> float:
    """`cross` over the geometric mean of the two spreads, at most 1 in size; 0.0 where a spread is 0."""
    if not x_spread or not y_spread:
        return 0.0
    return max(-1.0, min(1.0, cross / sqrt(x_spread * y_spread)))
