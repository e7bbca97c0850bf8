"""Pickles read without executing them: what a file names is never imported, what it would call never called.

In place of every class a pickle names stands an inert record that keeps what the file says of the object.
Only the few calls that a saved module needs are taken note of; any other makes the file refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from gluebench.systems.weights import WeightsError

NOTED = {
    "collections.OrderedDict",
    "__builtin__.set",
    "builtins.set",
    "copy_reg._reconstructor",
    "copyreg._reconstructor",
}
"""What a saved module asks to be called, beside PyTorch's own functions: noted in a record, not called."""


class Storage(NamedTuple):
    """A storage a pickle refers to: the numbers themselves stand elsewhere in the file."""

    kind: str
    """Such as FloatStorage."""
    key: str
    offset: int
    """Where in the stored numbers this one begins."""


class _Sealed(type):
    """Classes of records: a call that no saved module makes is refused."""

    name: str

    def __call__(cls, *arguments: object, **named: object) -> object:
        if not (cls.name in NOTED or cls.name.startswith("torch.")):
            raise pickle.UnpicklingError(f"the file asks to call {cls.name}, which was not done")
        return super().__call__(*arguments, **named)


class Record(metaclass=_Sealed):
    """What a file says of one object."""

    __slots__ = ("arguments", "items", "state")
    name = "record"
    """Full name of the class or function that the file gives; a class attribute of each kind of record."""
    arguments: tuple[object, ...]
    state: Any
    items: dict[Any, Any]

    def __new__(cls, *arguments: object, **named: object) -> Record:
        """Where a pickle makes an object, with or without a call."""
        made = super().__new__(cls)
        made.arguments = arguments
        made.state = None
        made.items = {}
        return made

    def __setstate__(self, state: object) -> None:
        self.state = state

    def __setitem__(self, key: object, value: object) -> None:
        self.items[key] = value

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """The items of a recorded dictionary, given one by one or as its argument."""
        yield from self.items.items()
        for argument in self.arguments:
            if isinstance(argument, (list, tuple)):
                yield from (tuple(pair) for pair in argument if _is_pair(pair))


class Inert(pickle.Unpickler):
    """Reads one pickle into plain values, records and storages."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="latin1")  # what Python 2 wrote: bytes and text alike
        self.storages: dict[str, Storage] = {}
        """Those met so far, by key."""
        self._kinds: dict[str, type[Record]] = {}

    def find_class(self, module: str, name: str) -> type[Record]:
        """An inert stand-in of this name."""
        full = f"{module}.{name}"
        if full not in self._kinds:
            made = _Sealed(name, (Record,), {"name": full, "__slots__": ()})
            self._kinds[full] = cast("type[Record]", made)
        return self._kinds[full]

    def persistent_load(self, saved: Any) -> object:
        """A storage, or the class that PyTorch saved with its source text."""
        match saved:
            case ("storage", kind, str(key), _, int()):
                return self.storages.setdefault(key, Storage(_short(kind), key, 0))
            case ("storage", kind, str(key), _, int(), view):
                self.storages.setdefault(key, Storage(_short(kind), key, 0))
                return Storage(_short(kind), key, view[1] if view else 0)
            case ("module", type() as kind, _, _):
                return kind
        raise pickle.UnpicklingError(f"the file refers to {str(saved)[:80]!r} outside itself")


class _Plain(pickle.Unpickler):
    """Reads one pickle of plain values: no class, no function, nothing outside it."""

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"the file names {module}.{name}, which was not imported")

    def persistent_load(self, saved: object) -> object:
        raise pickle.UnpicklingError(f"the file refers to {str(saved)[:80]!r} outside itself")


def read_plain(path: Path, expected: str) -> Any:
    """A pickle of dictionaries, lists, text and numbers, as Python 2 or 3 wrote it. Raises WeightsError.

    Text of Python 2 is taken as UTF-8; bytes in it that are none are kept as surrogates.
    """
    try:
        with path.open("rb") as stream:
            content = _Plain(stream, encoding="utf-8", errors="surrogateescape").load()
            if stream.read(1):
                raise pickle.UnpicklingError("more follows after the first pickle")
            return content
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error.strerror}); expected {expected}") from None
    except Exception as error:  # a damaged pickle raises nearly anything
        reason = str(error)[:200] or type(error).__name__
        raise WeightsError(f"{path}: refused: {reason}; expected {expected}") from error


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2


def _short(kind: object) -> str:
    name = getattr(kind, "name", kind)
    return str(name).rpartition(".")[2]
