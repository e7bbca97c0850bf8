"""Which systems of a board are better than which: decisions that are all right at once in 95 % of test sets.

The *influence* of a unit (an example, or a group of examples) on a score is how much it moves it. From these
follow the variance of the difference of two systems' averages, and its studentized size z on the scale of a
normal deviate. A decision "better" is a z above a critical value that allows for all pairs of the board. From
the decisions follow all statements on ranks. Nothing is random, and no order of rows or systems matters.
docs/explanation/differences.md has the proof, simulations and sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Floats; of single precision for boards of more than PRECISE_UP_TO systems."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

ALPHA = 0.05
"""Largest share of test sets in which any decision on equal systems may be wrong."""
PRECISE_UP_TO = 2000
"""Most systems whose covariances have double precision; beyond that, memory counts."""
ROWS = 128
"""Systems whose pairs are looked at together, so that only a few matrices of all pairs are in memory."""
UNITS = 1024
"""Units whose influence values are in memory together."""
EQUAL = 1e-12
"""Averages that differ by no more than this are equal: the difference is from rounding."""
NOISE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-6}
"""Share of two systems' variances below which that of their difference may be rounding alone."""
STEP = 1.1
"""Ratio of the steps to which a standard error is rounded up where labels are hidden."""

Values = Callable[[slice], Floats]
"""The influence values of all systems on a slice of the units, shape (systems, units of the slice)."""


def precision(systems: int) -> type[np.float32 | np.float64]:
    """The type of the covariances of so many systems."""
    return np.float64 if systems <= PRECISE_UP_TO else np.float32


def row_blocks(size: int, most: int = ROWS) -> Iterator[slice]:
    """Yield slices that cover `size` in order."""
    for start in range(0, size, most):
        yield slice(start, min(start + most, size))


def covariances(values: Values, systems: int, units: int, reference: Floats | None = None) -> Floats:
    """Covariances of the scores of all systems on a test file; only the upper triangle counts.

    Influence values have mean zero over the units. A `reference`, shape (units,), is subtracted from those of
    every system, by default their mean: no variance of a difference changes, and far fewer digits cancel.
    """
    matrix: Floats = np.zeros((systems, systems), precision(systems))
    for block in row_blocks(units, UNITS):
        deviations = values(block).astype(matrix.dtype, copy=False)
        deviations = deviations - (deviations.mean(axis=0) if reference is None else reference[block])
        for rows in row_blocks(systems, 4 * ROWS):
            matrix[rows, rows.start :] += deviations[rows] @ deviations[rows.start :].T
    matrix /= units * max(units - 1, 1)
    return matrix


class RunVariances(NamedTuple):
    """The part of each average's variance that is due to the choice of runs, shape (systems,) each."""

    own: Floats
    """Variance between runs, less what the examples make of it."""
    counted: Floats
    """The whole variance between runs; 0 where `own` is."""
    terms: Floats
    """`counted` squared over its degrees of freedom."""


