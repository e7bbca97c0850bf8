"""Models of the sentence-transformers library as frozen encoders; the probe goes on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.systems.adapters.errors import ModelError
from gluebench.systems.adapters.transformer import expect_path_or_name

BATCH = 64


class SentenceTransformerEncoder:
    """Encodes as the model's authors meant it: their tokeniser, length, pooling and normalisation."""

    def __init__(self, name: str, *, device: str = "cpu") -> None:
        """Raises ModelError for a model that cannot be had."""
        from sentence_transformers import SentenceTransformer

        expect_path_or_name(name)
        try:
            self._model: Any = SentenceTransformer(name, device=device)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ModelError(f"st:{name}: cannot be loaded: {reason}") from error
        self.name = f"st:{name}"
        self.dim = self._model.encode([""], show_progress_bar=False).shape[1]

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (sentences, dim), rows in order."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._model.encode(
            list(sentences), batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
