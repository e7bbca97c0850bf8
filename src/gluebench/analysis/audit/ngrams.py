"""A classifier of word n-grams like fastText's (Joulin et al. 2016), the same on every run.

As there, a text is the average of the embeddings of its words and word pairs, pairs are hashed into
buckets, and softmax regression is trained by gradient descent whose rate falls in a straight line to
nothing. There each embedding has 100 numbers, which a matrix turns into one for each class; the product of
the two tables can be any table of one number for each feature and class, and nothing else, so that table is
what is learnt here. Steps are taken for small batches of texts in one shuffled order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gluebench.analysis.audit.bags import Bags, Ints, Vocabulary

Floats = npt.NDArray[np.float64]
EPOCHS = 5
RATE = 10.0
"""Of the first step; large, since a score is an average and a feature's share of it small."""
BATCH = 128
BITS = 20
"""There are two to this power buckets for word pairs."""


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
        bags = self._vocabulary.learn(texts)
        # the steps of all classes add up to nothing, so the last table is minus the sum of the others
        self._weights = np.zeros((classes - 1, self._vocabulary.width))
        rng = np.random.default_rng(self._seed)
        order = rng.permutation(len(texts))
        wanted = (np.asarray(codes)[order] == np.arange(classes - 1)[:, None]).astype(np.float64)
        self._descend(_reordered(bags, order), wanted)

    def scores(self, texts: Sequence[str]) -> Floats:
        """What the softmax is taken of, shape (classes, texts): the sum over classes is 0."""
        bags = self._vocabulary.known(texts)
        if not len(texts):
            return np.zeros((len(self._weights) + 1, 0))
        shares = 1 / np.diff(bags.starts)
        return _with_last(_sums(self._weights, bags.features, bags.starts[:-1]) * shares)

    def predict(self, texts: Sequence[str]) -> Ints:
        """The most probable class of each text; of equals the first."""
        codes: Ints = self.scores(texts).argmax(axis=0)
        return codes

    def parameters(self) -> int:
        """The numbers that are learnt."""
        return self._weights.size

    def _descend(self, bags: Bags, wanted: Floats) -> None:
        sizes = np.diff(bags.starts)
        batches = [slice(at, at + self._batch) for at in range(0, len(sizes), self._batch)]
        steps = self._epochs * len(batches)
        for step in range(steps):
            some = batches[step % len(batches)]
            starts = bags.starts[:-1][some]
            features = bags.features[starts[0] : starts[-1] + sizes[some][-1]]
            shares = 1 / sizes[some]
            rate = self._rate * (1 - step / steps)
            scores = _sums(self._weights, features, starts - starts[0]) * shares
            errors = (wanted[:, some] - _softmax(scores)) * (shares * rate)
            for table, each in zip(self._weights, errors, strict=True):
                np.add.at(table, features, np.repeat(each, sizes[some]))


def _reordered(bags: Bags, order: Ints) -> Bags:
    sizes = np.diff(bags.starts)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(starts[-1]) + np.repeat(bags.starts[:-1][order] - starts[:-1], sizes)
    return Bags(bags.features[places], starts)


def _sums(weights: Floats, features: Ints, starts: Ints) -> Floats:
    """Sums of the weights of each text's features, shape (tables, texts)."""
    return np.stack([np.add.reduceat(table.take(features), starts) for table in weights])


def _with_last(scores: Floats) -> Floats:
    return np.concatenate([scores, -scores.sum(axis=0, keepdims=True)])


def _softmax(scores: Floats) -> Floats:
    """Probabilities of all classes but the last, from the scores of those."""
    last = -scores.sum(axis=0)
    most = np.maximum(scores.max(axis=0), last)
    powers = np.exp(scores - most)
    probable: Floats = powers / (powers.sum(axis=0) + np.exp(last - most))
    return probable
