"""The parts of the paper's encoders: BiLSTM, max pooling, attention and the features of a pair (B.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def real(lengths: Tensor, longest: int) -> Tensor:
    """Which places hold a token: (batch, longest) booleans from the lengths (batch,)."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def max_pool(states: Tensor, lengths: Tensor, *, padding: bool = False) -> Tensor:
    """The largest value over the real tokens: (batch, length, dim) to (batch, dim); lengths at least 1.

    With `padding`, a zero counts for the places after the end of a sequence, as in InferSent 1: a vector then
    depends on the longest sequence of its batch.
    """
    filler = 0.0 if padding else float("-inf")
    padded = ~real(lengths, states.shape[1]).unsqueeze(2)
    return states.masked_fill(padded, filler).max(dim=1).values


class Attended(NamedTuple):
    """States of both sentences, each with what it attends to in the other behind it."""

    first: Tensor
    """(batch, first length, 2 dim)."""
    second: Tensor
    """(batch, second length, 2 dim)."""


def attend(first: Tensor, second: Tensor, first_lengths: Tensor, second_lengths: Tensor) -> Attended:
    """[u_i; sum_j a_ij v_j] and [v_j; sum_i b_ij u_i], where a and b are softmaxes of the products u_i . v_j.

    The products are not scaled; only real tokens are attended to. States are (batch, length, dim), lengths
    (batch,) and at least 1. What stands after the end of a sentence means nothing.
    """
    products = first @ second.transpose(1, 2)
    in_first = real(first_lengths, first.shape[1]).unsqueeze(2)
    in_second = real(second_lengths, second.shape[1]).unsqueeze(1)
    of_first = products.masked_fill(~in_second, float("-inf")).softmax(dim=2)
    of_second = products.masked_fill(~in_first, float("-inf")).softmax(dim=1)
    return Attended(
        torch.cat([first, of_first @ second], dim=2),
        torch.cat([second, of_second.transpose(1, 2) @ first], dim=2),
    )


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u - v|; u * v] of rows u and v (B.1): (batch, dim) twice to (batch, 4 dim)."""
    return torch.cat([first, second, (first - second).abs(), first * second], dim=1)


class BiLstm(nn.Module):
    """Layers of LSTMs in both directions, with PyTorch's initial weights and no dropout between layers.

    On CUDA it runs as one packed nn.LSTM. On a processor packed input leaves the fast kernels, so each layer
    and direction runs by itself over the padded batch, the backward one on sentences reversed one by one: it
    then meets the padding last, as the forward one does. The weights are the same nn.LSTM's in both cases.
    """

    def __init__(self, dim: int, hidden: int, *, layers: int = 2) -> None:
        super().__init__()
        self.lstm = nn.LSTM(dim, hidden, layers, batch_first=True, bidirectional=True)
        self.dim = 2 * hidden

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """States of the last layer, forward then backward, zero after the end of a sentence.

        From (batch, length, dim) to (batch, length, 2 hidden); lengths (batch,) are at least 1.
        """
        return self._packed(states, lengths) if states.is_cuda else self._reversing(states, lengths)

    def _packed(self, states: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, _ = self.lstm(packed)
        unpacked, _ = pad_packed_sequence(outputs, batch_first=True, total_length=states.shape[1])
        return unpacked

    def _reversing(self, states: Tensor, lengths: Tensor) -> Tensor:
        longest = states.shape[1]
        steps = states.transpose(0, 1)  # (length, batch, dim), as the kernels want it
        mirror = _mirror(lengths, longest)
        for layer in range(self.lstm.num_layers):
            ahead = self._direction(steps, f"_l{layer}")
            back = self._direction(_reversed(steps, mirror), f"_l{layer}_reverse")
            steps = torch.cat([ahead, _reversed(back, mirror)], dim=2)
        padded = ~real(lengths, longest).transpose(0, 1).unsqueeze(2)
        return steps.masked_fill(padded, 0.0).transpose(0, 1)

    def _direction(self, steps: Tensor, suffix: str) -> Tensor:
        """One layer in one direction: (length, batch, dim) to (length, batch, hidden)."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(self.lstm, name + suffix) for name in names]
        start = steps.new_zeros(1, steps.shape[1], self.lstm.hidden_size)
        outputs, _, _ = torch.lstm(steps, [start, start], weights, True, 1, 0.0, self.training, False, False)
        return outputs


def _mirror(lengths: Tensor, longest: int) -> Tensor:
    """Where each place of (length, batch), rows counted through, comes from when sentences are reversed."""
    device = lengths.device
    places = torch.arange(longest, device=device).unsqueeze(1)  # (length, 1)
    sources = torch.where(places < lengths, lengths - 1 - places, places)
    return (sources * len(lengths) + torch.arange(len(lengths), device=device)).flatten()


def _reversed(steps: Tensor, mirror: Tensor) -> Tensor:
    """Every sentence of (length, batch, dim) reversed."""
    result: Tensor = _Reversed.apply(steps, mirror)  # type: ignore[no-untyped-call]
    return result


class _Reversed(torch.autograd.Function):
    """Its own inverse, so its derivative is itself, and quicker than that of indexing."""

    @staticmethod
    def forward(ctx: Any, steps: Tensor, mirror: Tensor) -> Tensor:
        ctx.save_for_backward(mirror)
        return _rows(steps, mirror)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (mirror,) = ctx.saved_tensors
        return _rows(gradients[0], mirror), None


def _rows(steps: Tensor, mirror: Tensor) -> Tensor:
    return steps.reshape(-1, steps.shape[2]).index_select(0, mirror).view(steps.shape)
