"""Gradient boosting of small decision trees, as in scikit-learn's HistGradientBoostingClassifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.systems.features import Floats
from gluebench.systems.linear import softmax

Ints = npt.NDArray[np.intp]
ROUNDS, RATE, DEPTH = 100, 0.1, 3
"""Trees for each class, the factor on each tree's scores, and the splits between root and leaf."""
BINS = 32
"""The most ranges that a feature is divided into."""
SMALLEST = 20
"""Examples that a leaf holds at least."""
_FLAT = 1e-3
"""A node is not split off if its second derivatives sum to less."""


class Tree(NamedTuple):
    """A decision tree on binned features."""

    splits: tuple[tuple[Ints, Ints], ...]
    """For each level the feature of each node, and the last bin of it that goes left."""
    values: Floats
    """The score of each leaf."""

    def scores(self, binned: Ints) -> Floats:
        """The score of each example; `binned` has shape (features, examples)."""
        scores: Floats = self.values[_nodes(self.splits, binned)]
        return scores


class Trees:
    """Softmax of the sum of trees, each fitted to the derivatives of the cross-entropy."""

    def fit(self, rows: Floats, codes: Sequence[int], classes: int) -> None:
        """Learn from features of shape (examples, features) and the examples' classes, numbered from 0."""
        self._edges = [_edges(column) for column in rows.T]
        binned, targets = self._binned(rows), np.eye(classes)[codes]
        self._start = np.log(np.maximum(targets.mean(axis=0), 1e-9))
        self._rounds: list[list[Tree]] = []
        scores = np.tile(self._start, (len(rows), 1))
        for _ in range(ROUNDS):
            shares = softmax(scores)
            slopes, curvatures = shares - targets, shares * (1 - shares)
            grown = range(classes if classes > 2 else 1)
            trees = [_grown(binned, slopes[:, code], curvatures[:, code]) for code in grown]
            if classes == 2:  # the other class has the same tree with the signs turned
                trees.append(trees[0]._replace(values=-trees[0].values))
            scores += np.stack([tree.scores(binned) for tree in trees], axis=1)
            self._rounds.append(trees)

    def scores(self, rows: Floats) -> Floats:
        """Logarithms of the classes' probabilities but for a constant, shape (examples, classes)."""
        binned = self._binned(rows)
        by_round = [[tree.scores(binned) for tree in trees] for trees in self._rounds]
        scores: Floats = self._start + np.sum(by_round, axis=0).T
        return scores

    def _binned(self, rows: Floats) -> Ints:
        return np.stack([np.searchsorted(*pair) for pair in zip(self._edges, rows.T, strict=True)])


def _edges(column: Floats) -> Floats:
    """Where one bin ends: halfway between values, or at quantiles where there are too many."""
    values = np.unique(column)
    if len(values) <= BINS:
        return (values[1:] + values[:-1]) / 2
    return np.unique(np.quantile(column, np.arange(1, BINS) / BINS))


def _nodes(splits: Sequence[tuple[Ints, Ints]], binned: Ints) -> Ints:
    """Which node of the level below the splits each example falls into."""
    places = np.arange(binned.shape[1])
    nodes = np.zeros_like(places)
    for features, bins in splits:
        nodes = 2 * nodes + (binned[features[nodes], places] > bins[nodes])
    return nodes


def _grown(binned: Ints, slopes: Floats, curvatures: Floats) -> Tree:
    """The tree whose leaves take one Newton step, split where that lowers the loss most."""
    splits: list[tuple[Ints, Ints]] = []
    nodes = _nodes(splits, binned)
    for level in range(DEPTH):
        gains = _gains(binned, nodes, 2**level, (slopes, curvatures, np.ones_like(slopes)))
        best = gains.argmax(axis=1)
        features, bins = np.divmod(best, BINS)
        whole = gains[np.arange(2**level), best] <= 0
        splits.append((features, np.where(whole, BINS, bins)))
        nodes = _nodes(splits, binned)
    slope, curvature = (np.bincount(nodes, values, 2**DEPTH) for values in (slopes, curvatures))
    return Tree(tuple(splits), -RATE * slope / np.maximum(curvature, 1e-15))


def _gains(binned: Ints, nodes: Ints, width: int, sums: Sequence[Floats]) -> Floats:
    """What each split gains, shape (nodes, features x bins); of those that are not allowed, nothing."""
    count = len(binned)
    keys = ((nodes * count + np.arange(count)[:, None]) * BINS + binned).ravel()
    held = np.stack([np.bincount(keys, np.tile(values, count), width * count * BINS) for values in sums])
    left = held.reshape(3, width, count, BINS).cumsum(axis=-1)
    right = left[..., -1:] - left
    allowed = (np.minimum(left[1], right[1]) >= _FLAT) & (np.minimum(left[2], right[2]) >= SMALLEST)
    parts = [
        np.divide(side[0] ** 2, side[1], where=allowed, out=np.zeros(allowed.shape)) for side in (left, right)
    ]
    before = (left[0] + right[0]) ** 2 / np.maximum(left[1] + right[1], 1e-15)
    gains: Floats = np.where(allowed, parts[0] + parts[1] - before, 0.0).reshape(width, -1)
    return gains
