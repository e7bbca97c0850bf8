"""InferSent, and DisSent which has its form: a wide two-way LSTM over word vectors, maximum over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from gluebench.systems.weights import WeightsError
from gluebench.systems.weights.module import SavedModule, read_module
from gluebench.systems.weights.recurrent import Padding, largest, run
from gluebench.systems.weights.state import (
    MoreThanTensorsError,
    axis,
    check_shapes,
    read_state,
    recurrent_shapes,
    shapes,
)

PREFIX = "enc_lstm."


class InferSent(nn.Module):
    """The frozen encoder: from word vectors of width `inputs` to one of width `dim` for each sentence."""

    def __init__(self, inputs: int = 300, hidden: int = 2048) -> None:
        super().__init__()
        self.inputs, self.dim = inputs, 2 * hidden
        self.network = nn.LSTM(inputs, hidden, bidirectional=True, batch_first=True)
        self.requires_grad_(False)

    @classmethod
    def from_file(cls, path: Path) -> InferSent:
        """Read `infersent1.pkl`, `infersent2.pkl`, or a module saved whole.

        Whole modules are `infersent.allnli.pickle`, and DisSent's `dis-model.pickle.encoder` or
        `dis-model.pickle`, of which the classifier is left out. Raises WeightsError.
        """
        try:
            state: Mapping[str, Tensor] = read_state(path)
        except MoreThanTensorsError:
            state = _encoder(path, read_module(path))
        sizes = shapes(state)
        inputs = axis(sizes, f"{PREFIX}weight_ih_l0", 1, default=300)
        hidden = axis(sizes, f"{PREFIX}weight_hh_l0", 1, default=2048)
        check_shapes(path, "InferSent or DisSent", sizes, recurrent_shapes(4, inputs, hidden, prefix=PREFIX))
        model = cls(inputs, hidden)
        model.network.load_state_dict({name.removeprefix(PREFIX): tensor for name, tensor in state.items()})
        return model

    def forward(self, vectors: Tensor, lengths: Tensor, padding: Padding = "mask") -> Tensor:
        """From word vectors (batch, length, inputs) to (batch, dim).

        InferSent 1 and DisSent were published with "zero": the zeros after a short sentence's end count in
        its maximum, so that its vector depends on the longest sentence of the batch. InferSent 2 masks.
        """
        outputs, _ = run(self.network, vectors, lengths)
        return largest(outputs, lengths, padding)


def _encoder(path: Path, module: SavedModule) -> dict[str, Tensor]:
    """The encoder's tensors of a whole module. Raises WeightsError for a form that is not read."""
    tied, pool = module.settings.get("tied_weights"), module.settings.get("pool_type", "max")
    if tied or pool != "max":
        raise WeightsError(
            f"{path}: a {module.name} with tied_weights {tied}, pool_type {pool}; expected False and max"
        )
    inside = {
        name.removeprefix("encoder."): tensor
        for name, tensor in module.tensors.items()
        if name.startswith("encoder.")
    }
    return inside or module.tensors
