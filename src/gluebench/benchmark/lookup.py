"""Look-up by name or alias that helps whoever mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar


class Named(Protocol):
    """Anything with a name; `aliases` is read where there is one."""

    @property
    def name(self) -> str:
        """The name it is known by."""
        ...


NamedT = TypeVar("NamedT", bound=Named)


class UnknownNameError(LookupError):
    """A name that nothing carries; the message lists the closest and all valid names."""

    def __init__(self, name: str, valid: Sequence[str], *, what: str) -> None:
        close = closest(name, valid)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        super().__init__(f"no {what} is called {name!r}.{hint} Valid names: {', '.join(valid)}.")
        self.name = name
        self.valid = tuple(valid)
        self.close = tuple(close)


def fold(name: str) -> str:
    """The name as it is compared: letter case, spaces, hyphens and underscores aside."""
    return "".join(character for character in name.casefold() if character not in " -_")


def closest(name: str, valid: Iterable[str], *, most: int = 2) -> list[str]:
    """The valid names that look most like `name`, best first; empty when none does."""
    import difflib  # slow to import, and only wanted when something went wrong

    folded = {fold(candidate): candidate for candidate in valid}
    return [folded[match] for match in difflib.get_close_matches(fold(name), folded, n=most, cutoff=0.5)]


def find(name: str, among: Sequence[NamedT], *, what: str) -> NamedT:
    """The record of that very name, else the first whose name or alias is the same by `fold`.

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
