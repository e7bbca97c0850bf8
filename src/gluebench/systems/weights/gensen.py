"""GenSen: a two-way gated recurrent network trained on several tasks, with its own word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.recurrent import Padding, largest, run
from gluebench.systems.weights.state import Shape, axis, check_shapes, read_state, recurrent_shapes, shapes
from gluebench.systems.weights.unpickle import read_plain

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
TABLE, PREFIX = "src_embedding.weight", "encoder."
Pooling = Literal["last", "max"]
Floats = npt.NDArray[np.float32]


class _Map(NamedTuple):
    """The linear map from word vectors to a model's own."""

    middle: npt.NDArray[Any]
    slopes: npt.NDArray[Any]
    target: npt.NDArray[Any]

    def carried(self, rows: Floats) -> Floats:
        return np.asarray((rows - self.middle) @ self.slopes + self.target, dtype=np.float32)


class GenSen(nn.Module):
    """One frozen model; the paper's row joins the vectors of two. `dim` is 2048 for the published ones."""

    def __init__(self, words: Mapping[str, int], table: Tensor, hidden: int, layers: int = 1) -> None:
        super().__init__()
        self.words = dict(words)
        self.learned = dict(words)
        """The words the model was trained with; `words` has those added since too."""
        self.dim = 2 * hidden
        self._map: _Map | None = None
        self.table = nn.Parameter(table, requires_grad=False)
        self.network = nn.GRU(
            table.shape[1], hidden, num_layers=layers, bidirectional=True, batch_first=True
        ).requires_grad_(False)

    @classmethod
    def from_files(cls, model: Path, vocabulary: Path) -> GenSen:
        """Read a state dict (`….model`) and its vocabulary (`…_vocab.pkl`). Raises WeightsError."""
        state = read_state(model)
        sizes = shapes(state)
        words = _words(vocabulary)
        width = axis(sizes, TABLE, 1, default=512)
        hidden = axis(sizes, f"{PREFIX}weight_hh_l0", 1, default=1024)
        layers = 2 if f"{PREFIX}weight_ih_l1" in sizes else 1
        rows = max(axis(sizes, TABLE, 0, default=0), 1 + max(words.values()))
        expected: dict[str, Shape] = {TABLE: (rows, width)}
        expected |= recurrent_shapes(3, width, hidden, layers=layers, prefix=PREFIX)
        check_shapes(model, f"GenSen with the {len(words)} words of {vocabulary.name}", sizes, expected)
        read = cls(words, state.pop(TABLE), hidden, layers)
        read.network.load_state_dict({name.removeprefix(PREFIX): tensor for name, tensor in state.items()})
        return read

    def expand(self, words: Sequence[str], vectors: Mapping[str, Floats]) -> int:
        """Add words that the model does not know, their vectors fitted from others; return how many.

        `vectors` holds word vectors (GloVe in the paper's run) of the words and of the model's own. A linear
        map with a constant, fitted by least squares on the words of both, carries them over. Words without
        a vector stay unknown. The map is fitted once: give the same word vectors in later calls.
        """
        new = [word for word in dict.fromkeys(words) if word not in self.words and word in vectors]
        if not new:
            return 0
        self._map = self._map or self._fitted(vectors)
        fitted = self._map.carried(np.stack([vectors[word] for word in new]))
        added = torch.from_numpy(fitted).to(self.table.device)
        self.words |= {word: row for row, word in enumerate(new, len(self.table))}
        self.table = nn.Parameter(torch.cat([self.table, added]), requires_grad=False)
        return len(new)

    def forward(
        self, tokens: Sequence[Sequence[str]], *, pooling: Pooling = "last", padding: Padding = "mask"
    ) -> Tensor:
        """Vectors (batch, dim) of sentences, whose words are put into small letters.

        "last" joins the backward and then the forward state at the end of their ways; "max" is the maximum
        over time, in the original with "zero" padding.
        """
        if pooling not in get_args(Pooling):
            raise ValueError(f'pooling is "{pooling}"; expected one of {", ".join(get_args(Pooling))}')
        unknown = self.words[UNKNOWN]
        ids = [
            [self.words.get(word, unknown) for word in (BEGIN, *map(str.lower, sentence), END)]
            for sentence in tokens
        ]
        lengths = torch.tensor([len(sentence) for sentence in ids], dtype=torch.long)
        outputs, last = run(self.network, self._looked_up(ids), lengths)
        if pooling == "last":
            return torch.cat([last[-1], last[-2]], dim=-1)
        return largest(outputs, lengths, padding)

    def _looked_up(self, ids: Sequence[Sequence[int]]) -> Tensor:
        longest = max((len(sentence) for sentence in ids), default=0)
        filled = [[*sentence, *[0] * (longest - len(sentence))] for sentence in ids]
        rows = torch.tensor(filled, dtype=torch.long, device=self.table.device)
        return self.table[rows.reshape(len(ids), longest)]

    def _fitted(self, vectors: Mapping[str, Floats]) -> _Map:
        shared = [word for word in self.learned if word in vectors]
        if not shared:
            raise WeightsError(
                f"none of the model's {len(self.learned)} words is in the word vectors; expected GloVe's"
            )
        given = np.stack([vectors[word] for word in shared]).astype(np.float64)
        rows = [self.learned[word] for word in shared]
        own = self.table[rows].cpu().numpy().astype(np.float64)
        middle, target = given.mean(axis=0), own.mean(axis=0)
        slopes = np.linalg.lstsq(given - middle, own - target, rcond=None)[0]
        return _Map(middle, slopes, target)


def _words(path: Path) -> dict[str, int]:
    """Word to row of a vocabulary file."""
    data = read_plain(path, "GenSen's vocabulary: a pickle of word2id and id2word")
    words = data.get("word2id") if isinstance(data, dict) else None
    if not isinstance(words, dict) or not all(
        isinstance(word, str) and isinstance(row, int) for word, row in words.items()
    ):
        held = ", ".join(map(str, list(data)[:5])) if isinstance(data, dict) else type(data).__name__
        raise WeightsError(f"{path}: holds {held}; expected word2id with a row number for each word")
    missing = [word for word in (BEGIN, END, UNKNOWN) if word not in words]
    if missing or min(words.values()) < 0:
        lacks = f"without {', '.join(missing)}" if missing else "of which some have rows below 0"
        raise WeightsError(f"{path}: {len(words)} words {lacks}; expected GenSen's vocabulary")
    return words