class PairVariances:
    """Variances of the differences of all pairs of averages, as sums over independent test files.

    One matrix holds two numbers for each pair, so that 10,000 systems fit in memory: from the diagonal up
    covariances, and below it Satterthwaite's terms, the files' squared variances over their degrees of
    freedom.
    """

    def __init__(self, systems: int) -> None:
        self._both: Floats = np.zeros((systems, systems), precision(systems))
        self._fewest_units = 0
        """Of the smallest file."""
        self._all_units = 0

    def add(self, covariance: Floats, units: int, weight: float = 1.0) -> None:
        """Add a test file: the upper triangle of its `covariances`, and its weight in the averages."""
        weight_squared = weight**2
        degrees_of_freedom = max(units - 1, 1)
        variances = np.diag(covariance) * weight_squared
        for rows in row_blocks(len(covariance)):
            # Each pair counts once: the columns before these rows were paired with them in earlier blocks.
            columns = slice(rows.start, None)
            # `triu` keeps the diagonal of the matrix and what is above it, which is the place of covariances.
            from_diagonal = np.triu(covariance[rows, columns]) * weight_squared
            of_differences = _difference_variances(variances[rows], variances[columns], from_diagonal)
            above_diagonal = np.triu(of_differences**2 / degrees_of_freedom, 1)
            self._both[rows, columns] += from_diagonal
            # Transposed, Satterthwaite's terms lie below the diagonal, where there are no covariances.
            self._both[columns, rows] += above_diagonal.T
        self._fewest_units = min(self._fewest_units or units, units)
        self._all_units += units

    def deviates(
        self,
        averages: Floats,
        runs: RunVariances | None = None,
        rounding: Floats | None = None,
        *,
        normal: bool = False,
    ) -> Floats:
        """The studentized differences z of all pairs, positive where the system of the row is ahead.

        They take the place of the variances, which are lost. With `rounding`, shape (systems,), the averages
        are rounded, and these are variances that allow for it: labels are hidden, so that standard errors are
        rounded up too. Unless the values of units are about `normal`, no z exceeds that of the sign test.
        """
        z = self._both
        variances = np.diag(z).astype(np.float64)
        for block in row_blocks(len(z)):
            # Below the diagonal stands the opposite of what is above it, so the rest of each row is enough.
            here = slice(block.start, None)
            differences = np.subtract.outer(averages[block], averages[here])
            squares = _difference_variances(
                variances[block], variances[here], z[block, here].astype(np.float64)
            )
            terms = z[here, block].T.astype(np.float64)
            noise = NOISE[z.dtype] * np.add.outer(variances[block], variances[here])
            constant = squares <= noise
            squares = np.maximum(squares, noise)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                inverse = np.where(constant, 0.0, terms / squares)  # the variance over its degrees of freedom
                if runs is not None:
                    own, counted, of_runs = (np.add.outer(part[block], part[here]) for part in runs)
                    squares += own
                    inverse += np.where(counted > 0, own * of_runs / counted**2, 0.0)
                    constant &= own == 0
                df = np.where(inverse > 0, squares / inverse, np.inf)
                if rounding is not None:
                    squares += np.add.outer(rounding[block], rounding[here])
                    squares = STEP ** (2 * np.ceil(np.log(squares) / (2 * np.log(STEP)) - 1e-9))
                    df = 2 ** np.floor(np.log2(df))
                rows = normal_deviates(differences**2 / squares, df)
            if not normal:  # of right and wrong answers to few units, t would be too large
                rows = np.minimum(rows, sign_test_deviate(self._all_units))
            rows[constant] = np.minimum(rows[constant], sign_test_deviate(self._fewest_units))
            rows[np.abs(differences) <= EQUAL] = 0.0
            rows = np.triu(np.copysign(rows, differences), 1)
            corner = rows[:, : block.stop - block.start]
            z[here, block] = -rows.T
            z[block, here] = rows
            z[block, block] = corner - corner.T
        return z


def _difference_variances(rows: Floats, columns: Floats, covariance: Floats) -> Floats:
    """Variances of the differences of all rows and columns, from the variances and covariances of these.

    Rounding may make a difference of equal systems slightly negative; it is then 0.
    """
    variances: Floats = np.maximum(np.add.outer(rows, columns) - 2 * covariance, 0.0)
    return variances


def normal_deviates(t_squares: Floats, df: Floats) -> Floats:
    """Squared Student's t as normal deviates of the same p-value (Wallace 1959).

    The error is below .005 from 24 degrees of freedom; with fewer, deviates are too small, never too large.
    """
    deviates: Floats = np.sqrt(t_squares)
    finite = np.isfinite(df) & np.isfinite(t_squares)
    v = df[finite]
    deviates[finite] = (8 * v + 1) / (8 * v + 3) * np.sqrt(v * np.log1p(t_squares[finite] / v))
    return deviates


def sign_test_deviate(units: int) -> float:
    """The z of two systems whose difference is the same in every unit: that of the sign test."""
    if units <= 0:
        return 0.0
    return -NormalDist().inv_cdf(0.5 ** min(units, 1000))


def critical_values(systems: int) -> Floats:
    """c[k], for k = 0 ... systems: the z that a pair must exceed if up to k systems may be tied with it.

    Each of S systems has k - 1 pairs with systems that may be tied, so that S (k - 1) / 2 pairs count (Sidak
    1967).
    """
    pairs = systems * np.maximum(np.arange(systems + 1) - 1, 1) / 2
    of_each = -np.expm1(np.log1p(-ALPHA) / pairs)
    return np.array([-NormalDist().inv_cdf(share / 2) for share in of_each])


