"""Recurrent networks: read from a file of weights, and run over batches of sentences of unequal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_args

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gluebench.systems.weights.state import axis, check_shapes, read_state, shapes

Padding = Literal["mask", "zero"]
"""How a maximum over time treats positions after a sentence's end: ignored, or counted as zeros."""
Network = TypeVar("Network", nn.LSTM, nn.GRU)


def read_network(
    path: Path,
    title: str,
    state: Mapping[str, Tensor],
    kind: type[Network],
    *,
    inputs: int,
    hidden: int,
    layers: int = 1,
    prefix: str = "",
    tables: Mapping[str, int] | None = None,
) -> Network:
    """The frozen bidirectional network of a state dict whose names begin with `prefix`.

    `inputs` and `hidden` are the published sizes, for the message about a file without them; `tables` are
    word vectors beside the network, with their number of rows. Raises WeightsError for other shapes.
    """
    sizes = shapes(state)
    inputs = axis(sizes, f"{prefix}weight_ih_l0", 1, default=inputs)
    hidden = axis(sizes, f"{prefix}weight_hh_l0", 1, default=hidden)
    with torch.device("meta"):  # the shapes alone: a damaged file may have sizes that do not fit in memory
        network = kind(inputs, hidden, num_layers=layers, bidirectional=True, batch_first=True)
    names = {name: f"{prefix}{name}" for name in network.state_dict()}
    expected = {names[name]: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_shapes(
        path, title, sizes, expected | {name: (rows, inputs) for name, rows in (tables or {}).items()}
    )
    network.to_empty(device="cpu").load_state_dict({name: state[full] for name, full in names.items()})
    return network.requires_grad_(False)


class PackedOrder(NamedTuple):
    """How a batch is packed for a recurrent network: counted on the CPU, so that no GPU is waited for."""

    order: Tensor
    """Positions of the sentences, the longest first."""
    inverse: Tensor
    """Place of each sentence in that order."""
    lengths: list[int]
    """Lengths in that order, at least 1; they stay on the CPU."""


def packing(lengths: Sequence[int]) -> PackedOrder:
    """The packing of sentences of these lengths."""
    order = torch.tensor(lengths).argsort(descending=True, stable=True)
    return PackedOrder(order, order.argsort(), [max(1, lengths[at]) for at in order.tolist()])


def run(
    network: nn.LSTM | nn.GRU, inputs: Tensor, lengths: Tensor, packed: PackedOrder | None = None
) -> tuple[Tensor, Tensor]:
    """Outputs (batch, length, width), zero after each end; last states (layers x directions, batch, hidden).

    The backward direction starts at each sentence's true end. A sentence of length 0 has zeros throughout.
    Without a `packed` made beforehand, the lengths are read back from their device.
    """
    batch, length = inputs.shape[:2]
    if batch == 0 or length == 0:
        directions = 2 if network.bidirectional else 1
        outputs = inputs.new_zeros(batch, length, directions * network.hidden_size)
        return outputs, inputs.new_zeros(directions * network.num_layers, batch, network.hidden_size)
    order, inverse, ends = packed or packing(lengths.tolist())
    order = order.to(inputs.device)
    inverse = inverse.to(inputs.device)
    ran, state = network(pack_padded_sequence(inputs.index_select(0, order), ends, batch_first=True))
    last = (state[0] if isinstance(state, tuple) else state).index_select(1, inverse)
    outputs = pad_packed_sequence(ran, batch_first=True, total_length=length)[0].index_select(0, inverse)
    some = (lengths > 0).to(inputs.device)
    return outputs * some[:, None, None], last * some[None, :, None]


def real(lengths: Tensor, longest: int) -> Tensor:
    """Return the mask of positions that hold a token: (batch, longest) from the lengths (batch,)."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def max_pool(states: Tensor, lengths: Tensor, *, padding: bool = False) -> Tensor:
    """Return the maximum over the real tokens: (batch, length, dim) to (batch, dim); lengths at least 1.

    With `padding`, positions after a sequence's end count as zeros, as in InferSent 1: a vector then depends
    on the longest sequence of its batch.
    """
    filler = 0.0 if padding else float("-inf")
    padded = ~real(lengths, states.shape[1]).unsqueeze(2)
    return states.masked_fill(padded, filler).max(dim=1).values


def largest(outputs: Tensor, lengths: Tensor, padding: Padding) -> Tensor:
    """The same maximum, also of no time steps: zeros for length 0."""
    if padding not in get_args(Padding):
        raise ValueError(f'padding is "{padding}"; expected one of {", ".join(get_args(Padding))}')
    if outputs.shape[1] == 0:
        return outputs.new_zeros(outputs.shape[0], outputs.shape[2])
    lengths = lengths.to(outputs.device)
    best = max_pool(outputs, lengths, padding=padding == "zero")
    return best.masked_fill((lengths == 0)[:, None], 0.0)


class Cove(nn.Module):
    """CoVe: the frozen encoder of a translation model, which puts GloVe vectors into their context."""

    def __init__(self, network: nn.LSTM) -> None:
        super().__init__()
        self.inputs = network.input_size
        self.dim = 2 * network.hidden_size
        self.network = network

    @classmethod
    def from_file(cls, path: Path) -> Cove:
        """Read the state dict of the published encoder (`wmtlstm-8f474287.pth`). Raises WeightsError."""
        return cls(read_network(path, "CoVe", read_state(path), nn.LSTM, inputs=300, hidden=300, layers=2))

    def forward(self, vectors: Tensor, lengths: Tensor, packed: PackedOrder | None = None) -> Tensor:
        """From word vectors (batch, length, inputs) to (batch, length, dim), zero after each end."""
        return run(self.network, vectors, lengths, packed)[0]
