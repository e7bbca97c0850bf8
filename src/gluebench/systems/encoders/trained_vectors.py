"""Small word vectors trained on a benchmark's own sentences, for use without a file of vectors.

Co-occurrence counts (ten words either way, a neighbor at distance d counts 1/d) become positive pointwise
mutual information with smoothed contexts, which is reduced to its leading singular vectors (Levy, Goldberg
and Dagan 2015). Each dimension is centered and has unit variance, since the classifiers on top learn at a
fixed rate. On one machine the same sentences give the same vectors, up to rounding. Words of other
sentences have no vector.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gluebench.data import DataError
from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.text.ptb import tokenizer

DIM = 300
MOST_WORDS = 5000
FEWEST = 2
"""Minimum number of occurrences for a word to get a vector."""
WINDOW = 10
SMOOTHING = 0.75
"""Exponent of the context counts, which keeps rare contexts from weighing too much."""
EXTRA = 16
STEPS = 8
"""Of the subspace iteration: directions beyond `dim`, and number of iterations."""
Floats = NDArray[np.float32]


def train_vectors(
    sentences: Iterable[str], tokenize: Callable[[str], list[str]], *, dim: int = DIM
) -> Vectors:
    """Vectors of the frequent words, in lower case. Raises DataError where there are too few words."""
    texts = []
    counts: Counter[str] = Counter()
    for sentence in sentences:
        text = [word.lower() for word in tokenize(sentence)]
        texts.append(text)
        counts.update(text)
    words = [word for word, count in counts.most_common(MOST_WORDS) if count >= FEWEST]
    if len(words) <= dim:
        raise DataError(
            f"{len(words)} words occur {FEWEST} times or more; expected more than {dim} to train vectors on"
        )
    rows = {word: row for row, word in enumerate(words)}
    row_texts = []
    for text in texts:
        row_texts.append([rows.get(word, -1) for word in text])
    cooccurrence = _cooccurrence(row_texts, len(words))
    return Vectors(rows, _singular_vectors(_positive_pmi(cooccurrence), dim))


def _cooccurrence(texts: list[list[int]], words: int) -> Floats:
    """Counts (words, words), symmetric, weighted by nearness; in `texts`, -1 is a word without a row."""
    # So many missing words after each text that no window reaches from one into the next.
    gap = [-1] * WINDOW
    stream: list[int] = []
    for text in texts:
        stream += text
        stream += gap
    flat = np.array(stream, dtype=np.int64)
    counts = np.zeros((words, words), dtype=np.float32)
    for distance in range(1, WINDOW + 1):
        left = flat[:-distance]
        right = flat[distance:]
        both = (left >= 0) & (right >= 0)
        np.add.at(counts, (left[both], right[both]), np.float32(1 / distance))
    counts += counts.T.copy()
    return counts


def _positive_pmi(counts: Floats) -> Floats:
    """Positive pointwise mutual information of the counts, in place."""
    totals = counts.sum(axis=1, dtype=np.float64)
    contexts = totals**SMOOTHING
    share = np.maximum(totals, 1e-9)[:, None] * (contexts / contexts.sum())[None, :]
    counts /= np.maximum(share, 1e-12).astype(np.float32)
    np.log(np.maximum(counts, 1.0, out=counts), out=counts)
    return counts


def _singular_vectors(matrix: Floats, dim: int) -> Floats:
    """The leading left singular vectors (words, dim), each centered and of unit variance.

    Found by subspace iteration from fixed random directions. The sign makes the number of largest magnitude
    positive.
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
def own_vectors(corpus: Corpus, tokenizer_name: str, dim: int) -> Vectors:
    """Vectors of the words of all training splits. Raises DataError where there are too few words."""
    return train_vectors(corpus.training(), tokenizer(tokenizer_name), dim=dim)
