"""Sentence encoders by name; each is imported when it is named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from gluebench.benchmark import UnknownNameError
from gluebench.systems.options import arguments

if TYPE_CHECKING:
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.protocols import SentenceEncoder

__all__ = ["ENCODERS", "EncoderError", "encoder_called"]


class EncoderError(ValueError):
    """An encoder that cannot be loaded, or does not give vectors. The message says what was expected."""


ENCODERS: Mapping[str, str] = {
    "cbow": "cbow:cbow",
    "infersent": "infersent:InferSentEncoder",
    "dissent": "infersent:InferSentEncoder",
    "skip-thought": "skip_thought:SkipThoughtEncoder",
    "gensen": "gensen:GenSenEncoder",
}
"""Name to module and class or function. Its parameters are the encoder's options; of these, `corpus` is the
benchmark that will be encoded, and `name` the name here."""
CALLABLE = "encoder:"


def encoder_called(text: str, options: Mapping[str, str], corpus: Corpus) -> SentenceEncoder:
    """The encoder that `text` names: one of ENCODERS, or `encoder:module:function`.

    `corpus` is what it will encode. Raises UnknownNameError, OptionError, EncoderError, and
    what the encoder's own files can cause.
    """
    if text.startswith(CALLABLE):
        from gluebench.systems.encoders.callable import encoder_at

        if options:
            raise EncoderError(f"{text}: a function takes no options; it was given {', '.join(options)}")
        return encoder_at(text.removeprefix(CALLABLE))
    if text not in ENCODERS:
        known = list(ENCODERS)
        known.append(f"{CALLABLE}module:function")
        raise UnknownNameError(text, known, what="encoder")
    module, _, name = ENCODERS[text].partition(":")
    make = getattr(import_module(f"{__name__}.{module}"), name)
    encoder: SentenceEncoder = make(
        **arguments(make, options, owner=text, given={"corpus": corpus, "name": text})
    )
    return encoder
