"""The paper's sentence encoders (B.1): a BiLSTM with max pooling, alone or with attention between a pair."""

from collections.abc import Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from gluebench.systems.devices import DeviceError
from gluebench.systems.neural.model import Body
from gluebench.systems.neural.token_vectors import EmbeddedTokens, TokenVectors
from gluebench.systems.weights.recurrent import PackedOrder, max_pool, real, run


class AttendedStates(NamedTuple):
    """States of both sentences, each concatenated with its attention-weighted sum of the other's."""

    first: Tensor
    """(batch, first length, 2 dim)."""
    second: Tensor
    """(batch, second length, 2 dim)."""


def attend(first: Tensor, second: Tensor, first_lengths: Tensor, second_lengths: Tensor) -> AttendedStates:
    """[u_i; sum_j a_ij v_j] and [v_j; sum_i b_ij u_i], where a and b are softmaxes of the products u_i . v_j.

    The products are not scaled; only real tokens are attended to. States are (batch, length, dim), lengths
    (batch,) and at least 1. Values after a sentence's end are undefined.
    """
    products = first @ second.transpose(1, 2)
    in_first = real(first_lengths, first.shape[1]).unsqueeze(2)
    in_second = real(second_lengths, second.shape[1]).unsqueeze(1)
    of_first = products.masked_fill(~in_second, float("-inf")).softmax(dim=2)
    of_second = products.masked_fill(~in_first, float("-inf")).softmax(dim=1)
    return AttendedStates(
        torch.cat([first, of_first @ second], dim=2),
        torch.cat([second, of_second.transpose(1, 2) @ first], dim=2),
    )


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u - v|; u * v] of rows u and v (B.1): (batch, dim) twice to (batch, 4 dim)."""
    return torch.cat([first, second, (first - second).abs(), first * second], dim=1)


class BiLstm(nn.Module):
    """Layers of LSTMs in both directions, with PyTorch's initial weights and no dropout between layers.

    On CUDA it runs as one packed nn.LSTM. On a CPU packed input cannot use the fast kernels, so each layer
    and direction runs by itself over the padded batch, the backward one on sentences reversed one by one: it
    then meets the padding last, as the forward one does. The weights are the same nn.LSTM's in both cases.
    """

    def __init__(self, dim: int, hidden: int, *, layers: int = 2) -> None:
        super().__init__()
        self.lstm = nn.LSTM(dim, hidden, layers, batch_first=True, bidirectional=True)
        self.dim = 2 * hidden

    def forward(self, states: Tensor, lengths: Tensor, packed: PackedOrder | None = None) -> Tensor:
        """States of the last layer, forward then backward, zero after the end of a sentence.

        From (batch, length, dim) to (batch, length, 2 hidden); lengths (batch,) are at least 1. A GPU takes
        them from `packed`.
        """
        if states.is_cuda:
            return run(self.lstm, states, lengths, packed)[0]
        return self._reversing(states, lengths)

    def _reversing(self, states: Tensor, lengths: Tensor) -> Tensor:
        longest = states.shape[1]
        steps = states.transpose(0, 1)  # (length, batch, dim), as the kernels want it
        device = lengths.device
        texts = len(lengths)
        places = torch.arange(longest, device=device).unsqueeze(1)  # (length, 1)
        sources = torch.where(places < lengths, lengths - 1 - places, places)
        # flat index into (length, batch) that reverses each sentence
        mirror = (sources * texts + torch.arange(texts, device=device)).flatten()
        reverse = partial(_ReverseSentences.apply, mirror)
        for layer in range(self.lstm.num_layers):
            forward = self._direction(steps, f"_l{layer}")
            backward = self._direction(reverse(steps), f"_l{layer}_reverse")
            steps = torch.cat([forward, reverse(backward)], dim=2)
        padded = ~real(lengths, longest).transpose(0, 1).unsqueeze(2)
        return steps.masked_fill(padded, 0.0).transpose(0, 1)

    def _direction(self, steps: Tensor, suffix: str) -> Tensor:
        """One layer in one direction: (length, batch, dim) to (length, batch, hidden)."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(self.lstm, name + suffix) for name in names]
        start = steps.new_zeros(1, steps.shape[1], self.lstm.hidden_size)
        try:
            outputs, _, _ = torch.lstm(
                steps, [start, start], weights, True, 1, 0.0, self.training, False, False
            )
        except RuntimeError as error:
            if "primitive" not in str(error):
                raise
            raise DeviceError("this CPU cannot compute LSTMs in bfloat16; choose fp32") from error
        return outputs


class _ReverseSentences(torch.autograd.Function):
    """Reversal of every sentence of (length, batch, dim).

    It is its own inverse, so the gradient is reversed too; this is faster than the gradient of indexing.
    """

    @staticmethod
    def forward(ctx: Any, mirror: Tensor, steps: Tensor) -> Tensor:
        ctx.save_for_backward(mirror)
        return _take_rows(steps, mirror)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (mirror,) = ctx.saved_tensors
        return None, _take_rows(gradients[0], mirror)


def _take_rows(steps: Tensor, mirror: Tensor) -> Tensor:
    return steps.reshape(-1, steps.shape[2]).index_select(0, mirror).view(steps.shape)


