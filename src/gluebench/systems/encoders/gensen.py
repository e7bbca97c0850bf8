"""GenSen: bidirectional GRUs trained on several tasks, with their own word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.encoders.batches import BatchedEncoder, Floats, WordVectorFile
from gluebench.systems.text.ptb import Tokenize
from gluebench.systems.text.ptb import tokenizer as tokenizer_called
from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.pickles import read_plain
from gluebench.systems.weights.recurrent import Padding, largest, read_network, run
from gluebench.systems.weights.state import axis, read_state, shapes

BEGIN = "<s>"
END = "</s>"
UNKNOWN = "<unk>"
TABLE = "src_embedding.weight"
PREFIX = "encoder."
Pooling = Literal["last", "max"]


class GenSen:
    """One frozen model; the paper's row joins the vectors of two. `dim` is 2048 for the published ones."""

    def __init__(self, words: Mapping[str, int], table: Tensor, network: nn.GRU) -> None:
        self.words = dict(words)
        self.learned = dict(words)
        """The words of training; `words` also has those that `expand` added."""
        self.dim = 2 * network.hidden_size
        self.table = table
        self.network = network
        self._map: Any = None
        """The linear map from word vectors to its own: their mean, the slopes, the mean of its own."""

    @classmethod
    def from_files(cls, model: Path, vocabulary: Path, device: str = "cpu") -> GenSen:
        """Read a state dict (`….model`) and its vocabulary (`…_vocab.pkl`). Raises WeightsError."""
        state = read_state(model)
        sizes = shapes(state)
        words = _read_words(vocabulary)
        network = read_network(
            model,
            f"GenSen with the {len(words)} words of {vocabulary.name}",
            state,
            nn.GRU,
            inputs=512,
            hidden=1024,
            layers=2 if f"{PREFIX}weight_ih_l1" in sizes else 1,
            prefix=PREFIX,
            tables={TABLE: max(axis(sizes, TABLE, 0, default=0), 1 + max(words.values()))},
        )
        return cls(words, state[TABLE].to(device), network.to(device))

    def expand(self, words: Sequence[str], vectors: Mapping[str, Floats]) -> None:
        """Add unknown words, with vectors mapped from other word vectors.

        `vectors` holds word vectors (GloVe in the paper's run) of the words and of the model's own. A linear
        map with an intercept, fitted by least squares on the shared words, gives the new vectors. Words
        without a vector stay unknown. The map is fitted once: give the same word vectors in later calls.
        """
        new = [word for word in dict.fromkeys(words) if word not in self.words and word in vectors]
        if not new:
            return
        self._map = self._map or self._fit_map(vectors)
        rows = np.stack([vectors[word] for word in new])
        middle, slopes, target = self._map
        fitted = np.asarray((rows - middle) @ slopes + target, dtype=np.float32)
        self.words |= {word: row for row, word in enumerate(new, len(self.table))}
        self.table = torch.cat([self.table, torch.from_numpy(fitted).to(self.table.device)])

    def __call__(
        self, tokens: Sequence[Sequence[str]], *, pooling: Pooling = "last", padding: Padding = "mask"
    ) -> Tensor:
        """Return vectors (batch, dim) of sentences, whose words are lowercased.

        "last" concatenates the final backward and forward states; "max" is the maximum over time, in the
        original with "zero" padding.
        """
        if pooling not in get_args(Pooling):
            raise ValueError(f'pooling is "{pooling}"; expected one of {", ".join(get_args(Pooling))}')
        unknown = self.words[UNKNOWN]
        ids = []
        for sentence in tokens:
            words = [BEGIN, *map(str.lower, sentence), END]
            ids.append(torch.tensor([self.words.get(word, unknown) for word in words]))
        lengths = torch.tensor([len(sentence) for sentence in ids], dtype=torch.long)
        rows = nn.utils.rnn.pad_sequence(ids, batch_first=True).to(self.table.device)
        outputs, last = run(self.network, self.table[rows], lengths)
        if pooling == "last":
            return torch.cat([last[-1], last[-2]], dim=-1)
        return largest(outputs, lengths, padding)

    def _fit_map(self, vectors: Mapping[str, Floats]) -> tuple[Any, Any, Any]:
        shared = [word for word in self.learned if word in vectors]
        if not shared:
            raise WeightsError(
                f"none of the model's {len(self.learned)} words is in the word vectors; expected GloVe's"
            )
        given = np.stack([vectors[word] for word in shared]).astype(np.float64)
        rows = [self.learned[word] for word in shared]
        own = self.table[rows].cpu().numpy().astype(np.float64)
        middle = given.mean(axis=0)
        target = own.mean(axis=0)
        return middle, np.linalg.lstsq(given - middle, own - target, rcond=None)[0], target


