"""Whole modules in torch files: their tensors and settings, read without the module's code."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.state import first_line, refuse_missing, refuse_tar
from gluebench.systems.weights.unpickle import Inert, Record, Storage

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
Numbers = Mapping[str, npt.NDArray[Any]]
Setting = bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class SavedModule:
    """What a file says of a module."""

    name: str
    """Full name of its class, which was not imported."""
    tensors: dict[str, Tensor]
    """Parameters and buffers under the names of a state dict, as float32."""
    settings: dict[str, Setting]
    """The module's own attributes that are plain values."""


def read_module(path: Path) -> SavedModule:
    """A module saved whole by `torch.save(module)`, of any version of PyTorch since 0.1.10.

    Nothing that the file names is imported or called. Raises WeightsError for a file that asks for it, that
    is damaged or that holds something other than a module.
    """
    refuse_missing(path)
    refuse_tar(path)
    try:
        with path.open("rb") as stream:
            top, numbers = _zipped(stream) if zipfile.is_zipfile(path) else _legacy(stream)
        return _module(top, numbers)
    except Exception as error:  # a damaged or hostile pickle raises nearly anything
        reason = first_line(error) if isinstance(error, pickle.UnpicklingError) else f"damaged: {error!r}"
        raise WeightsError(
            f"{path}: refused: {reason}; expected a module of recurrent layers saved whole by PyTorch"
        ) from error


def _legacy(stream: IO[bytes]) -> tuple[object, Numbers]:
    """The object and its storages from the older container: five pickles, then the numbers."""
    if Inert(stream).load() != MAGIC:
        raise pickle.UnpicklingError("it does not begin as a torch file")
    for _ in range(2):  # the container's version; the sizes of C types on the machine that wrote it
        Inert(stream).load()
    unpickler = Inert(stream)
    top = unpickler.load()
    numbers = {}
    for key in Inert(stream).load():
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
            raise pickle.UnpicklingError("it is a zip file, but not of a module saved by torch.save")
        folder = pickles[0].removesuffix("data.pkl")
        unpickler = Inert(io.BytesIO(archive.read(pickles[0])))
        top = unpickler.load()
        return top, {
            key: np.frombuffer(archive.read(f"{folder}data/{key}"), dtype=_kind(storage))
            for key, storage in unpickler.storages.items()
        }


def _kind(storage: Storage) -> np.dtype[Any]:
    if storage.kind not in KINDS:
        raise pickle.UnpicklingError(f"it holds numbers of the kind {storage.kind}")
    return np.dtype(KINDS[storage.kind])


def _module(top: object, numbers: Numbers) -> SavedModule:
    if not (isinstance(top, Record) and isinstance(top.state, dict) and "_parameters" in top.state):
        held = top.name if isinstance(top, Record) else type(top).__name__
        raise pickle.UnpicklingError(f"it holds {held}")
    settings = {
        str(name): value
        for name, value in top.state.items()
        if value is None or isinstance(value, (bool, int, float, str))
    }
    return SavedModule(top.name, dict(_tensors(top, numbers, "")), settings)


def _tensors(module: Record, numbers: Numbers, prefix: str) -> Iterator[tuple[str, Tensor]]:
    state = module.state if isinstance(module.state, dict) else {}
    for part in ("_parameters", "_buffers"):
        for name, value in _pairs(state.get(part)):
            if value is not None:
                yield f"{prefix}{name}", _tensor(value, numbers)
    for name, child in _pairs(state.get("_modules")):
        if isinstance(child, Record):
            yield from _tensors(child, numbers, f"{prefix}{name}.")


def _pairs(mapping: object) -> Iterable[tuple[Any, Any]]:
    if isinstance(mapping, Record):
        return mapping.pairs()
    return mapping.items() if isinstance(mapping, dict) else ()


def _tensor(value: object, numbers: Numbers) -> Tensor:
    if isinstance(value, Record) and value.name in PARAMETERS:
        return _tensor(value.arguments[0], numbers)
    if not (isinstance(value, Record) and value.name in REBUILT):
        held = value.name if isinstance(value, Record) else type(value).__name__
        raise pickle.UnpicklingError(f"it has {held} in the place of a tensor")
    storage, offset, size, stride = value.arguments[:4]
    if not isinstance(storage, Storage):
        raise pickle.UnpicklingError("it has a tensor without numbers")
    flat = torch.from_numpy(numbers[storage.key][storage.offset :].astype(np.float32))
    # as_strided refuses sizes that reach beyond the numbers there are
    return torch.as_strided(flat, _whole(size), _whole(stride), _whole([offset])[0]).clone()


def _whole(sizes: object) -> list[int]:
    held = sizes.arguments[0] if isinstance(sizes, Record) else sizes
    if not (isinstance(held, (list, tuple)) and all(isinstance(size, int) and size >= 0 for size in held)):
        raise pickle.UnpicklingError(f"it has a tensor of the size {held!r}")
    return list(held)
