"""Word vectors of a benchmark's own training text, for runs without a file of them; made once."""

from __future__ import annotations

from functools import lru_cache

from gluebench.data.vectors import Vectors
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import train_vectors
from gluebench.systems.text.ptb import tokeniser


@lru_cache(maxsize=2)
def own_vectors(corpus: Corpus, tokeniser_name: str, dim: int) -> Vectors:
    """Vectors of the words of all training splits. Raises DataError where there are too few words."""
    return train_vectors(corpus.training(), tokeniser(tokeniser_name), dim=dim)
