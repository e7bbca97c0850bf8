"""What the encoders of tokenized sentences share: batches of like length, and word vectors kept."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gluebench.data.vectors import read_vectors

Floats = npt.NDArray[np.float32]


def in_batches(
    sentences: Sequence[Sequence[str]],
    encode: Callable[[Sequence[Sequence[str]]], Tensor],
    *,
    dim: int,
    size: int,
) -> Floats:
    """Vectors (sentences, dim) in the order given, encoded in batches from the longest to the shortest."""
    vectors = np.empty((len(sentences), dim), dtype=np.float32)
    order = sorted(range(len(sentences)), key=lambda at: -len(sentences[at]))
    with torch.inference_mode():
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            vectors[rows] = encode([sentences[row] for row in rows]).cpu().numpy()
    return vectors


class KeptVectors:
    """Word vectors of a text file. Each call with new words reads the file through once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_word: dict[str, Floats] = {}
        self._requested: set[str] = set()
        self.width: int | None = None
        """Numbers of each vector; known after the first words are read."""

    def of(self, words: Iterable[str]) -> Mapping[str, Floats]:
        """The vectors of all words requested so far that the file has, as they are written.

        Raises DataError for a file that is not a file of word vectors.
        """
        new = set(words) - self._requested
        if new:
            read = read_vectors(self.path, new)
            self.width = read.matrix.shape[1]
            self._by_word |= {word: read.matrix[row] for word, row in read.rows.items()}
            self._requested |= new
        return self._by_word
