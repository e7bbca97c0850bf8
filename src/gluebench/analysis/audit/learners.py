"""Two deterministic learners that need only numpy: word n-grams, and boosted trees.

The n-grams are fastText's (Joulin et al. 2016): a text is the average of the embeddings of its words and word
pairs, pairs are hashed into buckets, and softmax regression is trained by gradient descent whose rate falls
linearly to 0. In fastText an embedding has 100 numbers, which a matrix maps to one for each class; the
product of the two tables can be any table of one weight for each feature and class, so that table is learned
here directly. Steps are taken on small batches of texts in one shuffled order. The trees are those
of scikit-learn's HistGradientBoostingClassifier.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.data.tokens import tokens
from gluebench.systems.linear import Floats, softmax

Ints = npt.NDArray[np.int64]
AT_A_TIME = 20_000
"""Number of texts that are tokenized before their words become numbers, which bounds the memory."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Multiplicative hashing: 2 to the 64th over the golden ratio, made odd (Knuth, volume 3, 6.4)."""
EPOCHS = 5
RATE = 10.0
"""Learning rate of the first step; large, since each feature is a small share of an average."""
BATCH = 128
BITS = 20
"""Base-2 logarithm of the number of buckets for word pairs."""


class Bags(NamedTuple):
    """The concatenated features of texts; those of text i are from starts[i] to starts[i + 1]."""

    features: Ints
    """Numbers below the width of the vocabulary; every text has at least one."""
    starts: Ints
    """Shape (texts + 1,)."""


