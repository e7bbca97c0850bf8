"""InferSent and DisSent as sentence encoders: words to their vectors, vectors through the model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from gluebench.systems.encoders.batches import Floats, KeptVectors, Tokenise, in_batches
from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.infersent import InferSent
from gluebench.systems.weights.recurrent import Padding

MARKS = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}
"""What begins and ends a sentence, by version of the model."""


class InferSentEncoder:
    """A model's file, a file of word vectors (GloVe for version 1 and DisSent, fastText for 2), a tokeniser.

    Words without a vector are left out; a sentence that has none left is its end mark, or zeros where that
    has no vector either. With "zero" padding, as published for version 1, a vector depends on its batch of
    `batch` sentences; the default does not.
    """

    def __init__(
        self,
        weights: Path,
        vectors: Path,
        tokenise: Tokenise,
        *,
        version: Literal[1, 2] = 1,
        padding: Padding = "mask",
        batch: int = 64,
        device: str = "cpu",
        name: str = "infersent",
    ) -> None:
        self.name = name
        self.model = InferSent.from_file(weights).to(device)
        self.dim = self.model.dim
        self.device = device
        self._vectors = KeptVectors(vectors)
        self._tokenise, self._version = tokenise, version
        self._padding, self._batch = padding, batch

    def prepare(self, sentences: Sequence[str]) -> None:
        """Read the vectors of all words of these sentences, so that later calls need not read the file."""
        self._known([self._words(sentence) for sentence in sentences])

    def encode(self, sentences: Sequence[str]) -> Floats:
        """Vectors (sentences, dim) in order."""
        known = self._known([self._words(sentence) for sentence in sentences])
        return in_batches(known, self._batched, dim=self.dim, size=self._batch)

    def _words(self, sentence: str) -> list[str]:
        words = list(self._tokenise(sentence))
        if self._version == 2:  # fastText's words: "don 't", not "do n't"
            words = " ".join(words).replace(" n't ", "n 't ").split()
        begin, end = MARKS[self._version]
        return [begin, *words, end]

    def _known(self, sentences: Sequence[list[str]]) -> list[list[str]]:
        """The words that have a vector; the end mark for a sentence without any."""
        by_word = self._vectors.of(chain.from_iterable(sentences))
        width = self._vectors.width
        if width not in (None, self.model.inputs):
            raise WeightsError(
                f"{self._vectors.path}: vectors of {width} numbers; the model takes {self.model.inputs}"
            )
        return [[word for word in words if word in by_word] or words[-1:] for words in sentences]

    def _batched(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        by_word = self._vectors.of(chain.from_iterable(sentences))
        lengths = [len(words) for words in sentences]
        values = np.zeros((len(sentences), max(lengths), self.model.inputs), dtype=np.float32)
        for row, words in enumerate(sentences):
            for at, word in enumerate(words):
                values[row, at] = by_word.get(word, 0.0)
        vectors = torch.from_numpy(values).to(self.device)
        encoded: Tensor = self.model(vectors, torch.tensor(lengths), self._padding)
        return encoded
