"""Sentence encoders by name; each is imported when it is named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from gluebench.benchmark import UnknownNameError

if TYPE_CHECKING:
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.encoders.entry import EncoderEntry
    from gluebench.systems.protocols import SentenceEncoder

__all__ = ["ENCODERS", "EncoderError", "encoder_called", "entry_called"]


class EncoderError(ValueError):
    """An encoder that cannot be had, or gives what are no vectors: what was found, what was expected."""


ENCODERS: Mapping[str, str] = {
    "cbow": "gluebench.systems.encoders.cbow",
    "infersent": "gluebench.systems.encoders.published",
    "dissent": "gluebench.systems.encoders.published",
    "skip-thought": "gluebench.systems.encoders.published",
    "gensen": "gluebench.systems.encoders.published",
}
"""Name to the module that has it among its `ENTRIES`."""
CALLABLE = "encoder:"


def entry_called(name: str) -> EncoderEntry:
    """What is known of the encoder of that name. Raises UnknownNameError."""
    if name not in ENCODERS:
        valid = [*ENCODERS, f"{CALLABLE}module:function"]
        raise UnknownNameError(name, valid, what="encoder")
    entry: EncoderEntry = import_module(ENCODERS[name]).ENTRIES[name]
    return entry


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
    return entry_called(text).made(options, corpus)
