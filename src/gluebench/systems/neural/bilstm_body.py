"""The paper's sentence encoders: a BiLSTM with max pooling, alone or with attention between a pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.neural.attention import attend
from gluebench.systems.neural.bilstm import BiLstm
from gluebench.systems.neural.body import Body
from gluebench.systems.neural.features import pair_features
from gluebench.systems.neural.groups import groups
from gluebench.systems.neural.pooling import max_pool
from gluebench.systems.neural.token_vectors import Embedded, TokenVectors

STEP_COST = 4
"""What a time step costs beside its sentences' own work, in sentences, while weights stay in the cache."""
LARGE = 512
"""Width from which on a time step costs four times that: it has to fetch its weights."""


class Sentences(NamedTuple):
    """A batch of examples as their sentences, in groups of like lengths."""

    groups: tuple[Any, ...]
    """Collated sentences; the two sides of the pairs where they are not regrouped."""
    order: Tensor | None
    """Where each sentence (the first ones, then the second ones) stands in the groups; None: in order."""
    texts: int


class BiLstmBody(Body):
    """Vectors, BiLSTM, max pooling, and for pairs [u; v; |u - v|; u * v]; with attention as in B.1.

    Dropout falls on the token vectors and on the states before they are pooled, never between layers. With
    attention the states of a pair are attended to as they are; dropout falls on what the second BiLSTM takes
    and on what it gives. Single sentences pass through the first one alone.
    """

    def __init__(
        self,
        vectors: TokenVectors,
        hidden: int = 1500,
        *,
        layers: int = 2,
        attention: bool = False,
        dropout: float = 0.2,
        pool_padding: bool = False,
    ) -> None:
        super().__init__()
        self.vectors = vectors
        self.encoder = BiLstm(vectors.dim, hidden, layers=layers)
        self.modelling = BiLstm(2 * self.encoder.dim, hidden, layers=1) if attention else None
        self.dropout = nn.Dropout(dropout)
        self.pool_padding = pool_padding
        self.dims = {1: self.encoder.dim, 2: 4 * self.encoder.dim}

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        """Each example's sentences as the token vectors want them."""
        texts = list(dict.fromkeys(text for example in inputs for text in example))
        known = dict(zip(texts, self.vectors.prepare(texts), strict=True))
        return [tuple(known[text] for text in example) for example in inputs]

    def size(self, item: Any) -> int:
        """Tokens of all sentences of an example."""
        return sum(len(sentence) for sentence in item)

    def lengths(self, item: Any) -> tuple[int, ...]:
        """Tokens of each sentence of an example."""
        return tuple(len(sentence) for sentence in item)

    def collate(self, items: Sequence[Any]) -> Sentences:
        """The examples' sentences, regrouped by length where nothing but speed depends on it."""
        sides = list(zip(*items, strict=True))
        if len(sides) not in self.dims:
            raise ValueError(f"an example of {len(sides)} texts; expected one or two")
        if not self._may_regroup(len(sides)):
            return Sentences(tuple(self.vectors.collate(side) for side in sides), None, len(sides))
        sentences = [sentence for side in sides for sentence in side]
        lengths = np.array([len(sentence) for sentence in sentences])
        by_length = np.argsort(lengths, kind="stable")
        cuts = groups(lengths[by_length].tolist(), step=self._step())
        parts = [
            self.vectors.collate([sentences[at] for at in by_length[start:end]])
            for start, end in pairwise(cuts)
        ]
        return Sentences(tuple(parts), torch.from_numpy(np.argsort(by_length)), len(sides))

    def forward(self, batch: Sentences) -> Tensor:
        """Features (batch, dims[texts])."""
        if self.modelling is not None and batch.texts == 2:
            return pair_features(*self._attended(self.modelling, batch))
        pooled = torch.cat([self._vector(group) for group in batch.groups])
        pooled = pooled if batch.order is None else pooled[batch.order]
        return pair_features(*pooled.chunk(2)) if batch.texts == 2 else pooled

    def _may_regroup(self, texts: int) -> bool:
        together = self.modelling is not None and texts == 2
        return not (together or self.pool_padding or self.vectors.in_order)

    def _step(self) -> int | None:
        """One group where cuDNN packs the sentences itself."""
        if self.encoder.lstm.weight_ih_l0.is_cuda:
            return None
        return STEP_COST * (4 if self.encoder.lstm.hidden_size > LARGE else 1)

    def _states(self, group: Any) -> Embedded:
        """States of the sentences of a group, without dropout after the BiLSTM."""
        vectors, lengths = self.vectors(group)
        return Embedded(self.encoder(self.dropout(vectors), lengths), lengths)

    def _vector(self, group: Any) -> Tensor:
        return self._pooled(*self._states(group))

    def _pooled(self, states: Tensor, lengths: Tensor) -> Tensor:
        return max_pool(self.dropout(states), lengths, padding=self.pool_padding)

    def _attended(self, modelling: BiLstm, batch: Sentences) -> list[Tensor]:
        first, second = (self._states(group) for group in batch.groups)
        attended = attend(first.vectors, second.vectors, first.lengths, second.lengths)
        return [
            self._pooled(modelling(self.dropout(states), lengths), lengths)
            for states, lengths in zip(attended, (first.lengths, second.lengths), strict=True)
        ]
