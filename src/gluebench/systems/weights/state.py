"""Torch files that hold tensors by name, and checks of the shapes in any file of weights."""

from __future__ import annotations

import pickle
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError

Shape = tuple[int, ...]
SHOWN = 40
"""Arrays of a file that are named in a message; the rest are counted."""


def check_shapes(
    path: Path, kind: str, shapes: Mapping[str, Shape], expected: Mapping[str, Shape], *, exact: bool = True
) -> None:
    """Raise WeightsError unless every expected array is there in its shape and, if exact, no other."""
    problems = [
        f"{name}: {tuple(shapes[name]) if name in shapes else 'missing'}, expected {shape}"
        for name, shape in expected.items()
        if name not in shapes or tuple(shapes[name]) != shape
    ]
    if exact:
        problems += [
            f"{name}: {tuple(shapes[name])}, expected nothing of this name"
            for name in shapes.keys() - expected
        ]
    if problems:
        lines = [
            f"{path}: not the weights of {kind}",
            *_cut(problems),
            f"found in the file: {listing(shapes)}",
        ]
        raise WeightsError("\n".join(lines))


def listing(shapes: Mapping[str, Shape]) -> str:
    """The names and shapes of a file's arrays in one line."""
    return ", ".join(_cut([f"{name} {tuple(shape)}" for name, shape in shapes.items()])) or "no arrays"


def axis(shapes: Mapping[str, Shape], name: str, at: int, *, default: int) -> int:
    """The length of one axis of an array; the published one where the file has no such axis."""
    shape = shapes.get(name, ())
    return shape[at] if len(shape) > at else default


def recurrent_shapes(
    gates: int, inputs: int, hidden: int, *, layers: int = 1, prefix: str = ""
) -> dict[str, Shape]:
    """What PyTorch's bidirectional LSTM (4 gates) or GRU (3 gates) names its weights, and their shapes."""
    expected: dict[str, Shape] = {}
    for layer in range(layers):
        width = inputs if layer == 0 else 2 * hidden
        for ending in (f"l{layer}", f"l{layer}_reverse"):
            expected[f"{prefix}weight_ih_{ending}"] = (gates * hidden, width)
            expected[f"{prefix}weight_hh_{ending}"] = (gates * hidden, hidden)
            expected[f"{prefix}bias_ih_{ending}"] = (gates * hidden,)
            expected[f"{prefix}bias_hh_{ending}"] = (gates * hidden,)
    return expected


def _cut(lines: Iterable[str]) -> list[str]:
    listed = list(lines)
    return listed if len(listed) <= SHOWN else [*listed[:SHOWN], f"and {len(listed) - SHOWN} more"]


SAVE_AGAIN = (
    "save the tensors alone with the version of PyTorch that wrote the file: "
    "torch.save(model.state_dict(), NEW_FILE)"
)


class MoreThanTensorsError(WeightsError):
    """A torch file that holds objects of other kinds than tensors, such as a whole module."""


def read_state(path: Path) -> dict[str, Tensor]:
    """The tensors of a state dict, by name, as float32 on the CPU.

    Reads today's zip files and the older container of several pickles, never objects. Raises
    MoreThanTensorsError for a file that holds any, WeightsError for one that is damaged, a tar file or no
    state dict.
    """
    refuse_missing(path)
    refuse_tar(path)
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise MoreThanTensorsError(
            f"{path}: no torch file, or one that holds more than tensors, which is not loaded; "
            f"expected tensors by name (a state dict). If it is a torch file, {SAVE_AGAIN}"
        ) from None
    except Exception as error:  # a damaged file makes torch raise nearly anything
        raise WeightsError(
            f"{path}: cannot be read as a state dict ({first_line(error)}); if it is whole, {SAVE_AGAIN}"
        ) from error
    return _tensors(path, data)


def refuse_missing(path: Path) -> None:
    """Raise WeightsError for a file that cannot be opened."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error.strerror}); expected a file of weights") from None


def refuse_tar(path: Path) -> None:
    """Raise WeightsError for the tar files of PyTorch before 0.1.10: unpacking them cannot be made safe."""
    if tarfile.is_tarfile(path):
        raise WeightsError(
            f"{path}: a tar file, as PyTorch wrote before 2017, which is not read; {SAVE_AGAIN}"
        )


def shapes(state: Mapping[str, Tensor]) -> dict[str, Shape]:
    """The shape of each tensor."""
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def first_line(error: BaseException) -> str:
    """The first sentence of an error's text: PyTorch's go on with advice to load the file unsafely."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].partition(". ")[0].strip()


def _tensors(path: Path, data: object) -> dict[str, Tensor]:
    if not isinstance(data, Mapping):
        raise WeightsError(f"{path}: holds a {type(data).__name__}; expected tensors by name (a state dict)")
    named = {name.decode() if isinstance(name, bytes) else str(name): value for name, value in data.items()}
    others = [
        f"{name} ({type(value).__name__})" for name, value in named.items() if not isinstance(value, Tensor)
    ]
    if others:
        raise WeightsError(f"{path}: holds {', '.join(others[:10])}; expected tensors by name (a state dict)")
    return {name: tensor.float() for name, tensor in named.items()}
