"""Skip-Thought: gated recurrent networks over a table of word vectors, one way, both ways, or joined."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.recurrent import run
from gluebench.systems.weights.state import Shape, axis, check_shapes

Kind = Literal["uni", "bi", "combine"]
UNKNOWN, END = "UNK", "<eos>"
TABLES = {"uni": ("uni_skip.npz", "utable.npy"), "bi": ("bi_skip.npz", "btable.npy")}
"""For each part its weights and its table of word vectors."""
ARRAYS = ("W", "b", "U", "Wx", "bx", "Ux")
"""What the file holds of each direction: the two gates, then the candidate."""
UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile)
"""What NumPy raises for a file that is missing or damaged."""
Floats = npt.NDArray[np.float32]


class SkipThought(nn.Module):
    """The frozen encoder. `combine` joins the vectors of the one-way and of the two-way model.

    `dim` is 2400 for `uni` and for `bi`, 4800 for `combine`.
    """

    def __init__(self, parts: Sequence[_Part], words: Mapping[str, int]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.words = words
        self.dim = sum(part.dim for part in parts)

    @classmethod
    def from_folder(cls, folder: Path, kind: Kind = "combine") -> SkipThought:
        """Read the published files under their names; the tables stay on the disk. Raises WeightsError."""
        if kind not in get_args(Kind):
            raise ValueError(f'kind is "{kind}"; expected one of {", ".join(get_args(Kind))}')
        words = _words(folder / "dictionary.txt")
        places = _places(folder, words)
        names = list(TABLES) if kind == "combine" else [kind]
        return cls([_Part(folder, name, len(words)) for name in names], places)

    def forward(self, tokens: Sequence[Sequence[str]], *, eos: bool = True, norm: bool = True) -> Tensor:
        """Vectors (batch, dim) of sentences; each part's vector has length 1 (Euclid) if `norm`.

        `eos` ends each sentence with a mark, as the paper's run did. Without it an empty sentence is zeros.
        Words are looked up as they are written, else taken as unknown.
        """
        unknown = self.words[UNKNOWN]
        ids = [[self.words.get(word, unknown) for word in chain(sentence, _mark(eos))] for sentence in tokens]
        lengths = torch.tensor([len(sentence) for sentence in ids], dtype=torch.long)
        outputs = [part(ids, lengths) for part in self.parts]
        if norm:
            outputs = [output / output.norm(dim=1, keepdim=True).clamp(min=1e-30) for output in outputs]
        return torch.cat(outputs, dim=1)


class _Part(nn.Module):
    """The one-way or the two-way model with its own table."""

    def __init__(self, folder: Path, name: str, words: int) -> None:
        super().__init__()
        weights, table = (folder / file for file in TABLES[name])
        self.network = _network(weights, both_ways=name == "bi")
        self.dim = self.network.hidden_size * (2 if name == "bi" else 1)
        self.table = _table(table, words, self.network.input_size)
        self.requires_grad_(False)

    def forward(self, ids: Sequence[Sequence[int]], lengths: Tensor) -> Tensor:
        """The last state of each direction, side by side: (batch, dim)."""
        device = next(self.network.parameters()).device
        longest = max((len(sentence) for sentence in ids), default=0)
        vectors = np.zeros((len(ids), longest, self.network.input_size), dtype=np.float32)
        for row, sentence in enumerate(ids):
            vectors[row, : len(sentence)] = self.table[list(sentence)]
        _, last = run(self.network, torch.from_numpy(vectors).to(device), lengths)
        return torch.cat(list(last), dim=-1)


def _mark(eos: bool) -> tuple[str, ...]:
    return (END,) if eos else ()


def _network(path: Path, *, both_ways: bool) -> nn.GRU:
    """The encoder of a file of Theano's arrays; its decoders are passed over."""
    sides = ("encoder", "encoder_r") if both_ways else ("encoder",)
    try:
        with _archive(path) as file:
            sizes = _array_shapes(file)
            inputs = axis(sizes, "encoder_W", 0, default=620)
            hidden = axis(sizes, "encoder_U", 0, default=1200 if both_ways else 2400)
            expected = dict(chain.from_iterable(_side_shapes(side, inputs, hidden) for side in sides))
            check_shapes(path, "Skip-Thought", sizes, expected, exact=False)
            network = nn.GRU(inputs, hidden, bidirectional=both_ways, batch_first=True)
            for side, ending in zip(sides, ("", "_reverse"), strict=False):
                _fill(
                    network, ending, {name: np.asarray(file[f"{side}_{name}"], np.float32) for name in ARRAYS}
                )
    except WeightsError:
        raise
    except UNREADABLE as error:
        raise WeightsError(f"{path}: cannot be read ({error}); expected arrays of Theano as .npz") from None
    return network


