"""Pearson's and Spearman's correlation in plain Python, exact to the last digits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
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
    first, second = (
        _doubled_ranks(array("d", gold).tobytes()),
        _doubled_ranks(array("d", predicted).tobytes()),
    )
    centre = (
        len(gold) * (len(gold) + 1) ** 2
    )  # doubled ranks have the mean n + 1: all sums are exact integers
    spreads = [sum(map(mul, ranks, ranks)) - centre for ranks in (first, second)]
    if not all(spreads):
        return 0.0
    return (sum(map(mul, first, second)) - centre) / (sqrt(spreads[0]) * sqrt(spreads[1]))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1, ties sharing their mean rank."""
    return [rank / 2 for rank in _doubled_ranks(array("d", values).tobytes())]


@lru_cache(maxsize=8)
def _doubled_ranks(data: bytes) -> tuple[int, ...]:
    """Twice the rank of each of an array's values; kept, since gold is ranked for every submission alike."""
    values = array("d", data).tolist()
    ordered = sorted(values)
    last = dict(zip(ordered, range(1, len(ordered) + 1), strict=True))
    first = dict(zip(reversed(ordered), range(len(ordered), 0, -1), strict=True))
    if len(last) == len(ordered):
        return tuple([2 * last[value] for value in values])
    return tuple([first[value] + last[value] for value in values])


def constant(values: Sequence[float]) -> bool:
    """Whether a column does not vary, rounding aside."""
    return not any(_centred(values))


def _centred(values: Sequence[float]) -> list[float]:
    """Deviations from the mean, the largest scaled to 1 so that no square is lost; all 0.0 if none."""
    low, high, mean = min(values), max(values), fsum(values) / len(values)
    largest = max(high - mean, mean - low)
    if low == high or largest <= RELATIVE_ZERO * abs(mean):
        return [0.0] * len(values)
    return [(value - mean) / largest for value in values]


NUMBER_METRICS: Mapping[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "pearson": pearson_of,
    "spearman": spearman_of,
}
