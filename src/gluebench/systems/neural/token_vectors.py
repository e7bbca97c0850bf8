"""Token vectors of sentences: from a table, from ELMo, or from a table concatenated with CoVe."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gluebench.systems.text.vocabulary import PAD, Vocabulary
from gluebench.systems.weights.recurrent import PackedOrder, packing

Tokenize = Callable[[str], list[str]]
LONGEST = 40
"""Maximum number of tokens of a sentence (the original's limit)."""


class EmbeddedTokens(NamedTuple):
    """Vectors of the tokens of a batch; values after a sentence's end are undefined."""

    vectors: Tensor
    """(batch, length, dim)."""
    lengths: Tensor
    """(batch,), at least 1."""
    packed: PackedOrder | None = None
    """The lengths counted on the CPU."""


class TokenVectors(nn.Module, ABC):
    """Base class of modules that give token vectors. An empty text counts as one unknown word."""

    dim: int
    in_order: bool = False
    """Whether a sentence's vectors depend on the sentences before it, so that order must be kept."""
    frozen: str | None = None
    """Name of a module that is never in training mode."""

    def __init__(self, tokenize: Tokenize, *, longest: int = LONGEST) -> None:
        super().__init__()
        self.tokenize = tokenize
        self.longest = longest

    def train(self, mode: bool = True) -> Self:
        """Set the mode of the trained modules; the frozen one stays in evaluation mode."""
        super().train(mode)
        if self.frozen:
            self.get_submodule(self.frozen).eval()
        return self

    def tokens(self, text: str) -> list[str]:
        """Split a text into tokens, at least one and at most `longest`."""
        return self.tokenize(text)[: self.longest] or [""]

    @abstractmethod
    def prepare(self, texts: Sequence[str]) -> list[Any]:
        """Prepare each text for `collate`; an item's `len` is its number of tokens."""

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> Any:
        """Collate prepared texts into one batch, tensors on the CPU."""

    @abstractmethod
    def forward(self, batch: Any) -> EmbeddedTokens:
        """The vectors of a collated batch."""


class TokenIds(NamedTuple):
    """Ids of the tokens of a batch."""

    ids: Tensor
    """(batch, length), 0 after the end."""
    lengths: Tensor
    """(batch,)."""
    packed: PackedOrder


class TableVectors(TokenVectors):
    """Rows of a frozen table, as of GloVe; one row for each word of the vocabulary."""

    table: Tensor

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: NDArray[np.float32],
        tokenize: Tokenize,
        *,
        longest: int = LONGEST,
    ) -> None:
        super().__init__(tokenize, longest=longest)
        if len(table) != len(vocabulary):
            raise ValueError(f"a table of {len(table)} rows for a vocabulary of {len(vocabulary)} words")
        self.vocabulary = vocabulary
        self.dim = table.shape[1]
        self.register_buffer("table", torch.from_numpy(table))

    def prepare(self, texts: Sequence[str]) -> list[Any]:
        """Ids of the tokens, as arrays."""
        return [np.array(self.vocabulary.ids(self.tokens(text)), dtype=np.int32) for text in texts]

    def collate(self, items: Sequence[Any]) -> TokenIds:
        """Stack ids, padded to the longest text."""
        lengths = [len(item) for item in items]
        ids = np.full((len(items), max(lengths)), PAD, dtype=np.int32)
        for row, item, length in zip(ids, items, lengths, strict=True):
            row[:length] = item
        return TokenIds(torch.from_numpy(ids), torch.tensor(lengths), packing(lengths))

    def forward(self, batch: TokenIds) -> EmbeddedTokens:
        """Look up vectors time-major, as an LSTM expects its input; transpose the result for the caller."""
        vectors = functional.embedding(batch.ids.T, self.table).transpose(0, 1)
        return EmbeddedTokens(vectors, batch.lengths, batch.packed)


class ScalarMix(nn.Module):
    """gamma times the softmax-weighted sum of layers (Peters et al. 2018), initially all equal."""

    def __init__(self, layers: int = 3) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Mix layers (layers, ...) into (...)."""
        mixed = torch.tensordot(self.weights.softmax(dim=0).to(layers.dtype), layers, dims=1)
        return torch.mul(self.gamma, mixed)


class ElmoVectors(TokenVectors):
    """ELMo's three layers mixed by trained weights, one mix for all tasks; the language model is frozen.

    `elmo` numbers the tokens of a sentence (`numbers`), makes a batch of such sentences (`batch`, tensors on
    the CPU), and maps it to its layers (3, batch, length, dim) and the lengths. If it carries its state from
    batch to batch, set `carry`: the order of the sentences is then kept.
    """

    frozen = "elmo"

    def __init__(
        self,
        elmo: Any,
        dim: int,
        tokenize: Tokenize,
        *,
        dropout: float = 0.5,
        carry: bool = False,
        longest: int = LONGEST,
    ) -> None:
        super().__init__(tokenize, longest=longest)
        self.elmo = elmo.requires_grad_(False)
        self.mix = ScalarMix()
        self.dropout = nn.Dropout(dropout)
        self.dim = dim
        self.in_order = carry

    def prepare(self, texts: Sequence[str]) -> list[Any]:
        """Numbers of the tokens; ELMo keeps the characters of each distinct one."""
        return [self.elmo.numbers(self.tokens(text)) for text in texts]

    def collate(self, items: Sequence[Any]) -> tuple[Any, PackedOrder]:
        """ELMo's batch of the sentences, and their lengths."""
        return self.elmo.batch(items), packing([len(item) for item in items])

    def forward(self, batch: tuple[Any, PackedOrder]) -> EmbeddedTokens:
        """The mix of the layers, with dropout."""
        with torch.no_grad():
            layers, lengths = self.elmo(batch[0])
        return EmbeddedTokens(self.dropout(self.mix(layers)), lengths, batch[1])


class CoveVectors(TokenVectors):
    """A table's vectors concatenated with CoVe's, both frozen.

    `cove` maps vectors (batch, length, 300), lengths and their packing to (batch, length, 600).
    """

    frozen = "cove"

    def __init__(self, words: TokenVectors, cove: nn.Module, *, dim: int = 600) -> None:
        super().__init__(words.tokenize, longest=words.longest)
        self.words = words
        self.cove = cove.requires_grad_(False)
        self.dim = words.dim + dim
        self.in_order = words.in_order

    def prepare(self, texts: Sequence[str]) -> list[Any]:
        """As the words' own vectors want it."""
        return self.words.prepare(texts)

    def collate(self, items: Sequence[Any]) -> Any:
        """As the words' own vectors want it."""
        return self.words.collate(items)

    def forward(self, batch: Any) -> EmbeddedTokens:
        """Concatenate each word's vector and CoVe's."""
        embedded: EmbeddedTokens = self.words(batch)
        with torch.no_grad():
            context = self.cove(*embedded)
        return embedded._replace(vectors=torch.cat([embedded.vectors, context], dim=2))
