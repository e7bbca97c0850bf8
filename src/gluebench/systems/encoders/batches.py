"""What the encoders of tokenized sentences share: batches of like length, and word vectors kept."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gluebench.data.vectors import read_vectors

Floats = npt.NDArray[np.float32]


@dataclass(eq=False, kw_only=True)
class BatchedEncoder(ABC):
    """Base class of encoders of tokenized sentences, `batch` at a time."""

    batch: int = 64
    device: str = "cpu"
    name: str
    dim: int = field(init=False)

    def encode(self, sentences: Sequence[str]) -> Floats:
        """Vectors (sentences, dim) in order; the batches go from the longest sentences to the shortest."""
        words = self._tokens(sentences)
        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        order = sorted(range(len(words)), key=lambda at: -len(words[at]))
        with torch.inference_mode():
            for start in range(0, len(order), self.batch):
                rows = order[start : start + self.batch]
                vectors[rows] = self._encode_batch([words[row] for row in rows]).cpu().numpy()
        return vectors

    @abstractmethod
    def _tokens(self, sentences: Sequence[str]) -> list[list[str]]:
        """The words of each sentence that are encoded."""

    @abstractmethod
    def _encode_batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The vectors (batch, dim) of some sentences."""


class WordVectorFile:
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