def _archive(path: Path) -> Any:
    file = np.load(path, allow_pickle=False)
    if isinstance(file, np.ndarray):
        raise ValueError(f"it is one array of the shape {file.shape}")
    return file


def _array_shapes(file: Any) -> dict[str, Shape]:
    """Shapes of an archive's arrays from their headers alone; an array of objects has none."""
    shapes: dict[str, Shape] = {}
    for member in file.zip.namelist():
        with file.zip.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, kind = read(stream)
            if not kind.hasobject:
                shapes[member.removesuffix(".npy")] = shape
    return shapes


def _side_shapes(side: str, inputs: int, hidden: int) -> Iterator[tuple[str, Shape]]:
    yield f"{side}_W", (inputs, 2 * hidden)
    yield f"{side}_b", (2 * hidden,)
    yield f"{side}_U", (hidden, 2 * hidden)
    yield f"{side}_Wx", (inputs, hidden)
    yield f"{side}_bx", (hidden,)
    yield f"{side}_Ux", (hidden, hidden)


@torch.no_grad()
def _fill(network: nn.GRU, ending: str, arrays: Mapping[str, Floats]) -> None:
    """The file's gates, reset and update, then its candidate, are PyTorch's three in order."""
    entering = np.concatenate([arrays["W"], arrays["Wx"]], axis=1).T
    recurrent = np.concatenate([arrays["U"], arrays["Ux"]], axis=1).T
    offset = np.concatenate([arrays["b"], arrays["bx"]])
    getattr(network, f"weight_ih_l0{ending}").copy_(torch.from_numpy(entering.copy()))
    getattr(network, f"weight_hh_l0{ending}").copy_(torch.from_numpy(recurrent.copy()))
    getattr(network, f"bias_ih_l0{ending}").copy_(torch.from_numpy(offset))
    getattr(network, f"bias_hh_l0{ending}").zero_()


def _words(path: Path) -> list[str]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise WeightsError(
            f"{path}: cannot be read ({error.strerror}); expected a word on each line"
        ) from None
    return [
        line.decode("utf-8", "surrogateescape").strip() for line in lines[: -1 if not lines[-1] else None]
    ]


def _places(folder: Path, words: Sequence[str]) -> dict[str, int]:
    places = {word: row for row, word in enumerate(words)}
    missing = [word for word in (UNKNOWN, END) if word not in places]
    if missing:
        raise WeightsError(
            f"{folder / 'dictionary.txt'}: {len(words)} words without {' and '.join(missing)}; "
            "expected the word list of Skip-Thought's tables"
        )
    return places


def _table(path: Path, words: int, width: int) -> Floats:
    """Word vectors, one row for each word, mapped from the disk."""
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise WeightsError(f"{path}: cannot be read ({error}); expected word vectors as .npy") from None
    if not isinstance(table, np.ndarray) or table.shape != (words, width):
        held = getattr(table, "shape", type(table).__name__)
        raise WeightsError(
            f"{path}: holds {held}; expected ({words}, {width}): a row for each line of dictionary.txt"
        )
    return table
