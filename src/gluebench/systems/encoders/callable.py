"""Any function of sentences as an encoder (`encoder:module:function`), and checks of an encoder's vectors."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gluebench.systems.encoders import EncoderError
from gluebench.systems.imported import object_at
from gluebench.systems.protocols import SentenceEncoder


def encode_checked(encoder: SentenceEncoder, sentences: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of some sentences, (sentences, dim). Raises EncoderError where they are none."""
    vectors = as_vectors(encoder.encode(sentences), sentences, name=encoder.name)
    if vectors.shape[1] != encoder.dim:
        raise EncoderError(
            f"{encoder.name}: gave vectors of {vectors.shape[1]} numbers; it said it would give {encoder.dim}"
        )
    return vectors


def as_vectors(values: object, sentences: Sequence[str], *, name: str) -> NDArray[np.float32]:
    """Values as a float32 array of a row for each sentence. Raises EncoderError."""
    try:
        with np.errstate(over="ignore"):  # infinity is reported below
            vectors = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:  # the last is PyTorch's
        raise EncoderError(
            f"{name}: gave {type(values).__name__}, which is not an array of numbers ({error})"
        ) from None
    if vectors.ndim != 2 or len(vectors) != len(sentences) or not vectors.shape[1]:
        raise EncoderError(
            f"{name}: gave an array of shape {vectors.shape} for {len(sentences)} sentences; "
            f"expected ({len(sentences)}, dim), a row for each"
        )
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(wrong):
        sentence = sentences[wrong[0]]
        shown = sentence if len(sentence) <= 60 else f"{sentence[:60]}..."
        raise EncoderError(
            f"{name}: {len(wrong)} of {len(sentences)} vectors hold NaN or infinity; "
            f"expected finite numbers. The first is of {shown!r}"
        )
    return vectors


TRIED = "One sentence, to see what comes of it."
EXPECTED = "expected encoder:module:function, as encoder:mine:encode for the function encode of mine.py"


class CallableEncoder:
    """Encodes with a function from a list of sentences to an array (sentences, dim)."""

    def __init__(self, function: Callable[[list[str]], object], name: str) -> None:
        """The function is called once, to see how long its vectors are. Raises EncoderError."""
        self.name = name
        self._function = function
        self.dim = as_vectors(function([TRIED]), [TRIED], name=name).shape[1]

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Encode with the function. Raises EncoderError unless it gives a finite vector for each."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        return as_vectors(self._function(list(sentences)), sentences, name=self.name)


def encoder_at(address: str) -> SentenceEncoder:
    """Load the encoder at `module:function`; the object may also be a SentenceEncoder.

    The module may be in the current folder. Raises EncoderError if the object cannot be called.
    """
    target = object_at(address, kind="encoder", expected=EXPECTED, error=EncoderError)
    if isinstance(target, SentenceEncoder) and not isinstance(target, type):
        return target
    if not callable(target):
        raise EncoderError(f"encoder:{address}: is {type(target).__name__}, not a function; {EXPECTED}")
    return CallableEncoder(target, f"encoder:{address}")
