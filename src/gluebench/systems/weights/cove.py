"""CoVe: the two-layer LSTM of a translation model's encoder, which puts GloVe vectors into their context."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from gluebench.systems.weights.recurrent import run
from gluebench.systems.weights.state import axis, check_shapes, read_state, recurrent_shapes, shapes


class Cove(nn.Module):
    """The frozen encoder: from word vectors of width `inputs` to one of width `dim` for each token."""

    def __init__(self, inputs: int = 300, hidden: int = 300) -> None:
        super().__init__()
        self.inputs, self.dim = inputs, 2 * hidden
        self.network = nn.LSTM(inputs, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.requires_grad_(False)

    @classmethod
    def from_file(cls, path: Path) -> Cove:
        """Read the state dict of the published encoder (`wmtlstm-8f474287.pth`). Raises WeightsError."""
        state = read_state(path)
        sizes = shapes(state)
        inputs = axis(sizes, "weight_ih_l0", 1, default=300)
        hidden = axis(sizes, "weight_hh_l0", 1, default=300)
        check_shapes(path, "CoVe", sizes, recurrent_shapes(4, inputs, hidden, layers=2))
        model = cls(inputs, hidden)
        model.network.load_state_dict(state)
        return model

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """From word vectors (batch, length, inputs) to (batch, length, dim), zero after each end."""
        return run(self.network, vectors, lengths)[0]
