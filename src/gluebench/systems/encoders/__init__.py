"""Sentence encoders by name; each is imported when it is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import UnknownNameError
from gluebench.data.recipes import Option, OptionError, values_of

if TYPE_CHECKING:
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.protocols import SentenceEncoder

__all__ = ["ENCODERS", "EncoderEntry", "EncoderError", "encoder_called", "entry_called"]


class EncoderError(ValueError):
    """An encoder that cannot be loaded, or does not give vectors. The message says what was expected."""


ENCODERS: Mapping[str, str] = {
    "cbow": "gluebench.systems.encoders.cbow",
    "infersent": "gluebench.systems.encoders.infersent",
    "dissent": "gluebench.systems.encoders.infersent",
    "skip-thought": "gluebench.systems.encoders.skip_thought",
    "gensen": "gluebench.systems.encoders.gensen",
}
"""Name to the module that has it among its `ENTRIES`."""
CALLABLE = "encoder:"
TOKENISER = Option("tokeniser", str, "ptb", "ptb, nltk or space.")
PADDING = Option(
    "padding", str, "mask", "mask, or zero: padding counts, as in the paper's rows.", ("mask", "zero")
)
BATCH = Option("batch", int, 64, "Sentences at a time; with zero padding a vector depends on it.")


@dataclass(frozen=True, slots=True)
class EncoderEntry:
    """An encoder that the package knows by name. Modules have them by name as `ENTRIES`."""

    name: str
    title: str
    make: Callable[[Mapping[str, Any], Corpus], SentenceEncoder]
    """From the options, defaults filled in, and the benchmark that is to be encoded."""
    options: tuple[Option, ...] = ()

    def made(self, texts: Mapping[str, str], corpus: Corpus) -> SentenceEncoder:
        """The encoder with options as they are typed. Raises OptionError, and what its files can cause."""
        return self.make(values_of(self.name, self.options, texts), corpus)


def path_of(options: Mapping[str, Any], name: str) -> Path:
    """The path that has to be given as an option. Raises OptionError without one."""
    path: Path | None = options[name]
    if path is None:
        raise OptionError(
            f"{name} is not given; expected a path (docs/reference/weights.md says of which files)"
        )
    return path


def entry_called(name: str) -> EncoderEntry:
    """The entry of the encoder of that name. Raises UnknownNameError."""
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
