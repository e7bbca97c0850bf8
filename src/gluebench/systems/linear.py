"""Sparse rows, and linear models on them, fitted by accelerated gradient steps of a fixed length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
STEPS = 100
Errors = Callable[[Floats], Floats]
"""From scores (rows, penalties, classes) to the derivative of the loss in each of them."""


@dataclass(frozen=True)
class Sparse:
    """Rows of equal values: row i has `values[i]` in the columns `columns[starts[i]:starts[i + 1]]`."""

    starts: Integers
    columns: Integers
    values: Floats
    width: int

    def __matmul__(self, weights: Floats) -> Floats:
        """Product with weights of shape (width, classes): (rows, classes)."""
        # column by column: adding up runs of a flat array is several times faster than runs of rows
        columns = np.array(weights.T, order="C")
        sums = [np.add.reduceat(column[self.columns], self.starts[:-1]) for column in columns]
        return np.stack(sums, axis=1) * self.values[:, None]

    def multiply_transposed(self, errors: Floats) -> Floats:
        """Product of the transposed matrix with errors of shape (rows, classes): (width, classes)."""
        rows, starts, columns = self.by_column
        sums = np.zeros((errors.shape[1], self.width))
        for place, error in enumerate(errors.T * self.values):
            sums[place, columns] = np.add.reduceat(error[rows], starts)
        return sums.T

    @cached_property
    def by_column(self) -> tuple[Integers, Integers, Integers]:
        """The row of each entry, ordered by column; where each column begins; which columns these are."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self.values)), np.diff(self.starts))[order]
        columns, starts = np.unique(self.columns[order], return_index=True)
        return rows, starts, columns


def fit_logistic(rows: Sparse, codes: list[int], classes: int, *, penalties: Sequence[float]) -> list[Floats]:
    """Weights (width, classes) of multinomial logistic regression, for each of some L2 penalties.

    Minimizes the mean cross-entropy plus penalty / 2 times the squared weights.
    """
    expected = np.eye(classes)[codes][:, None]
    if classes != 2:
        return _descend(
            rows, lambda scores: softmax(scores) - expected, classes, curvature=0.5, penalties=penalties
        )

    def errors(scores: Floats) -> Floats:
        """Return the errors for class 1 of two; class 0 has the same weights with the opposite sign."""
        return softmax(np.concatenate([-scores, scores], axis=2))[..., 1:] - expected[..., 1:]

    fitted = _descend(rows, errors, 1, curvature=0.5, penalties=penalties)
    return [np.concatenate([-weights, weights], axis=1) for weights in fitted]


def fit_ridge(rows: Sparse, scores: list[float], *, penalties: Sequence[float]) -> list[Floats]:
    """Weights (width, 1) of linear regression, for each penalty, on scores given relative to their mean."""
    expected = np.array(scores)[:, None, None]
    return _descend(rows, lambda predicted: predicted - expected, 1, curvature=1.0, penalties=penalties)


def softmax(scores: Floats) -> Floats:
    """Probabilities over the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _descend(
    rows: Sparse, errors: Errors, classes: int, *, curvature: float, penalties: Sequence[float]
) -> list[Floats]:
    """Nesterov's method for a convex loss whose second derivative in the scores is at most `curvature`.

    All penalties go side by side: reading the rows is what takes the time. So weights have the shape (row
    width, penalties x classes), and scores and residuals the shape (rows, penalties x classes); `errors`
    takes scores of shape (rows, penalties, classes). Returns the weights for each penalty.
    """
    count = len(rows.values)
    kinds = len(penalties)
    penalty = np.repeat(penalties, classes)  # (penalties x classes), as the columns of the weights
    step = 1.0 / (curvature * _largest_eigenvalue(rows) / count + penalty)
    weights = np.zeros((rows.width, kinds * classes))
    ahead = weights
    momentum = 1.0
    for _ in range(STEPS):
        # A gradient step, not from the weights but from a point ahead of them.
        scores = (rows @ ahead).reshape(count, kinds, classes)
        residuals = errors(scores).reshape(count, -1)
        gradient = rows.multiply_transposed(residuals) / count + penalty * ahead
        moved = ahead - step * gradient
        # The next point is ahead in the direction of the last move, by a share that grows from 0 towards 1.
        next_momentum = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        ahead = moved + (momentum - 1) / next_momentum * (moved - weights)
        weights = moved
        momentum = next_momentum
    return [weights[:, classes * at : classes * (at + 1)] for at in range(kinds)]


def _largest_eigenvalue(rows: Sparse) -> float:
    """Of the transposed matrix times the matrix, by power iteration, with a margin of 5 %."""
    vector = np.ones((rows.width, 1))
    size = 1.0
    for _ in range(20):
        vector = rows.multiply_transposed(rows @ vector)
        size = float(np.linalg.norm(vector))
        vector /= size
    return 1.05 * size
