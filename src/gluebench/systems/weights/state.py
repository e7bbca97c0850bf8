"""Torch files that hold tensors by name, and checks of the shapes in any file of weights."""

import pickle
import tarfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError, reading

Shape = tuple[int, ...]
SHOWN = 40
"""Arrays of a file that are named in a message; the rest are counted."""


def check_shapes(
    path: Path, kind: str, shapes: Mapping[str, Shape], expected: Mapping[str, Shape], *, exact: bool = True
) -> None:
    """Raise WeightsError unless every expected array is there in its shape and, if exact, no other."""
    problems = []
    for name, shape in expected.items():
        if name not in shapes:
            problems.append(f"{name}: missing, expected {shape}")
        elif tuple(shapes[name]) != shape:
            problems.append(f"{name}: {tuple(shapes[name])}, expected {shape}")
    if exact:
        for name in shapes.keys() - expected:
            problems.append(f"{name}: {tuple(shapes[name])}, expected nothing of this name")
    if problems:
        listing = ", ".join(_cut([f"{name} {tuple(shape)}" for name, shape in shapes.items()]))
        lines = [f"{path}: not the weights of {kind}"] + _cut(problems)
        in_file = f"found in the file: {listing or 'no arrays'}"
        lines += [in_file, f"Give the file with the weights of {kind}."]
        raise WeightsError("\n".join(lines))


def axis(shapes: Mapping[str, Shape], name: str, at: int, *, default: int) -> int:
    """The length of one axis of an array; the published one where the file has no such axis."""
    shape = shapes.get(name, ())
    return shape[at] if len(shape) > at and shape[at] else default


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= SHOWN:
        return lines
    return lines[:SHOWN] + [f"and {len(lines) - SHOWN} more"]


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
    refuse_unreadable(path)
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
    if not isinstance(data, Mapping):
        raise WeightsError(f"{path}: holds a {type(data).__name__}; expected tensors by name (a state dict)")
    named = {name.decode() if isinstance(name, bytes) else str(name): value for name, value in data.items()}
    others = [
        f"{name} ({type(value).__name__})" for name, value in named.items() if not isinstance(value, Tensor)
    ]
    if others:
        raise WeightsError(f"{path}: holds {', '.join(others[:10])}; expected tensors by name (a state dict)")
    return {name: tensor.float() for name, tensor in named.items()}


def refuse_unreadable(path: Path) -> None:
    """Raise WeightsError for a file that cannot be opened, or a tar file of PyTorch before 0.1.10.

    Unpacking such a tar file cannot be made safe.
    """
    with reading(path, "a file of weights"):
        path.open("rb").close()
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
