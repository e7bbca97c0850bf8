"""Stored vectors in the place of the encoder that made them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gluebench.systems.encoders.errors import EncoderError
from gluebench.systems.probe.store import VectorStore


class StoredEncoder:
    """Gives the vectors of a store; a sentence that is not in it cannot be encoded."""

    def __init__(self, path: Path) -> None:
        """Raises DataError for a file that holds no vectors."""
        self._store = VectorStore.opened(path)
        self.name = self._store.encoder
        self.dim = self._store.dim

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """The stored vectors. Raises EncoderError where one is missing."""
        rows = self._store.rows(sentences)
        missing = int((rows < 0).sum())
        if missing:
            raise EncoderError(
                f"{self._store.path}: {missing} of {len(sentences)} sentences have no vector there; "
                f"encode them first, or name the encoder that can: {self.name}"
            )
        return np.asarray(self._store.vectors()[rows], dtype=np.float32)
