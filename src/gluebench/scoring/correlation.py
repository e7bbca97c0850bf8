"""Pearson's and Spearman's correlation in plain Python, exact to the last digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, sqrt

RELATIVE_ZERO = 1e-13
"""A column whose deviation is below this share of its mean does not vary: what is left is rounding."""


def pearson_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's r of two columns of finite numbers of one length; 0.0 where either does not vary."""
    first, second = _centred(gold), _centred(predicted)
    norms = sqrt(fsum(x * x for x in first)) * sqrt(fsum(y * y for y in second))
    if not norms:
        return 0.0
    return max(-1.0, min(1.0, fsum(x * y for x, y in zip(first, second, strict=True)) / norms))


def spearman_of(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rho, ties sharing their mean rank; 0.0 where either column does not vary."""
    return pearson_of(ranks(gold), ranks(predicted))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1, ties sharing their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and values[order[stop]] == values[order[start]]:
            stop += 1
        for position in order[start:stop]:
            result[position] = (start + 1 + stop) / 2
        start = stop
    return result


def constant(values: Sequence[float]) -> bool:
    """Whether a column does not vary, rounding aside."""
    return not any(_centred(values))


def _centred(values: Sequence[float]) -> list[float]:
    """Deviations from the mean, the largest scaled to 1 so that no square is lost; all 0.0 if none."""
    mean = fsum(values) / len(values)
    deviations = [value - mean for value in values]
    largest = max(map(abs, deviations))
    if largest <= RELATIVE_ZERO * abs(mean) or min(values) == max(values):
        return [0.0] * len(values)
    return [deviation / largest for deviation in deviations]


NUMBER_METRICS: Mapping[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "pearson": pearson_of,
    "spearman": spearman_of,
}
