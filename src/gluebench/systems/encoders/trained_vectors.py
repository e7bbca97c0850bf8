"""Small word vectors trained on a benchmark's own sentences, for when no others are at hand.

Which words stand near each other is counted (ten words either way, a neighbour at distance d counting 1/d),
turned into positive pointwise mutual information with smoothed contexts, and brought down to its leading
singular vectors (Levy, Goldberg and Dagan 2015), each centred and of unit variance: the classifiers above
them learn at a fixed rate. On one machine the same sentences give the same vectors, up to rounding. They know
the words of those sentences and nothing of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gluebench.data import DataError
from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.text.ptb import tokeniser

DIM = 300
MOST_WORDS = 5000
FEWEST = 2
"""A word has to occur so often to get a vector."""
WINDOW = 10
SMOOTHING = 0.75
"""Power of the counts of contexts, so that rare ones do not weigh too much."""
EXTRA, STEPS = 16, 8
"""Directions beyond `dim`, and multiplications, of the search for singular vectors."""
Floats = NDArray[np.float32]


def train_vectors(
    sentences: Iterable[str], tokenise: Callable[[str], list[str]], *, dim: int = DIM
) -> Vectors:
    """Vectors of the frequent words in small letters. Raises DataError where there are too few words."""
    texts = [[word.lower() for word in tokenise(sentence)] for sentence in sentences]
    counts = Counter(word for text in texts for word in text)
    words = [word for word, count in counts.most_common(MOST_WORDS) if count >= FEWEST]
    if len(words) <= dim:
        raise DataError(
            [f"{len(words)} words occur {FEWEST} times or more; expected more than {dim} to train vectors on"]
        )
    rows = {word: row for row, word in enumerate(words)}
    near = _neighbours([[rows.get(word, -1) for word in text] for text in texts], len(words))
    return Vectors(rows, _leading(_information(near), dim))


def _neighbours(texts: list[list[int]], words: int) -> Floats:
    """How near which words stand, (words, words), symmetric; -1 stands for a word that has no row."""
    gap = [-1] * WINDOW
    flat = np.array([word for text in texts for word in (*text, *gap)], dtype=np.int64)
    nearness = np.zeros((words, words), dtype=np.float32)
    for distance in range(1, WINDOW + 1):
        one, two = flat[:-distance], flat[distance:]
        both = (one >= 0) & (two >= 0)
        np.add.at(nearness, (one[both], two[both]), np.float32(1 / distance))
    nearness += nearness.T.copy()
    return nearness


def _information(near: Floats) -> Floats:
    """Positive pointwise mutual information of the counts, in place."""
    totals = near.sum(axis=1, dtype=np.float64)
    contexts = totals**SMOOTHING
    share = np.maximum(totals, 1e-9)[:, None] * (contexts / contexts.sum())[None, :]
    near /= np.maximum(share, 1e-12).astype(np.float32)
    np.log(np.maximum(near, 1.0, out=near), out=near)
    return near


def _leading(matrix: Floats, dim: int) -> Floats:
    """The leading left singular vectors, centred and of unit variance: (words, dim).

    Found by subspace iteration from fixed random directions; of either sign, the one that makes the largest
    number positive.
    """
    random = np.random.default_rng(0)
    width = min(dim + EXTRA, len(matrix))
    basis: Floats = random.standard_normal((len(matrix), width), dtype=np.float32)
    for _ in range(STEPS):
        basis = np.linalg.qr(matrix @ (matrix.T @ basis))[0]
    inner = np.linalg.svd(basis.T @ matrix, full_matrices=False)[0]
    vectors = (basis @ inner)[:, :dim]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(dim)])
    vectors -= vectors.mean(axis=0)
    scaled: Floats = (vectors / np.maximum(vectors.std(axis=0), 1e-12)).astype(np.float32)
    return scaled


@lru_cache(maxsize=2)
def own_vectors(corpus: Corpus, tokeniser_name: str, dim: int) -> Vectors:
    """Vectors of the words of all training splits. Raises DataError where there are too few words."""
    return train_vectors(corpus.training(), tokeniser(tokeniser_name), dim=dim)