class Vocabulary:
    """Numbers for the start of a text (0), for words (from 1), and for adjacent words (hashed).

    A pair's number is the hash of its words' numbers, so pairs may share one; words never do.
    """

    def __init__(self, *, bits: int) -> None:
        self._bits = bits
        self._numbers: dict[str, int] = {}

    @property
    def width(self) -> int:
        """Number of features."""
        return 1 + len(self._numbers) + (1 << self._bits)

    def bags(self, texts: Sequence[str], *, grow: bool = False) -> Bags:
        """The features of the texts, without unknown words; `grow` adds all words to the vocabulary first."""
        numbers, lengths = array("q"), array("q")
        for start in range(0, len(texts), AT_A_TIME):
            tokenized = [tokens(text) for text in texts[start : start + AT_A_TIME]]
            flat = list(chain.from_iterable(tokenized))
            if grow:
                for word in dict.fromkeys(flat):
                    self._numbers.setdefault(word, len(self._numbers) + 1)
            get = self._numbers.get
            numbers.extend([get(word, -1) for word in flat])
            lengths.extend(map(len, tokenized))
        return self._paired(np.array(numbers, dtype=np.int64), np.array(lengths, dtype=np.int64))

    def _paired(self, words: Ints, lengths: Ints) -> Bags:
        """The start feature of each text, then each word followed by its pair with the word before it."""
        starts = np.concatenate([[0], np.cumsum(2 * lengths + 1)])
        places = 2 * np.arange(len(words)) + np.repeat(np.arange(len(lengths)), lengths) + 1
        features = np.zeros(starts[-1], dtype=np.int64)
        features[places] = words
        # two positions before a word is the previous word; a first word is paired with the start
        before = features[np.maximum(places - 2, 0)]
        first = np.zeros(len(words), dtype=bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        before[first] = 0
        pairs = (before * (len(self._numbers) + 1) + words).astype(np.uint64) * _SPREAD
        hashed = (pairs >> np.uint64(64 - self._bits)).astype(np.int64) + len(self._numbers) + 1
        features[places + 1] = np.where((words < 0) | (before < 0), -1, hashed)
        kept = features >= 0
        if kept.all():
            return Bags(features, starts)
        return Bags(features[kept], np.concatenate([[0], np.cumsum(kept)])[starts])


class NGrams:
    """Softmax regression on averaged words and word pairs."""

    def __init__(
        self, *, epochs: int = EPOCHS, rate: float = RATE, batch: int = BATCH, seed: int = 0
    ) -> None:
        self._epochs, self._rate, self._batch, self._seed = epochs, rate, batch, seed
        self._vocabulary = Vocabulary(bits=BITS)
        self._weights: Floats = np.zeros((0, 0))

    def fit(self, texts: Sequence[str], codes: Sequence[int], classes: int) -> None:
        """Learn from texts and their classes, numbered from 0. Raises ValueError for fewer than two."""
        if classes < 2:
            raise ValueError(f"there is nothing to tell apart in {classes} class")
        bags = self._vocabulary.bags(texts, grow=True)
        # gradients sum to 0 over classes, so the last table is minus the sum of the others
        self._weights = np.zeros((classes - 1, self._vocabulary.width))
        rng = np.random.default_rng(self._seed)
        order = rng.permutation(len(texts))
        targets = (np.asarray(codes)[order] == np.arange(classes - 1)[:, None]).astype(np.float64)
        sizes = np.diff(bags.starts)[order]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(bags.starts[:-1][order] - starts[:-1], sizes)
        self._descend(Bags(bags.features[places], starts), targets)

    def scores(self, texts: Sequence[str]) -> Floats:
        """Logits, shape (classes, texts); their sum over classes is 0."""
        bags = self._vocabulary.bags(texts)
        if not len(texts):
            return np.zeros((len(self._weights) + 1, 0))
        shares = 1 / np.diff(bags.starts)
        scores = _sums(self._weights, bags.features, bags.starts[:-1]) * shares
        return np.concatenate([scores, -scores.sum(axis=0, keepdims=True)])

    def _descend(self, bags: Bags, targets: Floats) -> None:
        sizes = np.diff(bags.starts)
        batches = [slice(at, at + self._batch) for at in range(0, len(sizes), self._batch)]
        steps = self._epochs * len(batches)
        for step in range(steps):
            batch = batches[step % len(batches)]
            starts = bags.starts[:-1][batch]
            features = bags.features[starts[0] : starts[-1] + sizes[batch][-1]]
            shares = 1 / sizes[batch]
            rate = self._rate * (1 - step / steps)
            scores = _sums(self._weights, features, starts - starts[0]) * shares
            last = -scores.sum(axis=0)
            most = np.maximum(scores.max(axis=0), last)
            powers = np.exp(scores - most)
            probabilities = powers / (powers.sum(axis=0) + np.exp(last - most))
            errors = (targets[:, batch] - probabilities) * (shares * rate)
            for table, error in zip(self._weights, errors, strict=True):
                np.add.at(table, features, np.repeat(error, sizes[batch]))


def _sums(weights: Floats, features: Ints, starts: Ints) -> Floats:
    """Sums of the weights of each text's features, shape (tables, texts)."""
    return np.stack([np.add.reduceat(table.take(features), starts) for table in weights])


ROUNDS, TREE_RATE, DEPTH = 100, 0.1, 3
"""Trees for each class, learning rate, and levels of splits of a tree."""
BINS = 32
"""Maximum number of bins of a feature."""
SMALLEST = 20
"""Minimum number of examples of a leaf."""
_FLAT = 1e-3
"""Minimum sum of second derivatives of a node."""


Splits = Sequence[tuple[Ints, Ints]]
"""Feature of each node and the last bin that goes left, for each level of a tree."""


class Trees:
    """Softmax of the sum of trees, each fitted to the derivatives of the cross-entropy."""

    def fit(self, rows: Floats, codes: Sequence[int], classes: int) -> None:
        """Learn from features of shape (examples, features) and the examples' classes, numbered from 0."""
        self._edges = [_edges(column) for column in rows.T]
        binned, targets = self._binned(rows), np.eye(classes)[codes]
        self._start = np.log(np.maximum(targets.mean(axis=0), 1e-9))
        self._rounds: list[list[tuple[Splits, Floats]]] = []  # trees, each with the scores of its leaves
        scores = np.tile(self._start, (len(rows), 1))
        for _ in range(ROUNDS):
            shares = softmax(scores)
            slopes, curvatures = shares - targets, shares * (1 - shares)
            fitted = range(classes if classes > 2 else 1)
            trees = [_fit_tree(binned, slopes[:, code], curvatures[:, code]) for code in fitted]
            if classes == 2:  # the other class has the same tree with opposite signs
                trees.append((trees[0][0], -trees[0][1]))
            scores += _scores(trees, binned).T
            self._rounds.append(trees)

    def scores(self, rows: Floats) -> Floats:
        """Log-probabilities up to a constant, shape (examples, classes)."""
        binned = self._binned(rows)
        scores: Floats = self._start + np.sum([_scores(trees, binned) for trees in self._rounds], axis=0).T
        return scores

    def _binned(self, rows: Floats) -> Ints:
        return np.stack([np.searchsorted(*pair) for pair in zip(self._edges, rows.T, strict=True)])


def _edges(column: Floats) -> Floats:
    """Bin edges: midpoints between values, or quantiles if there are too many values."""
    values = np.unique(column)
    if len(values) <= BINS:
        return (values[1:] + values[:-1]) / 2
    return np.unique(np.quantile(column, np.arange(1, BINS) / BINS))


def _scores(trees: Sequence[tuple[Splits, Floats]], binned: Ints) -> Floats:
    """Scores of trees, shape (trees, examples); `binned` has shape (features, examples)."""
    return np.stack([values[_nodes(splits, binned)] for splits, values in trees])


def _nodes(splits: Splits, binned: Ints) -> Ints:
    """The node of each example on the level below the splits."""
    places = np.arange(binned.shape[1])
    nodes = np.zeros_like(places)
    for features, bins in splits:
        nodes = 2 * nodes + (binned[features[nodes], places] > bins[nodes])
    return nodes


def _fit_tree(binned: Ints, slopes: Floats, curvatures: Floats) -> tuple[Splits, Floats]:
    """Fit a tree, split greedily by loss, whose leaves take one Newton step."""
    splits: list[tuple[Ints, Ints]] = []
    nodes = _nodes(splits, binned)
    for level in range(DEPTH):
        gains = _gains(binned, nodes, 2**level, (slopes, curvatures, np.ones_like(slopes)))
        best = gains.argmax(axis=1)
        features, bins = np.divmod(best, BINS)
        unsplit = gains[np.arange(2**level), best] <= 0
        splits.append((features, np.where(unsplit, BINS, bins)))
        nodes = _nodes(splits, binned)
    slope, curvature = (np.bincount(nodes, values, 2**DEPTH) for values in (slopes, curvatures))
    return splits, -TREE_RATE * slope / np.maximum(curvature, 1e-15)


def _gains(binned: Ints, nodes: Ints, width: int, sums: Sequence[Floats]) -> Floats:
    """The gain of each split, shape (nodes, features x bins); 0 for splits that are not allowed."""
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
