"""Continuous bag of words: a sentence as the mean of its words' vectors.

Words without a vector do not count; a sentence of none with one is all zeros. That is the row CBoW of Table 4
with GloVe 840B, 40 words at most and words looked up as they are written.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gluebench.data.vectors import Vectors, read_vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import DIM, train_vectors
from gluebench.systems.text.ptb import tokenize as ptb
from gluebench.systems.text.ptb import tokenizer as tokenizer_called


class CBoW:
    """Means of word vectors."""

    def __init__(
        self,
        vectors: Vectors,
        *,
        name: str = "cbow",
        tokenize: Callable[[str], list[str]] | None = None,
        most: int | None = None,
        exact: bool = False,
    ) -> None:
        """`most` words of a sentence count; with `exact` a word is not looked up in small letters too."""
        self.name = name
        self.dim = int(vectors.matrix.shape[1])
        self._matrix = vectors.matrix
        self._row = vectors.rows.get if exact else vectors.row
        self._tokenize = tokenize or ptb
        self._most = most

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """The mean vector of each sentence's known words."""
        means = np.zeros((len(sentences), self.dim), dtype=np.float32)
        for place, sentence in enumerate(sentences):
            rows = [self._row(word) for word in self._tokenize(sentence)[: self._most]]
            known = [row for row in rows if row is not None]
            if known:
                means[place] = self._matrix[known].mean(axis=0)
        return means


def cbow(
    corpus: Corpus,
    *,
    vectors: Path | None = None,
    dim: int = DIM,
    tokenizer: str = "ptb",
    most: int = 0,
    case: Literal["either", "exact"] = "either",
) -> CBoW:
    """Over a file of vectors (GloVe's or word2vec's text), or over vectors trained on the train splits.

    `dim` is the length of trained vectors. `most` words of a sentence count, 0 for all; the paper's row has
    40. With `case` "either" a word is looked up as written, else in small letters.
    """
    tokenize = tokenizer_called(tokenizer)
    if vectors is not None:
        words: set[str] = set()
        for sentence in corpus.there():
            words.update(tokenize(sentence))
        table = read_vectors(vectors, words | {word.lower() for word in words})
        source = vectors.name
    else:
        sentences = list(corpus.training())
        table = train_vectors(sentences, tokenize, dim=dim)
        source = f"own vectors of {len(sentences)} sentences of {corpus.benchmark.name}, {dim}"
    exact = case == "exact"
    parts = [source, tokenizer]
    if exact:
        parts.append("exact case")
    if most:
        parts.append(f"{most} words")
    return CBoW(table, name=f"cbow({', '.join(parts)})", tokenize=tokenize, most=most or None, exact=exact)
