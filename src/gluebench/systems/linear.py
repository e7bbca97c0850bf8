"""Linear models on sparse rows, fitted by accelerated gradient steps of a fixed length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gluebench.systems.features import Floats, Sparse

STEPS = 150
Errors = Callable[[Floats], Floats]
"""From scores (rows, classes) to the derivative of the loss in each of them."""


def fit_logistic(rows: Sparse, codes: list[int], classes: int, *, penalty: float) -> Floats:
    """Weights (width, classes) of multinomial logistic regression with an L2 penalty.

    Minimises the mean cross-entropy plus penalty / 2 times the squared weights.
    """
    wanted = np.eye(classes)[codes]

    def errors(scores: Floats) -> Floats:
        return softmax(scores) - wanted

    return _descend(rows, errors, classes, curvature=0.5, penalty=penalty)


def fit_ridge(rows: Sparse, scores: list[float], *, penalty: float) -> Floats:
    """Weights (width, 1) of linear regression with an L2 penalty, on scores given relative to their mean."""
    wanted = np.array(scores)[:, None]
    return _descend(rows, lambda found: found - wanted, 1, curvature=1.0, penalty=penalty)


def softmax(scores: Floats) -> Floats:
    """Probabilities over the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _descend(rows: Sparse, errors: Errors, classes: int, *, curvature: float, penalty: float) -> Floats:
    """Nesterov's method for a convex loss whose second derivative in the scores is at most `curvature`."""
    count = len(rows.values)
    step = 1.0 / (curvature * _largest_eigenvalue(rows) / count + penalty)
    weights = np.zeros((rows.width, classes))
    ahead = weights
    momentum = 1.0
    for _ in range(STEPS):
        gradient = rows.transposed_times(errors(rows @ ahead)) / count + penalty * ahead
        moved = ahead - step * gradient
        following = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        ahead = moved + (momentum - 1) / following * (moved - weights)
        weights, momentum = moved, following
    return weights


def _largest_eigenvalue(rows: Sparse) -> float:
    """Of the transposed matrix times the matrix, by power iteration, with a margin of 5 %."""
    vector = np.ones((rows.width, 1))
    size = 1.0
    for _ in range(20):
        vector = rows.transposed_times(rows @ vector)
        size = float(np.linalg.norm(vector))
        vector /= size
    return 1.05 * size