@dataclass(frozen=True)
class Decisions:
    """Decisions on all pairs of a board; no two equal systems are told apart with probability 1 - ALPHA."""

    z: Floats
    """The studentized differences of all pairs, row minus column, shape (systems, systems)."""
    better: Bools
    """Whether the system of the row is better than that of the column, shape (systems, systems)."""
    tied: Ints
    """With how many systems each may be tied, itself included, shape (systems,)."""

    def adjusted(self, p: Floats) -> Floats:
        """p-values of all pairs adjusted for the board: at most ALPHA exactly where a pair is decided."""
        pairs = len(self.tied) * np.maximum(np.minimum.outer(self.tied, self.tied) - 1, 1) / 2
        adjusted = -np.expm1(np.log1p(-np.minimum(p, 1 - 1e-16)) * pairs)
        # Rounding must not let a p-value contradict the decision.
        decided = self.better | self.better.T
        above = np.maximum(adjusted, np.nextafter(ALPHA, 1))
        result: Floats = np.where(decided, np.minimum(adjusted, ALPHA), above)
        return result


def p_values(z: Floats) -> Floats:
    """Two-sided p-values of the normal deviates of all pairs, shape (systems, systems)."""
    upper = np.triu_indices(len(z), 1)
    p = np.ones(z.shape)
    p[upper] = [erfc(value) for value in (np.abs(z[upper]) / sqrt(2)).tolist()]
    p.T[upper] = p[upper]
    return p


def decide(z: Floats) -> Decisions:
    """Decide all pairs from their z, shape (systems, systems), row minus column.

    At first each of the S systems may be tied with all S, itself included. In each round a pair is decided if
    its |z| exceeds c[k], where k is the smaller of the numbers of systems that the two may be tied with. Then
    these numbers are lowered to what the undecided pairs allow. c[k] (`critical_values`) grows with k, so
    that lower numbers decide more pairs in the next round.

    *Proof* that with probability 1 - ALPHA no two equal systems are decided. Let the truly equal systems form
    classes, of m systems each, and let E be the event that all pairs within each class have |z| <= c[m].

    1. By Sidak's inequality, which holds for any correlation, the probability of E is at least the product
       over the classes of (1 - ALPHA)^(m / S). The sizes m sum to S, so the product is 1 - ALPHA.
    2. On E no pair within a class is decided in any round. The numbers of its systems are S, so at least m,
       at first. While they are at least m, each pair within the class has |z| <= c[m], which does not exceed
       its critical value, so it stays undecided. So each system of the class has m - 1 undecided others
       within c[m], and its next number is at least m again.
    """
    systems = len(z)
    critical = critical_values(systems).astype(z.dtype)
    tied = np.full(systems, systems)
    while systems > 1:
        tied_before = tied
        tied = _may_be_tied(z, critical, tied_before)
        if (tied == tied_before).all():
            break
    better = np.zeros((systems, systems), np.bool_)
    for rows in row_blocks(systems):
        better[rows] = z[rows] > _critical_values_of_pairs(critical, tied, rows)
    return Decisions(z, better, tied)


def _critical_values_of_pairs(critical: Floats, tied: Ints, rows: slice) -> Floats:
    """The z that the pairs of these rows with all systems must exceed, shape (rows, systems).

    It is that of the system that may be tied with fewer, which is the smaller as critical values ascend.
    """
    of_systems = critical[tied]
    smaller: Floats = np.minimum.outer(of_systems[rows], of_systems)
    return smaller


def _may_be_tied(z: Floats, critical: Floats, tied: Ints) -> Ints:
    """With how many systems each may be tied: the largest k with k - 1 undecided others within c[k].

    `tied` has these numbers of the round before, by which pairs are decided.
    """
    systems = len(z)
    still_tied = np.empty_like(tied)
    for rows in row_blocks(systems):
        distances = np.abs(z[rows])
        # Decided pairs and pairs with oneself do not count: infinite, they are beyond every c[k].
        distances[distances > _critical_values_of_pairs(critical, tied, rows)] = np.inf
        own_columns = np.arange(rows.start, rows.stop)
        distances[own_columns - rows.start, own_columns] = np.inf
        distances.sort(axis=1)
        # Column k - 2 now has the distance of the (k - 1)-th nearest other, which c[k] must reach.
        reached = distances[:, : systems - 1] <= critical[2:]
        # The last column that is reached is the first one from the end.
        largest = systems - np.argmax(reached[:, ::-1], axis=1)
        still_tied[rows] = np.where(reached.any(axis=1), largest, 1)
    return still_tied


def rank_sets(better: Bools) -> tuple[Ints, Ints]:
    """The first and last rank of each system: 1 + the better ones, and all systems less the worse ones."""
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def not_different(better: Bools, at: int) -> list[int]:
    """Positions of the systems that are not significantly different from the one at a position."""
    decided = better[at] | better[:, at]
    decided[at] = True
    return np.flatnonzero(~decided).tolist()
