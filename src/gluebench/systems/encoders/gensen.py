"""GenSen as a sentence encoder: one model, or the vectors of several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from gluebench.systems.encoders.batches import Floats, KeptVectors, Tokenise, in_batches
from gluebench.systems.weights.gensen import GenSen, Pooling
from gluebench.systems.weights.recurrent import Padding


class GenSenEncoder:
    """Pairs of files, model and vocabulary; in the paper's run two, with words added from GloVe 840B.

    With `vectors`, a file of word vectors, words that a model does not know get a vector fitted from theirs;
    without, they are all the same unknown word.
    """

    def __init__(
        self,
        models: Sequence[tuple[Path, Path]],
        tokenise: Tokenise,
        *,
        vectors: Path | None = None,
        pooling: Pooling = "last",
        padding: Padding = "mask",
        batch: int = 64,
        device: str = "cpu",
        name: str = "gensen",
    ) -> None:
        self.name = name
        self.models = [GenSen.from_files(*files).to(device) for files in models]
        self.dim = sum(model.dim for model in self.models)
        self._vectors = KeptVectors(vectors) if vectors else None
        self._tokenise, self._pooling, self._padding = tokenise, pooling, padding
        self._batch = batch

    def prepare(self, sentences: Sequence[str]) -> None:
        """Add the unknown words of these sentences, so that later calls need not read the word vectors."""
        self._expand([self._tokenise(sentence) for sentence in sentences])

    def encode(self, sentences: Sequence[str]) -> Floats:
        """Vectors (sentences, dim) in order."""
        words = [self._tokenise(sentence) for sentence in sentences]
        self._expand(words)
        return in_batches(words, self._batched, dim=self.dim, size=self._batch)

    def _expand(self, sentences: Sequence[Sequence[str]]) -> None:
        if self._vectors is None:
            return
        words = list(dict.fromkeys(word.lower() for word in chain.from_iterable(sentences)))
        if all(word in model.words for word in words for model in self.models):
            return
        vectors = self._vectors.of(chain(words, *(model.learned for model in self.models)))
        for model in self.models:
            model.expand(words, vectors)

    def _batched(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        parts = [model(sentences, pooling=self._pooling, padding=self._padding) for model in self.models]
        return torch.cat(parts, dim=1)
