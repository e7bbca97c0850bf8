"""ELMo: a frozen two-way language model over characters that gives each token a vector in its context."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gluebench.systems.weights import WeightsError, reading
from gluebench.systems.weights.clipped_lstm import ClippedLstm, State
from gluebench.systems.weights.state import Shape, check_shapes

BEGIN = "<S>"
END = "</S>"
"""Markers around each sentence; a word spelled like one is read as the marker, as in the original."""
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILL = range(256, 261)
"""Rows of the character table after those of the 256 bytes."""
CHARACTERS = 261
"""256 bytes, begin and end of a sentence, begin and end of a word, and padding of a word."""
ACTIVATIONS = ("relu", "tanh")


class ElmoOptions(NamedTuple):
    """The sizes of an ELMo model."""

    characters: int
    """Positions of a word's character matrix, its two markers included."""
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

    def shapes(self) -> dict[str, Shape]:
        """Return the name and shape of every dataset that the weight file must hold."""
        wide = sum(number for _, number in self.filters)
        expected: dict[str, Shape] = {"char_embed": (CHARACTERS, self.character_dim)}
        for at, (width, number) in enumerate(self.filters):
            expected[f"CNN/W_cnn_{at}"] = (1, width, self.character_dim, number)
            expected[f"CNN/b_cnn_{at}"] = (number,)
        for at in range(self.highways):
            for part in ("carry", "transform"):
                expected[f"CNN_high_{at}/W_{part}"] = (wide, wide)
                expected[f"CNN_high_{at}/b_{part}"] = (wide,)
        if wide != self.projection:
            expected["CNN_proj/W_proj"] = (wide, self.projection)
            expected["CNN_proj/b_proj"] = (self.projection,)
        for direction in range(2):
            for layer in range(self.layers):
                name = _cell_name(direction, layer)
                expected[f"{name}/W_0"] = (2 * self.projection, 4 * self.dim)
                expected[f"{name}/B"] = (4 * self.dim,)
                expected[f"{name}/W_P_0"] = (self.dim, self.projection)
        return expected


def _cell_name(direction: int, layer: int) -> str:
    """Return the name of one cell's datasets; direction 0 reads forward, 1 backward."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def read_options(path: Path) -> ElmoOptions:
    """Read the sizes of an options file. Raises WeightsError for a missing or malformed value."""
    with reading(path, "ELMo's options as JSON"):
        values = json.loads(path.read_text(encoding="utf-8"))
    try:
        return _options(values)
    except KeyError as error:
        reason = f"{error.args[0]} is missing"
    except (TypeError, ValueError) as error:
        reason = str(error)
    keys = ", ".join(values) if isinstance(values, Mapping) else type(values).__name__
    raise WeightsError(f"{path}: not the options of ELMo: {reason} (found: {keys}; expected: lstm, char_cnn)")


def _options(values: Mapping[str, Any]) -> ElmoOptions:
    lstm = values["lstm"]
    cnn = values["char_cnn"]
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
    """Read the datasets of a weight file by name. Raises WeightsError if they do not fit the options."""
    import h5py

    sizes: dict[str, Shape] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            sizes[name] = item.shape

    with reading(path, "ELMo's weights as HDF5"), h5py.File(path, "r") as file:
        file.visititems(note)
        check_shapes(path, "ELMo with these options", sizes, options.shapes(), exact=False)
        return {name: torch.from_numpy(file[name][()]).float() for name in options.shapes()}


def character_rows(word: str, length: int) -> list[int]:
    """Return a word's rows of the character table: UTF-8 bytes between two markers, then padding."""
    rows = [BEGIN_WORD]
    if word == BEGIN:
        rows.append(BEGIN_SENTENCE)
    elif word == END:
        rows.append(END_SENTENCE)
    else:
        rows += word.encode("utf-8", errors="ignore")[: length - 2]
    rows.append(END_WORD)
    rows += [FILL] * (length - len(rows))
    return rows


class ElmoBatch(NamedTuple):
    """Sentences with their markers; each distinct word is convolved once."""

    characters: Tensor
    """(words, positions): rows of the character table."""
    rows: Tensor
    """(batch, length + 2): a word for each token."""
    lengths: Tensor
    """(batch,), without the markers."""


