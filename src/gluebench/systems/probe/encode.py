"""Filling a store: every sentence that is not there yet is encoded, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gluebench.data import DataError
from gluebench.systems.encoders.checked import encoded
from gluebench.systems.probe.store import Precision, VectorStore
from gluebench.systems.protocols import SentenceEncoder

BATCH = 128
SAMPLE = 8
"""Stored sentences that are encoded again, to see whether the encoder is still the one that made them."""
TOLERANCE = 0.1
"""How far a vector made again may be from the stored one, in parts of the longer of the two."""
Advance = Callable[[int, int], None]
"""Called with the number of sentences done and of all: first with 0, then after each batch."""


def silent(done: int, of: int) -> None:
    """Tells nothing."""


def store_of(path: Path, encoder: SentenceEncoder, precision: Precision = "float32") -> VectorStore:
    """The encoder's store at a path, begun or gone on with. Raises DataError for another encoder's."""
    return VectorStore.at(path, encoder.name, encoder.dim, precision)


def encode_into(
    store: VectorStore,
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    *,
    batch_size: int = BATCH,
    advance: Advance = silent,
) -> int:
    """Encode the sentences that the store lacks, the longest first; how many those were.

    Sentences of like length share a batch, and what does not fit in memory fails at once. An encoder that
    has `prepare(sentences)` is shown all of them first. Raises
    EncoderError, and DataError where the store's vectors are not what the encoder gives now.
    """
    missing = sorted(store.missing(sentences), key=len, reverse=True)
    if not missing:
        return 0
    prepare = getattr(encoder, "prepare", None)
    if prepare is not None:  # who reads word vectors from a file reads it once for all
        prepare(missing)
    _same(store, encoder, sentences)
    advance(0, len(missing))
    with store.appending() as appender:
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            appender.add(batch, encoded(encoder, batch))
            advance(start + len(batch), len(missing))
    return len(missing)


def _same(store: VectorStore, encoder: SentenceEncoder, sentences: Sequence[str]) -> None:
    """See that the encoder gives what is stored. Raises DataError; a name alone can be that of two."""
    rows = store.rows(sentences)
    places = np.flatnonzero(rows >= 0)[:SAMPLE]
    if not len(places):
        return
    stored = np.asarray(store.vectors()[rows[places]], dtype=np.float64)
    now = encoded(encoder, [sentences[place] for place in places]).astype(np.float64)
    longer = np.maximum(np.linalg.norm(stored, axis=1), np.linalg.norm(now, axis=1))
    if (np.linalg.norm(stored - now, axis=1) > TOLERANCE * longer).any():
        raise DataError(
            [
                f"{store.path}: holds other vectors than {encoder.name} gives now; "
                "it was stored with other weights or code. Remove it or name another file"
            ]
        )
