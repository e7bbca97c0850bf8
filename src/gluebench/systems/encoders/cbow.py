"""Continuous bag of words: a sentence as the mean of its words' vectors.

Words without a vector do not count; a sentence of none with one is all zeros. That is the row CBoW of Table 4
with GloVe 840B, 40 words at most and words looked up as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.data.recipes import Option
from gluebench.data.vectors import Vectors, read_vectors
from gluebench.systems.encoders import TOKENISER, EncoderEntry
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import DIM, train_vectors
from gluebench.systems.protocols import SentenceEncoder
from gluebench.systems.text.ptb import tokeniser


class CBoW:
    """Means of word vectors."""

    def __init__(
        self,
        vectors: Vectors,
        *,
        name: str = "cbow",
        tokenise: Callable[[str], list[str]] | None = None,
        most: int | None = None,
        exact: bool = False,
    ) -> None:
        """`most` words of a sentence count; with `exact` a word is not looked up in small letters too."""
        self.name = name
        self.dim = int(vectors.matrix.shape[1])
        self._matrix = vectors.matrix
        self._row = vectors.rows.get if exact else vectors.row
        self._tokenise = tokenise or tokeniser("ptb")
        self._most = most

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """The mean vector of each sentence's known words."""
        means = np.zeros((len(sentences), self.dim), dtype=np.float32)
        for place, sentence in enumerate(sentences):
            rows = [self._row(word) for word in self._tokenise(sentence)[: self._most]]
            known = [row for row in rows if row is not None]
            if known:
                means[place] = self._matrix[known].mean(axis=0)
        return means


def _make(options: Mapping[str, Any], corpus: Corpus) -> SentenceEncoder:
    """Over a file of vectors, or over vectors trained on the train splits of the benchmark."""
    exact = options["case"] == "exact"
    tokenise, most = tokeniser(options["tokeniser"]), options["most"] or None
    path: Path | None = options["vectors"]
    if path is not None:
        words = {word for sentence in corpus.there() for word in tokenise(sentence)}
        vectors, source = read_vectors(path, words | {word.lower() for word in words}), path.name
    else:
        sentences = list(corpus.training())
        vectors = train_vectors(sentences, tokenise, dim=options["dim"])
        source = f"own vectors of {len(sentences)} sentences of {corpus.benchmark.name}, {options['dim']}"
    parts = [source, options["tokeniser"], *(["exact case"] if exact else [])]
    name = f"cbow({', '.join([*parts, *([f'{most} words'] if most else [])])})"
    return CBoW(vectors, name=name, tokenise=tokenise, most=most, exact=exact)


CASES = ("either", "exact")
_ENTRY = EncoderEntry(
    "cbow",
    "CBoW: the mean of the word vectors",
    _make,
    (
        Option("vectors", Path, None, "GloVe's or word2vec's text file; without one, vectors are trained."),
        Option("dim", int, DIM, "Length of the vectors that are trained."),
        TOKENISER,
        Option("most", int, 0, "So many words of a sentence count, 0 for all; the paper's row has 40."),
        Option("case", str, "either", "either: a word as written, else in small letters; exact.", CASES),
    ),
)
ENTRIES = {_ENTRY.name: _ENTRY}
