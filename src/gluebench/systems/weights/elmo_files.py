"""The two files of an ELMo model: its sizes as JSON, its weights as HDF5."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.state import Shape, check_shapes

CHARACTERS = 261
"""256 bytes, begin and end of a sentence, begin and end of a word, and what fills up a word."""
ACTIVATIONS = ("relu", "tanh")


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """The sizes of an ELMo model."""

    characters: int
    """Positions of a word's character matrix, its two marks included."""
    character_dim: int
    filters: tuple[tuple[int, int], ...]
    """Width and number of each group of convolutions."""
    activation: str
    highways: int
    layers: int
    dim: int
    projection: int
    cell_clip: float | None
    projection_clip: float | None
    skip: bool

    @property
    def convolved(self) -> int:
        """Width of a word after the convolutions."""
        return sum(number for _, number in self.filters)

    def shapes(self) -> dict[str, Shape]:
        """Name and shape of every dataset that the weight file must hold."""
        return dict([*self._character_shapes(), *self._recurrent_shapes()])

    def _character_shapes(self) -> Iterator[tuple[str, Shape]]:
        wide = self.convolved
        yield "char_embed", (CHARACTERS, self.character_dim)
        for at, (width, number) in enumerate(self.filters):
            yield f"CNN/W_cnn_{at}", (1, width, self.character_dim, number)
            yield f"CNN/b_cnn_{at}", (number,)
        for at in range(self.highways):
            for part in ("carry", "transform"):
                yield f"CNN_high_{at}/W_{part}", (wide, wide)
                yield f"CNN_high_{at}/b_{part}", (wide,)
        if wide != self.projection:
            yield "CNN_proj/W_proj", (wide, self.projection)
            yield "CNN_proj/b_proj", (self.projection,)

    def _recurrent_shapes(self) -> Iterator[tuple[str, Shape]]:
        for direction in range(2):
            for layer in range(self.layers):
                cell = cell_name(direction, layer)
                yield f"{cell}/W_0", (2 * self.projection, 4 * self.dim)
                yield f"{cell}/B", (4 * self.dim,)
                yield f"{cell}/W_P_0", (self.dim, self.projection)


def cell_name(direction: int, layer: int) -> str:
    """The group of one cell's datasets; direction 0 reads forwards, 1 backwards."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def read_options(path: Path) -> ElmoOptions:
    """The sizes an options file gives. Raises WeightsError for what is missing or of the wrong kind."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsError(
            f"{path}: cannot be read ({error.strerror}); expected ELMo's options as JSON"
        ) from None
    except ValueError as error:
        raise WeightsError(f"{path}: no JSON ({error}); expected ELMo's options file") from None
    try:
        return _options(values)
    except KeyError as error:
        reason = f"{error.args[0]} is missing"
    except (TypeError, ValueError) as error:
        reason = str(error)
    keys = ", ".join(values) if isinstance(values, Mapping) else type(values).__name__
    raise WeightsError(f"{path}: not the options of ELMo: {reason} (found: {keys}; expected: lstm, char_cnn)")


def _options(values: Mapping[str, Any]) -> ElmoOptions:
    lstm, cnn = values["lstm"], values["char_cnn"]
    if not isinstance(lstm, dict) or not isinstance(cnn, dict):
        raise TypeError("lstm and char_cnn hold no named values")
    if cnn.get("n_characters", 262) not in (CHARACTERS, CHARACTERS + 1):
        raise ValueError(f"n_characters is {cnn['n_characters']}, expected 262 (261 in training files)")
    activation = cnn.get("activation", "tanh")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}, expected one of {', '.join(ACTIVATIONS)}")
    return ElmoOptions(
        characters=_size(cnn, "max_characters_per_token"),
        character_dim=_size(cnn["embedding"], "dim"),
        filters=tuple((int(width), int(number)) for width, number in cnn["filters"]),
        activation=activation,
        highways=int(cnn.get("n_highway") or 0),
        layers=_size(lstm, "n_layers"),
        dim=_size(lstm, "dim"),
        projection=_size(lstm, "projection_dim"),
        cell_clip=_limit(lstm.get("cell_clip")),
        projection_clip=_limit(lstm.get("proj_clip")),
        skip=bool(lstm.get("use_skip_connections", False)),
    )


def _size(within: Mapping[str, Any], name: str) -> int:
    value = within[name]
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is {value!r}, expected a whole number above 0")
    return value


def _limit(value: float | None) -> float | None:
    return float(value) if value else None


def read_weights(path: Path, options: ElmoOptions) -> dict[str, Tensor]:
    """The datasets of a weight file by name. Raises WeightsError where they do not fit the options."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            shapes = _shapes(file)
            check_shapes(path, "ELMo with these options", shapes, options.shapes(), exact=False)
            return {name: torch.from_numpy(file[name][()]).float() for name in options.shapes()}
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error}); expected ELMo's weights as HDF5") from None


def _shapes(file: Any) -> dict[str, Shape]:
    import h5py

    shapes: dict[str, Shape] = {}

    def note(name: str, held: object) -> None:
        if isinstance(held, h5py.Dataset):
            shapes[name] = held.shape

    file.visititems(note)
    return shapes
