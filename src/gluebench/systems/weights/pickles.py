"""Read pickles without executing them: modules that PyTorch saved whole, and plain values.

Nothing that a file names is imported or called. An inert record replaces each object of a named class and
keeps its arguments and state. Calls that a saved module needs are recorded; any other refuses the file.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.state import first_line, refuse_unreadable

MAGIC = 0x1950A86A20F9469CFC6C
"""The first pickle of the container that PyTorch wrote until 1.5."""
KINDS = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "?",
}
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
Numbers = Mapping[str, npt.NDArray[Any]]
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
        with path.open("rb") as stream:
            top, numbers = _zipped(stream) if zipfile.is_zipfile(path) else _legacy(stream)
        if not (isinstance(top, Record) and isinstance(top.state, dict) and "_parameters" in top.state):
            raise pickle.UnpicklingError(f"it holds {_named(top)}")
        plain = (bool, int, float, str, type(None))
        settings = {str(name): value for name, value in top.state.items() if isinstance(value, plain)}
        return SavedModule(top.name, dict(_tensors(top, numbers, "")), settings)
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


class _Storage(NamedTuple):
    """A storage that a pickle refers to; its numbers are elsewhere in the file."""

    kind: str
    """Name of the storage's class, such as FloatStorage."""
    key: str
    offset: int
    """Index of its first number in the whole storage."""


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


class _Inert(_Plain):
    """Unpickler that returns plain values, records and storages."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="latin1")  # what Python 2 wrote: bytes and text alike
        self.storages: dict[str, _Storage] = {}
        """Storages that the pickle refers to, by key."""
        self._kinds: dict[str, type[Record]] = {}

    def find_class(self, module: str, name: str) -> type[Record]:
        """Return the inert class of records that replaces this name."""
        full = f"{module}.{name}"
        if full not in self._kinds:
            made = _Sealed(name, (Record,), {"name": full, "__slots__": ()})
            self._kinds[full] = cast("type[Record]", made)
        return self._kinds[full]

    def persistent_load(self, saved: Any) -> object:
        """Return a storage, or the class that PyTorch saved with its source text."""
        match saved:
            case ("storage", kind, str(key), _, int(), *view) if len(view) < 2:
                name = str(getattr(kind, "name", kind)).rpartition(".")[2]
                whole = self.storages.setdefault(key, _Storage(name, key, 0))
                return _Storage(name, key, view[0][1]) if view and view[0] else whole
            case ("module", type() as kind, _, _):
                return kind
        return super().persistent_load(saved)


def _legacy(stream: IO[bytes]) -> tuple[object, Numbers]:
    """Read the object and its storages from the older container: five pickles, then the numbers."""
    if _Inert(stream).load() != MAGIC:
        raise pickle.UnpicklingError("it does not begin as a torch file")
    for _ in range(2):  # the container's version; the sizes of C types on the machine that wrote it
        _Inert(stream).load()
    unpickler = _Inert(stream)
    top = unpickler.load()
    numbers = {}
    for key in _Inert(stream).load():
        if key not in unpickler.storages:
            raise pickle.UnpicklingError(f"it holds numbers {key!r} that no tensor uses")
        kind = _kind(unpickler.storages[key])
        count = int.from_bytes(stream.read(8), "little")
        numbers[key] = np.frombuffer(stream.read(count * kind.itemsize), dtype=kind)
    return top, numbers


def _zipped(stream: IO[bytes]) -> tuple[object, Numbers]:
    with zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
        pickles = [name for name in names if name.endswith("/data.pkl")]
        if len(pickles) != 1 or any("/code/" in name for name in names):
            raise pickle.UnpicklingError(
                "it is a zip file that torch.save did not write (TorchScript, for example)"
            )
        folder = pickles[0].removesuffix("data.pkl")
        unpickler = _Inert(io.BytesIO(archive.read(pickles[0])))
        top = unpickler.load()
        return top, {
            key: np.frombuffer(archive.read(f"{folder}data/{key}"), dtype=_kind(storage))
            for key, storage in unpickler.storages.items()
        }


def _kind(storage: _Storage) -> np.dtype[Any]:
    if storage.kind not in KINDS:
        raise pickle.UnpicklingError(f"it holds numbers of the kind {storage.kind}")
    return np.dtype(KINDS[storage.kind])


def _named(value: object) -> str:
    return value.name if isinstance(value, Record) else type(value).__name__


def _tensors(module: Record, numbers: Numbers, prefix: str) -> Iterator[tuple[str, Tensor]]:
    state = module.state if isinstance(module.state, dict) else {}
    for part in ("_parameters", "_buffers"):
        for name, value in _pairs(state.get(part)):
            if value is not None:
                yield f"{prefix}{name}", _tensor(value, numbers)
    for name, child in _pairs(state.get("_modules")):
        if isinstance(child, Record):
            yield from _tensors(child, numbers, f"{prefix}{name}.")


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


def _tensor(value: object, numbers: Numbers) -> Tensor:
    if isinstance(value, Record) and value.name in PARAMETERS:
        return _tensor(value.arguments[0], numbers)
    if not (isinstance(value, Record) and value.name in REBUILT):
        raise pickle.UnpicklingError(f"it has {_named(value)} in the place of a tensor")
    storage, offset, size, stride = value.arguments[:4]
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError("it has a tensor without numbers")
    flat = torch.from_numpy(numbers[storage.key][storage.offset :].astype(np.float32))
    # as_strided refuses sizes that reach beyond the numbers there are
    return torch.as_strided(flat, _integers(size), _integers(stride), _integers([offset])[0]).clone()


def _integers(sizes: object) -> list[int]:
    values = sizes.arguments[0] if isinstance(sizes, Record) else sizes
    if not (
        isinstance(values, (list, tuple)) and all(isinstance(size, int) and size >= 0 for size in values)
    ):
        raise pickle.UnpicklingError(f"it has a tensor of the size {values!r}")
    return list(values)