def _read_words(path: Path) -> dict[str, int]:
    """Read a vocabulary file: word to row."""
    data = read_plain(path, "GenSen's vocabulary: a pickle of word2id and id2word")
    content = type(data).__name__
    words = None
    if isinstance(data, dict):
        content = ", ".join(map(str, list(data)[:5]))
        words = data.get("word2id")
    if not isinstance(words, dict) or not all(map(_is_row, words.items())):
        raise WeightsError(f"{path}: holds {content}; expected word2id with a row number for each word")
    fault = ""
    missing = [word for word in (BEGIN, END, UNKNOWN) if word not in words]
    if missing:
        fault = f"without {', '.join(missing)}"
    elif min(words.values()) < 0:
        fault = "of which some have rows below 0"
    if fault:
        raise WeightsError(f"{path}: {len(words)} words {fault}; expected GenSen's vocabulary")
    return words


def _is_row(entry: tuple[Any, Any]) -> bool:
    """Whether it is a word and the number of its row."""
    word, row = entry
    return isinstance(word, str) and isinstance(row, int)


@dataclass(eq=False)
class GenSenEncoder(BatchedEncoder):
    """An encoder of one or more GenSen models; the paper joins two, with words added from GloVe 840B.

    `weights` is the folder of the models, whose names in `models` are separated by commas.
    `vectors` is a file of word vectors: words that a model does not know get a vector mapped from it. Without
    it, they share the vector of the unknown word.
    """

    weights: Path
    tokenizer: str | Tokenize = "ptb"
    _: KW_ONLY
    models: str = "nli_large_bothskip_parse,nli_large_bothskip"
    vectors: Path | None = None
    pooling: Pooling = "last"
    padding: Padding = "mask"
    name: str = "gensen"

    def __post_init__(self) -> None:
        self.parts = []
        for name in self.models.split(","):
            if name:
                model = self.weights / f"{name}.model"
                vocabulary = self.weights / f"{name}_vocab.pkl"
                self.parts.append(GenSen.from_files(model, vocabulary, self.device))
        self.dim = sum(part.dim for part in self.parts)
        self._vectors = WordVectorFile(self.vectors) if self.vectors else None
        self._tokenize = tokenizer_called(self.tokenizer)

    def prepare(self, sentences: Sequence[str]) -> None:
        """Add the unknown words of these sentences, so that later calls need not read the word vectors."""
        self._tokens(sentences)

    def _tokens(self, sentences: Sequence[str]) -> list[list[str]]:
        """The words of each sentence; each model knows them afterwards, if they have a vector."""
        split = [self._tokenize(sentence) for sentence in sentences]
        words = list(dict.fromkeys(word.lower() for word in chain.from_iterable(split)))
        all_known = all(part.words.keys() >= set(words) for part in self.parts)
        if self._vectors and not all_known:
            needed = list(words)
            for part in self.parts:
                needed += part.learned
            vectors = self._vectors.of(needed)
            for part in self.parts:
                part.expand(words, vectors)
        return split

    def _encode_batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        vectors = [part(sentences, pooling=self.pooling, padding=self.padding) for part in self.parts]
        return torch.cat(vectors, dim=1)
