"""CoVe: the two-layer LSTM of a translation model's encoder, which puts GloVe vectors into their context."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from gluebench.systems.weights.recurrent import Packing, read_network, run
from gluebench.systems.weights.state import read_state


class Cove(nn.Module):
    """The frozen encoder: from word vectors of width `inputs` to one of width `dim` for each token."""

    def __init__(self, network: nn.LSTM) -> None:
        super().__init__()
        self.inputs, self.dim = network.input_size, 2 * network.hidden_size
        self.network = network

    @classmethod
    def from_file(cls, path: Path) -> Cove:
        """Read the state dict of the published encoder (`wmtlstm-8f474287.pth`). Raises WeightsError."""
        return cls(read_network(path, "CoVe", read_state(path), nn.LSTM, inputs=300, hidden=300, layers=2))

    def forward(self, vectors: Tensor, lengths: Tensor, packed: Packing | None = None) -> Tensor:
        """From word vectors (batch, length, inputs) to (batch, length, dim), zero after each end."""
        return run(self.network, vectors, lengths, packed)[0]
