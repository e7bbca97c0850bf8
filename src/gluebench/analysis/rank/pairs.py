"""All pairs of many systems: which differences of their averages are significant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import sqrt
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from gluebench.scoring.distributions import holm, student_t_two_sided
from gluebench.scoring.inference import ALPHA
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.rounding import rounded_p
from gluebench.scoring.units.base import Floats, Ints

System = TypeVar("System", int, str)
"""A system by its position, or by its name."""


class Pair(NamedTuple, Generic[System]):
    """Two systems on the average."""

    a: System
    b: System
    difference: float
    """A minus B, a fraction."""
    p: float
    """Two-sided."""
    adjusted: float
    """After Holm's adjustment over all pairs."""

    @property
    def winner(self) -> System | None:
        """The one that is better, where the difference is significant."""
        if self.adjusted > ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b


class Errors(NamedTuple):
    """Of every pair of systems: the squared standard error of the difference of their averages."""

    squares: Floats
    """(systems, systems)."""
    terms: Floats
    """(systems, systems): the sum of each part's square over its degrees of freedom (Satterthwaite 1946)."""


def pair_errors(parts: Floats, units: Ints) -> Errors:
    """The errors from (systems, tasks, resamples) paired draws of what each task adds to the averages.

    `units` are (tasks,): of a task with few, little is known of its variance, and that counts by its share.
    """
    squares = np.zeros((len(parts), len(parts)))
    terms = squares.copy()
    for at, number in enumerate(units):
        centered = parts[:, at] - parts[:, at].mean(axis=1, keepdims=True)
        covariance = centered @ centered.T / (parts.shape[2] - 1)
        alone = np.diag(covariance)[:, np.newaxis] + np.diag(covariance)
        variance = alone - 2 * covariance
        variance[variance <= 1e-12 * alone] = 0.0  # rounding, of a pair that never differs
        df = max(number - 1, 1)
        variance *= number / df
        squares += variance
        terms += variance**2 / df
    return Errors(squares, terms)


def with_runs(errors: Errors, scores: Sequence[Floats], shared: Floats) -> Errors:
    """The errors with the variance between runs, of which the examples' part is taken off.

    Degrees of freedom are those of examples and of runs by their shares of the variance (scoring/runs.py).

    `scores` are for each system (runs,) averages, and `shared` (systems,) that part.
    """
    numbers = np.array([len(of_runs) for of_runs in scores])
    df = np.maximum(numbers - 1, 1)
    between = np.array([of_runs.var() * len(of_runs) for of_runs in scores]) / df / numbers
    own = np.maximum(between - shared, 0.0)
    counted = np.where(own > 0, between, 0.0)
    runs, pooled, runs_terms = (column[:, np.newaxis] + column for column in (own, counted, counted**2 / df))
    squares = errors.squares + runs
    inverse = ratio(errors.terms, errors.squares) + runs * ratio(runs_terms, pooled**2)
    return Errors(squares, squares * inverse)


def all_pairs(values: Sequence[float], errors: Errors) -> tuple[Pair[int], ...]:
    """Every pair of systems with these averages, tested by Student's t with Satterthwaite's df.

    Resamples alone could not show a p-value small enough for thousands of pairs.
    """
    squares, terms = errors.squares.tolist(), errors.terms.tolist()
    tested = [
        (i, j, values[i] - values[j], _p(values[i] - values[j], squares[i][j], terms[i][j]))
        for i in range(len(values))
        for j in range(i + 1, len(values))
    ]
    adjusted = holm([p for *_, p in tested])
    return tuple(Pair(*pair, after) for pair, after in zip(tested, adjusted, strict=True))


def _p(difference: float, square: float, term: float) -> float:
    if abs(difference) <= 1e-12:
        return 1.0
    return student_t_two_sided(difference / sqrt(square), square**2 / term) if square > 0 else 0.0


def as_shown(pairs: Sequence[Pair[int]], values: Sequence[float]) -> Iterator[Pair[int]]:
    """The pairs with differences of rounded averages, and p-values that reveal no more of an order."""
    for pair in pairs:
        difference = values[pair.a] - values[pair.b]
        p, adjusted = (rounded_p(p_value, pair.difference, difference) for p_value in (pair.p, pair.adjusted))
        yield pair._replace(difference=difference, p=p, adjusted=adjusted)


def groups(order: Sequence[int], pairs: Sequence[Pair[int]]) -> dict[int, tuple[int, int]]:
    """The first and last place of each system's group, from 1.

    The board, whose systems are in `order` from the top, is cut wherever every system above is better, beyond
    chance, than every one below; within a group the order may be chance.
    """
    place = {system: at for at, system in enumerate(order)}
    lowest = list(range(len(order)))  # the last place from which each does not differ significantly
    for pair in pairs:
        one, other = sorted((pair.a, pair.b), key=place.__getitem__)
        if pair.winner != one:
            lowest[place[one]] = max(lowest[place[one]], place[other])
    ends = [at for at, reach in enumerate(accumulate(lowest, max)) if at == reach]
    starts = [0, *(end + 1 for end in ends)]
    return {
        system: (start + 1, end + 1)
        for start, end in zip(starts, ends, strict=False)
        for system in order[start : end + 1]
    }


def rank_ranges(systems: Sequence[int], pairs: Sequence[Pair[int]]) -> dict[int, tuple[int, int]]:
    """The ranks a system may have by the tests: below all that are better, above all that are worse.

    As Holm's adjustment covers all pairs, all these ranges hold together in 95 % of test sets.
    """
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for pair in pairs:
        if pair.winner is not None:
            worse[pair.winner] += 1
            better[pair.b if pair.winner == pair.a else pair.a] += 1
    return {system: (1 + better[system], len(systems) - worse[system]) for system in systems}
