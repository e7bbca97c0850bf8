"""Skip-Thought: GRUs over a table of word vectors; unidirectional, bidirectional, or both side by side."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.encoders.batches import BatchedEncoder, Floats
from gluebench.systems.text.ptb import Tokenize
from gluebench.systems.text.ptb import tokenizer as tokenizer_called
from gluebench.systems.weights import WeightsError, reading
from gluebench.systems.weights.recurrent import run
from gluebench.systems.weights.state import Shape, axis, check_shapes

Kind = Literal["uni", "bi", "combine"]
UNKNOWN = "UNK"
END = "<eos>"
TABLES = {"uni": ("uni_skip.npz", "utable.npy"), "bi": ("bi_skip.npz", "btable.npy")}
"""Name of a model to its files: the weights, and the table of word vectors."""


class SkipThoughtModel(NamedTuple):
    """The unidirectional or the bidirectional model, with its own table."""

    network: nn.GRU
    table: Floats
    """One row for each word, memory-mapped."""


@dataclass(eq=False)
class SkipThoughtEncoder(BatchedEncoder):
    """Encodes sentences with the published models; by default with both, and with `<eos>`.

    `combine` concatenates the vectors of the unidirectional and the bidirectional model: `dim` is 2400 for
    `uni` and for `bi`, 4800 for `combine`. With `norm`, each model's vector has Euclidean length 1. `eos`
    appends an end mark to each sentence, as in the paper; without it an empty sentence is zeros. Words are
    looked up in their own case; a word that is not in the table is unknown. `weights` is the folder of the
    published files; the tables stay on disk. Raises WeightsError.
    """

    weights: Path
    tokenizer: str | Tokenize = "ptb"
    _: KW_ONLY
    kind: Kind = "combine"
    eos: bool = True
    norm: bool = True
    name: str = "skip-thought"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f'kind is "{self.kind}"; expected one of {", ".join(get_args(Kind))}')
        words = _read_words(self.weights / "dictionary.txt")
        self.words = {word: row for row, word in enumerate(words)}
        names = TABLES if self.kind == "combine" else [self.kind]
        self.parts = [_read_model(self.weights, name, len(words), self.device) for name in names]
        self.dim = 0
        for network, _ in self.parts:
            directions = 2 if network.bidirectional else 1
            self.dim += directions * network.hidden_size
        self._tokenize = tokenizer_called(self.tokenizer)

    def _tokens(self, sentences: Sequence[str]) -> list[list[str]]:
        return [self._tokenize(sentence) for sentence in sentences]

    def _encode_batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The last state of each direction of each part, side by side."""
        unknown = self.words[UNKNOWN]
        ids = []
        for words in sentences:
            rows = [self.words.get(word, unknown) for word in words]
            if self.eos:
                rows.append(self.words[END])
            ids.append(rows)
        lengths = torch.tensor([len(sentence) for sentence in ids], dtype=torch.long)
        outputs = []
        for network, table in self.parts:
            vectors = np.zeros((len(ids), int(lengths.max()), network.input_size), dtype=np.float32)
            for row, sentence in enumerate(ids):
                vectors[row, : len(sentence)] = table[sentence]
            _, last = run(network, torch.from_numpy(vectors).to(self.device), lengths)
            joined = torch.cat(list(last), dim=-1)
            if self.norm:
                joined = joined / joined.norm(dim=1, keepdim=True).clamp(min=1e-30)
            outputs.append(joined)
        return torch.cat(outputs, dim=1)


def _read_model(folder: Path, name: str, rows: int, device: str) -> SkipThoughtModel:
    weights, table = TABLES[name]
    network = _network(folder / weights, bidirectional=name == "bi")
    return SkipThoughtModel(network.to(device), _table(folder / table, rows, network.input_size))


def _network(path: Path, *, bidirectional: bool) -> nn.GRU:
    """The frozen encoder in a file of Theano's arrays; the decoders in it are ignored."""
    sides = ("encoder", "encoder_r") if bidirectional else ("encoder",)
    with reading(path, "arrays of Theano as .npz"):
        file = np.load(path, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise ValueError(f"it is one array of the shape {file.shape}")
        with file:
            sizes = _array_shapes(file)
            inputs = axis(sizes, "encoder_W", 0, default=620)
            hidden = axis(sizes, "encoder_U", 0, default=1200 if bidirectional else 2400)
            gates = {"W": (inputs, 2 * hidden), "b": (2 * hidden,), "U": (hidden, 2 * hidden)}
            candidate = {"Wx": (inputs, hidden), "bx": (hidden,), "Ux": (hidden, hidden)}
            expected: dict[str, Shape] = {}
            for side in sides:
                for part, shape in (gates | candidate).items():
                    expected[f"{side}_{part}"] = shape
            check_shapes(path, "Skip-Thought", sizes, expected, exact=False)
            arrays = {part: torch.from_numpy(np.asarray(file[part], np.float32)) for part in expected}
    network = nn.GRU(inputs, hidden, bidirectional=bidirectional, batch_first=True)
    state = {}
    for side, ending in zip(sides, ("", "_reverse"), strict=False):
        # PyTorch's order: reset gate, update gate, candidate; the file has the two gates in one array
        state[f"weight_ih_l0{ending}"] = torch.cat([arrays[f"{side}_W"], arrays[f"{side}_Wx"]], dim=1).T
        state[f"weight_hh_l0{ending}"] = torch.cat([arrays[f"{side}_U"], arrays[f"{side}_Ux"]], dim=1).T
        state[f"bias_ih_l0{ending}"] = torch.cat([arrays[f"{side}_b"], arrays[f"{side}_bx"]])
        state[f"bias_hh_l0{ending}"] = torch.zeros(3 * hidden)
    network.load_state_dict(state)
    return network.requires_grad_(False)


def _array_shapes(file: Any) -> dict[str, Shape]:
    """Shapes of an archive's arrays from their headers alone; arrays of objects are left out."""
    shapes: dict[str, Shape] = {}
    for member in file.zip.namelist():
        with file.zip.open(member) as stream:
            old = np.lib.format.read_magic(stream) == (1, 0)
            read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
            shape, _, kind = read(stream)
            if not kind.hasobject:
                shapes[member.removesuffix(".npy")] = shape
    return shapes


def _read_words(path: Path) -> list[str]:
    with reading(path, "a word on each line"):
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    words = [line.decode("utf-8", "surrogateescape").strip() for line in lines]
    missing = [word for word in (UNKNOWN, END) if word not in words]
    if missing:
        raise WeightsError(
            f"{path}: {len(words)} words without {' and '.join(missing)}; "
            "expected the word list of Skip-Thought's tables"
        )
    return words


def _table(path: Path, words: int, width: int) -> Floats:
    with reading(path, "word vectors as .npy"):
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(table, np.ndarray) or table.shape != (words, width):
        shape = getattr(table, "shape", type(table).__name__)
        raise WeightsError(
            f"{path}: holds {shape}; expected ({words}, {width}): a row for each line of dictionary.txt"
        )
    return table
