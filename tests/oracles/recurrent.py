"""Recurrent networks from their formulas, one sentence and one step at a time, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm_step(gates: Any, recurrent: Any, c: Any) -> tuple[Any, Any]:
    i, f, g, o = np.split(gates + recurrent, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(gates: Any, recurrent: Any, h: Any) -> tuple[Any, Any]:
    (ri, zi, ni), (rh, zh, nh) = np.split(gates, 3), np.split(recurrent, 3)
    z = sigmoid(zi + zh)
    h = (1 - z) * np.tanh(ni + sigmoid(ri + rh) * nh) + z * h
    return h, h


def both_ways(weights: Mapping[str, Any], x: Any, *, step: Any, layers: int = 1, prefix: str = "") -> Any:
    """Outputs (length, 2 x hidden) of the last layer under PyTorch's names of weights."""
    for layer in range(layers):
        sides = []
        for ending in ("", "_reverse"):
            wi, wh, bi, bh = (
                np.asarray(weights[f"{prefix}{part}_l{layer}{ending}"], dtype=np.float64)
                for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            h = kept = np.zeros(wh.shape[1])
            out = []
            for each in x[::-1] if ending else x:
                h, kept = step(wi @ each + bi, wh @ h + bh, kept)
                out.append(h)
            sides.append(out[::-1] if ending else out)
        x = np.concatenate(sides, axis=1)
    return x


def theano_gru(weights: Mapping[str, Any], x: Any, side: str) -> Any:
    """The last state of Skip-Thought's encoder over word vectors (length, 620)."""
    w, b, u, wx, bx, ux = (
        np.asarray(weights[f"{side}_{name}"], dtype=np.float64) for name in ("W", "b", "U", "Wx", "bx", "Ux")
    )
    h = np.zeros(len(ux))
    for each in x:
        r, z = np.split(sigmoid(each @ w + b + h @ u), 2)
        h = z * h + (1 - z) * np.tanh(each @ wx + bx + r * (h @ ux))
    return h


def least_squares(given: Any, wanted: Any, new: Any) -> Any:
    """Predictions for new rows of the linear map with a constant, from the normal equations."""
    given, new = (np.column_stack([rows, np.ones(len(rows))]).astype(np.float64) for rows in (given, new))
    return new @ np.linalg.solve(given.T @ given, given.T @ wanted.astype(np.float64))
