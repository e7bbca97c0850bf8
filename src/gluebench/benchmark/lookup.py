"""Look-up by name or alias, with suggestions for mistyped names; and tables of names beside a module."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar


class Named(Protocol):
    """A record with a name and perhaps `aliases`."""

    @property
    def name(self) -> str:
        """The name it is known by."""
        ...


NamedT = TypeVar("NamedT", bound=Named)
ValueT = TypeVar("ValueT")


class UnknownNameError(LookupError):
    """An unknown name; the message lists the closest and all valid names."""

    def __init__(self, name: str, valid: Sequence[str], *, what: str) -> None:
        hint = did_you_mean(name, valid)
        super().__init__(f"no {what} is called {name!r}.{hint} Valid names: {', '.join(valid)}.")
        self.name = name
        self.valid = tuple(valid)
        self.close = tuple(closest(name, valid))


class UnknownKeyError(UnknownNameError, KeyError):
    """An unknown key of a `ByName`, with the message of an UnknownNameError."""

    __str__ = LookupError.__str__  # a KeyError would show the message in quotation marks


class ByName(dict[str, ValueT]):
    """Values by name; an unknown name raises UnknownKeyError, which lists the names."""

    def __init__(self, values: Mapping[str, ValueT], *, what: str) -> None:
        super().__init__(values)
        self.what = what

    def __missing__(self, name: str) -> ValueT:
        raise UnknownKeyError(str(name), [*self], what=self.what)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ByName, what=self.what), (dict(self),)


def fold(name: str) -> str:
    """The name for comparison, without letter case, spaces, hyphens and underscores."""
    return "".join(character for character in name.casefold() if character not in " -_")


def file_name(name: str) -> str:
    """A name of ASCII letters, digits, ".", "_" and "-" for a file: "Opinión política" is "Opinion-politica".

    Names that have none of these letters become "file-" and a number made from the name.
    """
    from unicodedata import normalize  # only names of tasks that lack a file name need it
    from zlib import crc32

    ascii_letters = normalize("NFKD", name).encode("ascii", "ignore").decode()
    kept = ""
    for letter in ascii_letters:
        kept += letter if letter.isalnum() or letter in "._-" else " "
    safe = "-".join(kept.split()).strip("._-")
    return safe or f"file-{crc32(name.encode()):08x}"


def closest(name: str, valid: Iterable[str], *, most: int = 2) -> list[str]:
    """The valid names that look most like `name`, best first; empty if none does."""
    import difflib  # slow to import, and needed only for errors

    by_folded_name = {fold(candidate): candidate for candidate in valid}
    matches = difflib.get_close_matches(fold(name), by_folded_name, n=most, cutoff=0.5)
    return [by_folded_name[match] for match in matches]


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """ " Did you mean A or B?", for the middle of a message; empty if no valid name is close."""
    close = closest(name, valid)
    if not close:
        return ""
    return f" Did you mean {' or '.join(close)}?"


def find(name: str, among: Sequence[NamedT], *, what: str) -> NamedT:
    """The record with exactly that name, else the first whose name or alias is equal by `fold`.

    Raises UnknownNameError.
    """
    folded = fold(name)
    for record in among:
        if name == record.name:
            return record
    for record in among:
        if folded == fold(record.name) or folded in map(fold, getattr(record, "aliases", ())):
            return record
    raise UnknownNameError(name, [record.name for record in among], what=what)


def table_beside(module: str) -> dict[str, list[str]]:
    """The table beside the file of a module: what stands first in each row, to the rest of the row."""
    table = {}
    with open(os.path.splitext(module)[0] + ".tsv", encoding="utf-8") as file:  # pathlib is slow to import
        next(file)  # the heading
        for line in file:
            first, *rest = line.rstrip("\n").split("\t")
            table[first] = rest
    return table
