"""Read pickles without executing them: modules that PyTorch saved whole, and plain values.

Nothing that a file names is imported or called. An inert record replaces each object of a named class and
keeps its arguments and state. Calls that a saved module needs are recorded; any other refuses the file.
"""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.state import first_line, refuse_unreadable

REBUILT = ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2")
PARAMETERS = (
    "torch.nn.parameter.Parameter",
    "torch.autograd.variable.Variable",
    "torch._utils._rebuild_parameter",
)
NOTED = {
    "collections.OrderedDict",
    "__builtin__.set",
    "builtins.set",
    "copy_reg._reconstructor",
    "copyreg._reconstructor",
}
"""Calls that a saved module may contain beside PyTorch's own functions; recorded, not executed."""
Setting = bool | int | float | str | None


class SavedModule(NamedTuple):
    """The class name, tensors and plain attributes of a saved module."""

    name: str
    """Full name of its class, which was not imported."""
    tensors: dict[str, Tensor]
    """Parameters and buffers under the names of a state dict, as float32."""
    settings: dict[str, Setting]
    """The module's own attributes that are plain values."""


def read_module(path: Path) -> SavedModule:
    """Read a module saved whole by `torch.save(module)`, by any version of PyTorch since 0.1.10.

    Nothing that the file names is imported or called. Raises WeightsError for a file that needs another call,
    is damaged, or holds something other than a module.
    """
    refuse_unreadable(path)
    try:
        if zipfile.is_zipfile(path):
            _refuse_compiled(path)
        inert = SimpleNamespace(
            __name__="inert", Unpickler=_Inert, load=lambda stream, **_: _Inert(stream).load()
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it finds no source of the classes that records replace
            # What Python 2 wrote is bytes and text alike, which latin1 keeps.
            options: dict[str, Any] = {"pickle_module": inert, "weights_only": False, "encoding": "latin1"}
            top = torch.load(path, map_location="cpu", **options)
        if not (isinstance(top, Record) and isinstance(top.state, dict) and "_parameters" in top.state):
            raise pickle.UnpicklingError(f"it holds {_type_name(top)}")
        plain = (bool, int, float, str, type(None))
        settings = {str(name): value for name, value in top.state.items() if isinstance(value, plain)}
        return SavedModule(top.name, dict(_tensors(top, "")), settings)
    except Exception as error:  # a damaged or hostile pickle raises nearly anything
        reason = first_line(error) if isinstance(error, pickle.UnpicklingError) else f"damaged: {error!r}"
        raise WeightsError(
            f"{path}: refused: {reason}; expected a module of recurrent layers, saved with torch.save(module)"
        ) from error


def read_plain(path: Path, expected: str) -> Any:
    """Read a pickle of dictionaries, lists, text and numbers of Python 2 or 3. Raises WeightsError.

    Text of Python 2 is read as UTF-8; invalid bytes are kept as surrogates.
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


class _Sealed(type):
    """Metaclass of records: refuses a call that no saved module makes."""

    name: str

    def __call__(cls, *arguments: object, **named: object) -> object:
        if not (cls.name in NOTED or cls.name.startswith("torch.")):
            raise pickle.UnpicklingError(f"the file asks to call {cls.name}, which was not done")
        return super().__call__(*arguments, **named)


class Record(metaclass=_Sealed):
    """The arguments, state and items that a file gives for one object."""

    __slots__ = ("arguments", "items", "state")
    name = "record"
    """Full name of the class or function that the file gives; a class attribute of each kind of record."""
    arguments: tuple[object, ...]
    state: Any
    items: dict[Any, Any]

    def __new__(cls, *arguments: object, **named: object) -> Record:
        """Make a record; unpickling uses this with or without a call of the class."""
        made = super().__new__(cls)
        made.arguments = arguments
        made.state = None
        made.items = {}
        return made

    def __setstate__(self, state: object) -> None:
        self.state = state

    def __setitem__(self, key: object, value: object) -> None:
        self.items[key] = value


class _Plain(pickle.Unpickler):
    """Unpickler of plain values: no class, no function, nothing outside the pickle."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"the file names {module}.{name}, which was not imported")

    def persistent_load(self, saved: Any) -> Any:
        raise pickle.UnpicklingError(f"the file refers to {str(saved)[:80]!r} outside itself")


class _Inert(pickle.Unpickler):
    """Unpickler of plain values and records, by which PyTorch reads its containers."""

    def find_class(self, module: str, name: str) -> type[Record]:
        """Return an inert class of records that replaces this name."""
        made = _Sealed(name, (Record,), {"name": f"{module}.{name}", "__slots__": ()})
        return cast("type[Record]", made)


def _refuse_compiled(path: Path) -> None:
    """Raise UnpicklingError for a zip file of TorchScript, which PyTorch would load as a program."""
    with zipfile.ZipFile(path) as archive:
        if any(name.endswith("/constants.pkl") or "/code/" in name for name in archive.namelist()):
            raise pickle.UnpicklingError("it is a TorchScript program, not a module that torch.save wrote")


def _type_name(value: object) -> str:
    return value.name if isinstance(value, Record) else type(value).__name__


def _tensors(module: Record, prefix: str) -> Iterator[tuple[str, Tensor]]:
    state = module.state if isinstance(module.state, dict) else {}
    for part in ("_parameters", "_buffers"):
        for name, value in _pairs(state.get(part)):
            if value is not None:
                yield f"{prefix}{name}", _tensor(value)
    for name, child in _pairs(state.get("_modules")):
        if isinstance(child, Record):
            yield from _tensors(child, f"{prefix}{name}.")


def _pairs(mapping: object) -> Iterator[tuple[Any, Any]]:
    """Iterate over the items of a dictionary or of a recorded one, set singly or passed as its argument."""
    if isinstance(mapping, dict):
        yield from mapping.items()
    if isinstance(mapping, Record):
        yield from mapping.items.items()
        for argument in mapping.arguments:
            for pair in argument if isinstance(argument, (list, tuple)) else ():
                if isinstance(pair, (list, tuple)) and len(pair) == 2:
                    yield pair[0], pair[1]


def _tensor(value: object) -> Tensor:
    if isinstance(value, Record) and value.name in PARAMETERS:
        return _tensor(value.arguments[0])
    if not (isinstance(value, Record) and value.name in REBUILT):
        raise pickle.UnpicklingError(f"it has {_type_name(value)} in the place of a tensor")
    storage, offset, *shape = value.arguments[:4]
    if not isinstance(storage, torch.storage.TypedStorage):
        raise pickle.UnpicklingError("it has a tensor without numbers")
    flat = torch.empty(0, dtype=storage.dtype).set_(storage._untyped_storage).float()
    size, stride = [part.arguments[0] if isinstance(part, Record) else part for part in shape]
    # as_strided refuses sizes that reach beyond the numbers there are
    return torch.as_strided(flat, cast(Any, size), cast(Any, stride), cast(Any, offset)).clone()
