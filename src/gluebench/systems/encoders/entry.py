"""What the package knows of an encoder before it makes one: its options, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gluebench.benchmark.lookup import closest
from gluebench.data.recipes import Option, OptionError
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.protocols import SentenceEncoder

_KINDS: Mapping[type, str] = {int: "a whole number", float: "a number", Path: "a path", str: "text"}


@dataclass(frozen=True, slots=True)
class EncoderEntry:
    """An encoder that the package knows by name. Modules have them by name as `ENTRIES`."""

    name: str
    title: str
    make: Callable[[Mapping[str, Any], Corpus], SentenceEncoder]
    """From the options, defaults filled in, and the benchmark that is to be encoded."""
    options: tuple[Option, ...] = ()
    needs_files: bool = False
    """Whether it cannot be had without files of weights."""

    def made(self, texts: Mapping[str, str], corpus: Corpus) -> SentenceEncoder:
        """The encoder with options as they are typed. Raises OptionError, and what its files can cause."""
        return self.make(self.values(texts), corpus)

    def values(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Every option's value as its type; those not given at their defaults. Raises OptionError."""
        known = {option.name: option for option in self.options}
        for name in texts:
            if name not in known:
                close = closest(name, known)
                hint = f" Did you mean {' or '.join(close)}?" if close else ""
                listing = ", ".join(known) or "none"
                raise OptionError(f"{self.name} has no option {name!r}.{hint} Its options: {listing}.")
        return {
            name: _value(option, texts[name]) if name in texts else option.default
            for name, option in known.items()
        }


def _value(option: Option, text: str) -> Any:
    try:
        return option.type(text)
    except ValueError:
        raise OptionError(
            f"{option.name} is {text!r}; expected {_KINDS[option.type]}: {option.help}"
        ) from None