class Elmo(nn.Module):
    """The language model with frozen weights; what a task trains is a `ScalarMix` of its layers.

    With `carry`, each row of a batch starts from the final states of that row in the previous batch, as in
    the original programs. Without `carry`, sentences are independent of each other.
    """

    def __init__(self, options: ElmoOptions, weights: Mapping[str, Tensor], *, carry: bool = False) -> None:
        super().__init__()
        self.options = options
        self.carry = carry
        self.dim = 2 * options.projection
        self.words = _WordEncoder(options, weights)
        self.cells = nn.ModuleList()
        for layer in range(options.layers):
            forward = _make_cell(options, weights, _cell_name(0, layer))
            backward = _make_cell(options, weights, _cell_name(1, layer))
            self.cells.append(nn.ModuleList([forward, backward]))
        self.fused: bool | None = None
        """Whether PyTorch's LSTM runs where clipping is shown to change nothing; None: on a GPU."""
        self._states: list[State] = []
        self._numbers: dict[str, int] = {}
        self._characters: list[bytes] = []
        self.numbers([BEGIN])  # the first two, in this order
        self.numbers([END])
        self.requires_grad_(False)

    @classmethod
    def from_files(cls, options: Path, weights: Path, *, carry: bool = False) -> Elmo:
        """Read the JSON file of options and the HDF5 file of weights. Raises WeightsError."""
        sizes = read_options(options)
        return cls(sizes, read_weights(weights, sizes), carry=carry)

    def forget(self) -> None:
        """Drop the carried states."""
        self._states = []

    def carried(self) -> list[State]:
        """The carried states of each layer, on the CPU."""
        return [(hidden.cpu(), cell.cpu()) for hidden, cell in self._states]

    def carry_on(self, carried: list[State]) -> None:
        """Go on from the states that `carried` returned."""
        self._states = [(hidden.to(self._device), cell.to(self._device)) for hidden, cell in carried]

    def numbers(self, tokens: Sequence[str]) -> NDArray[np.int32]:
        """Numbers of tokens, for `batch`; the characters of a new one are kept.

        New tokens are numbered in their order: another order of the rows of a batch rounds otherwise.
        """
        for token in tokens:
            if token not in self._numbers:
                self._numbers[token] = len(self._characters)
                rows = character_rows(token, self.options.characters)
                self._characters.append(np.array(rows, dtype=np.int16).tobytes())
        return np.array([self._numbers[token] for token in tokens], dtype=np.int32)

    def batch(self, sentences: Sequence[NDArray[np.int32]]) -> ElmoBatch:
        """A batch of sentences as `numbers` returns them; begin and end markers are added to each."""
        longest = max(map(len, sentences), default=0)
        numbers = np.zeros((len(sentences), longest + 2), dtype=np.int32)  # 0 is the marker of the begin
        for row, sentence in zip(numbers, sentences, strict=True):
            row[1 : len(sentence) + 1] = sentence
            row[len(sentence) + 1] = 1  # the marker of the end
        distinct, rows = np.unique(numbers, return_inverse=True)
        joined = bytearray().join(self._characters[number] for number in distinct)
        characters = np.frombuffer(joined, dtype=np.int16).reshape(-1, self.options.characters)
        lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.long)
        return ElmoBatch(torch.from_numpy(characters), torch.from_numpy(rows.reshape(numbers.shape)), lengths)

    def forward(self, sentences: ElmoBatch | Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Return layers (1 + cells, batch, length, dim), zero after each sentence, and lengths (batch).

        Takes a batch, or the tokens of sentences. Markers are not in the result.
        """
        if not isinstance(sentences, ElmoBatch):
            sentences = self.batch([self.numbers(tokens) for tokens in sentences])
        characters, rows, lengths = (part.to(self._device, non_blocking=True) for part in sentences)
        if not len(rows):
            return torch.zeros(1 + len(self.cells), 0, 0, self.dim, device=self._device), lengths
        embedded = self.words(characters)[rows]
        marked_lengths = lengths + 2
        directions = torch.stack([embedded, _reverse(embedded, marked_lengths)])
        before = [self._initial_state(at, len(rows)) for at in range(len(self.cells))]
        outputs, after = self._run(directions, marked_lengths, before)
        for at, state in enumerate(after):
            self._keep_state(at, state)
        layers = [embedded.repeat(1, 1, 2)]
        layers += [torch.cat([one, _reverse(two, marked_lengths)], dim=-1) for one, two in outputs]
        inner = torch.stack(layers)[:, :, 1:-1]
        mask = torch.arange(inner.shape[2], device=inner.device) < lengths[:, None]
        return inner * mask[None, :, :, None], lengths

    def _run(self, inputs: Tensor, lengths: Tensor, before: list[State]) -> tuple[Tensor, list[State]]:
        """Outputs (layers, 2, batch, length, projection) and last states, fused where that is exact."""
        fused = inputs.is_cuda if self.fused is None else self.fused
        if not (fused and self.cells[0][0].fits):  # type: ignore[index]
            outputs, after, _ = self._layers(inputs, lengths, before, fused=False)
            return outputs, after
        outputs, after, clipped = self._layers(inputs, lengths, before, fused=True)
        rows = clipped.nonzero().flatten()  # the only value that a step reads back from a GPU
        if len(rows):
            part = [(hidden[:, rows], cell[:, rows]) for hidden, cell in before]
            again, states, _ = self._layers(inputs[:, rows], lengths[rows], part, fused=False)
            outputs[:, :, rows] = again
            for kept, exact in zip(after, states, strict=True):
                kept[0][:, rows], kept[1][:, rows] = exact
        return outputs, after

    def _layers(
        self, inputs: Tensor, lengths: Tensor, before: list[State], *, fused: bool
    ) -> tuple[Tensor, list[State], Tensor]:
        """Run all cells one way; last, whether clipping had changed a row."""
        outputs = []
        after = []
        clipped = torch.zeros_like(lengths, dtype=torch.bool)
        for at, (cells, (hidden, cell)) in enumerate(zip(self.cells, before, strict=True)):
            ran = []
            own: ClippedLstm
            for direction, own in enumerate(cells):  # type: ignore[arg-type]
                run: Any = own.run_unclipped if fused else own
                out, state, *flags = run(inputs[direction], lengths, (hidden[direction], cell[direction]))
                ran.append((out, *state))
                for flag in flags:
                    clipped |= flag
            out, *state = (torch.stack(parts) for parts in zip(*ran, strict=True))
            after.append((state[0], state[1]))
            inputs = out + inputs if at and self.options.skip else out
            outputs.append(inputs)
        return torch.stack(outputs), after, clipped

    @property
    def _device(self) -> torch.device:
        return self.words.table.device

    def _initial_state(self, at: int, batch: int) -> State:
        sizes = (self.options.projection, self.options.dim)
        fresh = [torch.zeros(2, batch, size, device=self._device) for size in sizes]
        if at < len(self._states):
            for new, old in zip(fresh, self._states[at], strict=True):
                new[:, : old.shape[1]] = old[:, :batch]
        return fresh[0], fresh[1]

    def _keep_state(self, at: int, state: State) -> None:
        """Keep a layer's last states; rows that this batch did not have keep their earlier ones."""
        if not self.carry:
            return
        if at == len(self._states):
            self._states.append(state)
            return
        hidden, cell = state
        old_hidden, old_cell = self._states[at]
        batch = hidden.shape[1]
        self._states[at] = (
            torch.cat([hidden, old_hidden[:, batch:]], dim=1),
            torch.cat([cell, old_cell[:, batch:]], dim=1),
        )


class _WordEncoder(nn.Module):
    """Word encoder from characters to vectors: convolutions, highway layers, projection."""

    def __init__(self, options: ElmoOptions, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.activation: Callable[[Tensor], Tensor] = getattr(torch, options.activation)
        self.table = nn.Parameter(weights["char_embed"])
        groups = range(len(options.filters))
        # The file has (1, width, characters, number), PyTorch wants (number, characters, width).
        self.kernels = nn.ParameterList(
            weights[f"CNN/W_cnn_{at}"][0].permute(2, 1, 0).contiguous() for at in groups
        )
        self.offsets = nn.ParameterList(weights[f"CNN/b_cnn_{at}"] for at in groups)
        self.highways = nn.ModuleList(_Highway(weights, at) for at in range(options.highways))
        self.projection: nn.Parameter | None = None
        self.shift: nn.Parameter | None = None
        if "CNN_proj/W_proj" in weights:
            self.projection = nn.Parameter(weights["CNN_proj/W_proj"])
            self.shift = nn.Parameter(weights["CNN_proj/b_proj"])

    def forward(self, characters: Tensor) -> Tensor:
        """Map rows of the table (words, characters) to vectors (words, projection)."""
        letters = nn.functional.embedding(characters.int(), self.table).transpose(1, 2)
        features = [
            self.activation(nn.functional.conv1d(letters, kernel, offset).amax(dim=-1))
            for kernel, offset in zip(self.kernels, self.offsets, strict=True)
        ]
        words = torch.cat(features, dim=-1)
        for highway in self.highways:
            words = highway(words)
        if self.projection is None or self.shift is None:
            return words
        return words @ self.projection + self.shift


class _Highway(nn.Module):
    def __init__(self, weights: Mapping[str, Tensor], at: int) -> None:
        super().__init__()
        self.carry = nn.Parameter(weights[f"CNN_high_{at}/W_carry"])
        self.carry_offset = nn.Parameter(weights[f"CNN_high_{at}/b_carry"])
        self.change = nn.Parameter(weights[f"CNN_high_{at}/W_transform"])
        self.change_offset = nn.Parameter(weights[f"CNN_high_{at}/b_transform"])

    def forward(self, words: Tensor) -> Tensor:
        """Mix the transformed words, weighted by the gate, and the given words, weighted by 1 - gate."""
        gate = torch.sigmoid(words @ self.carry + self.carry_offset)
        return gate * torch.relu(words @ self.change + self.change_offset) + (1 - gate) * words


def _make_cell(options: ElmoOptions, weights: Mapping[str, Tensor], name: str) -> ClippedLstm:
    return ClippedLstm(
        weights[f"{name}/W_0"],
        weights[f"{name}/B"],
        weights[f"{name}/W_P_0"],
        cell_clip=options.cell_clip,
        projection_clip=options.projection_clip,
    )


def _reverse(values: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each sentence of (batch, length, dim) within its own length."""
    steps = torch.arange(values.shape[1], device=values.device)
    backwards = (lengths[:, None] - 1 - steps).clamp(min=0)
    return values.gather(1, backwards[:, :, None].expand_as(values))
