"""The paper's sentence models by formula, in numpy and float64, one sentence at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = Mapping[str, Floats]


def lstm(inputs: Floats, weights: Weights, suffix: str) -> Floats:
    """States (length, hidden) of one direction; gates in the order input, forget, new, output."""
    ih, hh = weights["weight_ih" + suffix], weights["weight_hh" + suffix]
    bias = weights["bias_ih" + suffix] + weights["bias_hh" + suffix]
    hidden, cell = np.zeros(hh.shape[1]), np.zeros(hh.shape[1])
    states = []
    for vector in inputs:
        enter, keep, new, give = np.split(ih @ vector + hh @ hidden + bias, 4)
        cell = sigmoid(keep) * cell + sigmoid(enter) * np.tanh(new)
        hidden = sigmoid(give) * np.tanh(cell)
        states.append(hidden)
    return np.array(states)


def bilstm(inputs: Floats, weights: Weights, layers: int) -> Floats:
    """States (length, 2 hidden) of the last layer."""
    for layer in range(layers):
        ahead = lstm(inputs, weights, f"_l{layer}")
        back = lstm(inputs[::-1], weights, f"_l{layer}_reverse")[::-1]
        inputs = np.concatenate([ahead, back], axis=1)
    return inputs


def attended(first: Floats, second: Floats) -> Floats:
    """Each state of the first with the attention-weighted sum of the second's behind it (B.1)."""
    rows = []
    for state in first:
        products = np.array([state @ other for other in second])
        shares = np.exp(products - products.max())
        rows.append(np.concatenate([state, (shares / shares.sum()) @ second]))
    return np.array(rows)


def pair(first: Floats, second: Floats) -> Floats:
    """[u; v; |u - v|; u * v]."""
    return np.concatenate([first, second, abs(first - second), first * second])


def sigmoid(values: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-values))
    return result
