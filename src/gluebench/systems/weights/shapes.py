"""Names and shapes of the arrays in a file, held against those its kind of model has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from gluebench.systems.weights.errors import WeightsError

Shape = tuple[int, ...]
SHOWN = 40
"""Arrays of a file that are named in a message; the rest are counted."""


def check_shapes(
    path: Path, kind: str, found: Mapping[str, Shape], wanted: Mapping[str, Shape], *, exact: bool = True
) -> None:
    """Raise WeightsError unless every wanted array is there in its shape and, if exact, no other."""
    problems = [
        f"{name}: {tuple(found[name]) if name in found else 'missing'}, expected {shape}"
        for name, shape in wanted.items()
        if name not in found or tuple(found[name]) != shape
    ]
    if exact:
        problems += [
            f"{name}: {tuple(found[name])}, expected nothing of this name" for name in found.keys() - wanted
        ]
    if problems:
        lines = [
            f"{path}: not the weights of {kind}",
            *_cut(problems),
            f"found in the file: {listing(found)}",
        ]
        raise WeightsError("\n".join(lines))


def listing(found: Mapping[str, Shape]) -> str:
    """The names and shapes of a file's arrays in one line."""
    return ", ".join(_cut([f"{name} {tuple(shape)}" for name, shape in found.items()])) or "no arrays"


def axis(found: Mapping[str, Shape], name: str, at: int, *, default: int) -> int:
    """The length of one axis of an array; the published one where the file has no such axis."""
    shape = found.get(name, ())
    return shape[at] if len(shape) > at else default


def recurrent_shapes(
    gates: int, inputs: int, hidden: int, *, layers: int = 1, prefix: str = ""
) -> dict[str, Shape]:
    """What PyTorch's bidirectional LSTM (4 gates) or GRU (3 gates) names its weights, and their shapes."""
    wanted: dict[str, Shape] = {}
    for layer in range(layers):
        width = inputs if layer == 0 else 2 * hidden
        for ending in (f"l{layer}", f"l{layer}_reverse"):
            wanted[f"{prefix}weight_ih_{ending}"] = (gates * hidden, width)
            wanted[f"{prefix}weight_hh_{ending}"] = (gates * hidden, hidden)
            wanted[f"{prefix}bias_ih_{ending}"] = (gates * hidden,)
            wanted[f"{prefix}bias_hh_{ending}"] = (gates * hidden,)
    return wanted


def _cut(lines: Iterable[str]) -> list[str]:
    told = list(lines)
    return told if len(told) <= SHOWN else [*told[:SHOWN], f"and {len(told) - SHOWN} more"]
