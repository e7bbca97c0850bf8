"""Any function of sentences as an encoder: `encoder:module:function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gluebench.systems.encoders.checked import as_vectors
from gluebench.systems.encoders.errors import EncoderError
from gluebench.systems.imported import NotThereError, attribute_of, module_called
from gluebench.systems.protocols import SentenceEncoder

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
        """What the function gives. Raises EncoderError where that is not a finite vector for each."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        return as_vectors(self._function(list(sentences)), sentences, name=self.name)


def encoder_at(address: str) -> SentenceEncoder:
    """The encoder at `module:function`; what stands there may be a SentenceEncoder itself.

    Modules of the current folder are found too. Raises EncoderError where there is nothing to call.
    """
    module_name, colon, attribute = address.partition(":")
    if not (module_name and colon and attribute):
        raise EncoderError(f"encoder:{address}: {EXPECTED}")
    found = _found(module_name, attribute)
    if isinstance(found, SentenceEncoder) and not isinstance(found, type):
        return found
    if not callable(found):
        raise EncoderError(f"encoder:{address}: is {type(found).__name__}, not a function; {EXPECTED}")
    return CallableEncoder(found, f"encoder:{address}")


def _found(module_name: str, attribute: str) -> object:
    """What stands there. Raises EncoderError if nothing does, what the module itself raises otherwise."""
    try:
        module = module_called(module_name)
    except NotThereError as error:
        raise EncoderError(f"encoder:{module_name}: {error}") from None
    try:
        return attribute_of(module, attribute)
    except NotThereError as error:
        raise EncoderError(str(error)) from None
