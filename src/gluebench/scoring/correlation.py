"""Pearson's and Spearman's correlation in plain Python, exact to the last digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, sqrt
from operator import mul

RELATIVE_ZERO = 1e-13
"""A column whose deviation is below this share of its mean does not vary: what is left is rounding."""


def pearson_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's r of two columns of finite numbers of one length; 0.0 where either does not vary."""
    first, second = _centred(gold), _centred(predicted)
    norms = sqrt(_dot(first, first)) * sqrt(_dot(second, second))
    if not norms:
        return 0.0
    return max(-1.0, min(1.0, _dot(first, second) / norms))


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return fsum(map(mul, first, second))


def spearman_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rho, ties sharing their mean rank; 0.0 where either column does not vary."""
    return pearson_of(ranks(gold), ranks(predicted))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1, ties sharing their mean rank."""
    ordered = sorted(values)
    last = {value: rank for rank, value in enumerate(ordered, 1)}
    first = dict(zip(reversed(ordered), range(len(ordered), 0, -1), strict=True))
    shared = {value: (first[value] + rank) / 2 for value, rank in last.items()}
    return [shared[value] for value in values]


def constant(values: Sequence[float]) -> bool:
    """Whether a column does not vary, rounding aside."""
    low, high = min(values), max(values)
    mean = fsum(values) / len(values)
    return low == high or max(high - mean, mean - low) <= RELATIVE_ZERO * abs(mean)


def _centred(values: Sequence[float]) -> list[float]:
    """Deviations from the mean, the largest scaled to 1 so that no square is lost; all 0.0 if none."""
    if constant(values):
        return [0.0] * len(values)
    mean = fsum(values) / len(values)
    largest = max(max(values) - mean, mean - min(values))
    return [(value - mean) / largest for value in values]


NUMBER_METRICS: Mapping[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "pearson": pearson_of,
    "spearman": spearman_of,
}
