"""What an encoder gave, looked at before it is used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gluebench.systems.encoders.errors import EncoderError
from gluebench.systems.protocols import SentenceEncoder


def encoded(encoder: SentenceEncoder, sentences: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of some sentences, (sentences, dim). Raises EncoderError where they are none."""
    found = as_vectors(encoder.encode(sentences), sentences, name=encoder.name)
    if found.shape[1] != encoder.dim:
        raise EncoderError(
            f"{encoder.name}: gave vectors of {found.shape[1]} numbers; it said it would give {encoder.dim}"
        )
    return found


def as_vectors(values: object, sentences: Sequence[str], *, name: str) -> NDArray[np.float32]:
    """Values as a float32 array of a row for each sentence. Raises EncoderError."""
    try:
        with np.errstate(over="ignore"):  # infinity is told below
            found = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:  # the last is PyTorch's
        raise EncoderError(
            f"{name}: gave {type(values).__name__}, which is no array of numbers ({error})"
        ) from None
    if found.ndim != 2 or len(found) != len(sentences) or not found.shape[1]:
        raise EncoderError(
            f"{name}: gave an array of shape {found.shape} for {len(sentences)} sentences; "
            f"expected ({len(sentences)}, dim), a row for each"
        )
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(wrong):
        sentence = sentences[wrong[0]]
        shown = sentence if len(sentence) <= 60 else f"{sentence[:60]}..."
        raise EncoderError(
            f"{name}: {len(wrong)} of {len(sentences)} vectors hold NaN or infinity; "
            f"expected finite numbers. The first is of {shown!r}"
        )
    return found