def groups(lengths: Sequence[int], *, step: int) -> list[int]:
    """Split sentences, sorted by length, into the cheapest groups; return the bounds.

    A group costs its longest length times (its sentences + step): `step` is the fixed cost of a time step, in
    units of one sentence's work.
    """
    bounds = [0]
    for at in range(1, len(lengths)):
        if lengths[at] != lengths[at - 1]:  # a cut saves work only where the length changes
            bounds.append(at)
    bounds.append(len(lengths))
    best: list[tuple[float, int]] = [(0, 0)]  # cost up to each bound, and where its last group begins
    for at, end in enumerate(bounds[1:], 1):
        width = lengths[end - 1]
        costs = []
        for begin in range(at):
            of_group = width * (end - bounds[begin] + step)
            costs.append((best[begin][0] + of_group, begin))
        best.append(min(costs))
    cuts = [len(bounds) - 1]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return [bounds[cut] for cut in reversed(cuts)]


STEP_COST = 4
"""Fixed cost of a time step, in units of one sentence's work, while weights stay in the cache."""
LARGE = 512
"""Hidden size above which a time step costs four times that, as its weights leave the cache."""


class Sentences(NamedTuple):
    """A batch of examples as their sentences, in groups of like lengths."""

    groups: tuple[Any, ...]
    """Collated sentences; without regrouping, one group for each side of the pairs."""
    order: Tensor | None
    """Position in the groups of each sentence (first sides, then second sides); None: in order."""
    texts: int


class BiLstmBody(Body):
    """Vectors, BiLSTM, max pooling, and for pairs [u; v; |u - v|; u * v]; with attention as in B.1.

    Dropout applies to the token vectors and to the states before pooling, never between layers. With
    attention, a pair's states are used without dropout; it applies to the input and output of the second
    BiLSTM. Single sentences use the first BiLSTM alone.
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
        self.modeling = BiLstm(2 * self.encoder.dim, hidden, layers=1) if attention else None
        self.dropout = nn.Dropout(dropout)
        self.pool_padding = pool_padding
        self.dims = {1: self.encoder.dim, 2: 4 * self.encoder.dim}

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        """Prepare each example's sentences for the token vectors."""
        texts = list(dict.fromkeys(chain.from_iterable(inputs)))
        known = dict(zip(texts, self.vectors.prepare(texts), strict=True))
        return [tuple(known[text] for text in example) for example in inputs]

    def lengths(self, item: Any) -> tuple[int, ...]:
        """Count the tokens of each sentence of an example."""
        return tuple(len(sentence) for sentence in item)

    def collate(self, items: Sequence[Any]) -> Sentences:
        """Collate the examples' sentences, regrouped by length if that affects speed only."""
        sides = list(zip(*items, strict=True))
        if len(sides) not in self.dims:
            raise ValueError(f"an example of {len(sides)} texts; expected one or two")
        attends = self.modeling is not None and len(sides) == 2
        if attends or self.pool_padding or self.vectors.in_order:
            return Sentences(tuple(self.vectors.collate(side) for side in sides), None, len(sides))
        sentences = list(chain.from_iterable(sides))
        lengths = np.array([len(sentence) for sentence in sentences])
        by_length = np.argsort(lengths, kind="stable")
        lstm = self.encoder.lstm
        if lstm.weight_ih_l0.is_cuda:  # cuDNN packs the sentences itself
            cuts = [0, len(lengths)]
        else:
            step = 4 * STEP_COST if lstm.hidden_size > LARGE else STEP_COST
            cuts = groups(lengths[by_length].tolist(), step=step)
        parts = []
        for start, end in pairwise(cuts):
            group = [sentences[at] for at in by_length[start:end]]
            parts.append(self.vectors.collate(group))
        return Sentences(tuple(parts), torch.from_numpy(np.argsort(by_length)), len(sides))

    def forward(self, batch: Sentences) -> Tensor:
        """Features (batch, dims[texts])."""
        if self.modeling is None or batch.texts == 1:
            pooled = torch.cat([self._pool(self._states(group)) for group in batch.groups])
            if batch.order is not None:
                pooled = pooled[batch.order]
            if batch.texts == 1:
                return pooled
            first, second = pooled.chunk(2)
            return pair_features(first, second)
        pair = [self._states(group) for group in batch.groups]
        attended = attend(pair[0].vectors, pair[1].vectors, pair[0].lengths, pair[1].lengths)
        sides = []
        for states, side in zip(attended, pair, strict=True):
            modeled = self.modeling(self.dropout(states), *side[1:])
            sides.append(self._pool(side._replace(vectors=modeled)))
        return pair_features(sides[0], sides[1])

    def _states(self, group: Any) -> EmbeddedTokens:
        """Encode a group of sentences, without dropout after the BiLSTM."""
        given: EmbeddedTokens = self.vectors(group)
        return given._replace(vectors=self.encoder(self.dropout(given.vectors), *given[1:]))

    def _pool(self, states: EmbeddedTokens) -> Tensor:
        return max_pool(self.dropout(states.vectors), states.lengths, padding=self.pool_padding)
