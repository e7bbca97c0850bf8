"""The paper's sentence encoders: a BiLSTM with max pooling, alone or with attention between a pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.neural.bilstm import BiLstm, attend, max_pool, pair_features
from gluebench.systems.neural.body import Body
from gluebench.systems.neural.token_vectors import Embedded, TokenVectors


def groups(lengths: Sequence[int], *, step: int | None) -> list[int]:
    """The bounds of the cheapest groups, from 0 to the number of sentences.

    A group costs its longest length times (its sentences + step): `step` is what one time step costs beside
    the sentences' own work, in sentences. With None nothing is cut.
    """
    if step is None:
        return [0, len(lengths)]
    # only where the length changes can a cut save anything
    bounds = [0, *(at for at, (one, two) in enumerate(pairwise(lengths), 1) if one != two), len(lengths)]
    best: list[tuple[float, int]] = [(0, 0)]  # cost up to each bound, and where its last group begins
    for at, end in enumerate(bounds[1:], 1):
        width = lengths[end - 1]
        best.append(
            min((best[begin][0] + width * (end - bounds[begin] + step), begin) for begin in range(at))
        )
    cuts = [len(bounds) - 1]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return [bounds[cut] for cut in reversed(cuts)]


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
