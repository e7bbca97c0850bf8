"""An LSTM with a projection whose cells and outputs are clipped, as ELMo's are."""

import math
from typing import Any

import torch
from torch import Tensor, nn

STEPS = 32
"""Time steps whose inputs are multiplied at once: a bound on memory, without effect on the result."""
State = tuple[Tensor, Tensor]
"""Hidden (2, batch, projection) and cell (2, batch, dim) of one layer, forward direction first; in one
direction without the first axis."""


class ClippedLstm(nn.Module):
    """One layer in one direction: an LSTM with a projection, its cells and its outputs clipped."""

    def __init__(
        self,
        matrix: Tensor,
        offset: Tensor,
        project: Tensor,
        *,
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> None:
        """Weights in the layouts of ELMo's file: W_0, B and W_P_0."""
        super().__init__()
        dim, projection = project.shape
        self.cell_clip = math.inf if cell_clip is None else cell_clip
        self.projection_clip = math.inf if projection_clip is None else projection_clip
        self.fits = projection < dim
        """Whether PyTorch's LSTM takes these sizes."""
        self.lstm: Any = nn.Module()
        if self.fits:
            with torch.device("meta"):  # the weights follow
                self.lstm = nn.LSTM(projection, dim, proj_size=projection, batch_first=True)
        # The file has the gates in the order in, new, forget, out, PyTorch in, forget, new, out; TensorFlow
        # adds 1 to the forget gate when it runs.
        new_in, new, forget, out = matrix.T.chunk(4)
        gates = torch.cat([new_in, forget, new, out])
        new_in, new, forget, out = offset.chunk(4)
        own = {
            "weight_ih_l0": gates[:, :projection],
            "weight_hh_l0": gates[:, projection:],
            "bias_ih_l0": torch.cat([new_in, forget + 1.0, new, out]),
            "bias_hh_l0": torch.zeros(4 * dim),
            "weight_hr_l0": project.T,
        }
        for key, values in own.items():
            setattr(self.lstm, key, nn.Parameter(values.contiguous()))

    def forward(self, inputs: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """Outputs (batch, length, projection), and each row's last hidden (batch, projection) and cell."""
        outputs = []
        recurrent = self.lstm.weight_hh_l0.T
        project = self.lstm.weight_hr_l0.T
        hidden, cell = state
        for start in range(0, inputs.shape[1], STEPS):
            entering = self._entering(inputs[:, start : start + STEPS])
            for at in range(entering.shape[1]):
                live = (start + at < lengths)[:, None]
                next_cell, opened = _next(torch.addmm(entering[:, at], hidden, recurrent), cell)
                next_cell = next_cell.clamp(-self.cell_clip, self.cell_clip)
                output = (opened * torch.tanh(next_cell)) @ project
                hidden = torch.where(live, output.clamp(-self.projection_clip, self.projection_clip), hidden)
                cell = torch.where(live, next_cell, cell)
                outputs.append(hidden)
        return torch.stack(outputs, dim=1), (hidden, cell)

    def run_unclipped(self, inputs: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State, Tensor]:
        """The same by PyTorch's LSTM, which cannot clip; last, for each row whether clipping had changed it.

        An output at a step gives the gates of the next, all steps in one product, and these give the cells.
        Where none is above its limit, clipping changes nothing: by induction over the steps.
        """
        hidden, cell = state
        outputs, _ = self.lstm(inputs, (hidden[None], cell[None].contiguous()))
        before = torch.cat([hidden[:, None], outputs[:, :-1]], dim=1)
        live = torch.arange(inputs.shape[1], device=lengths.device) < lengths[:, None]
        clipped = ((outputs.abs() > self.projection_clip).any(dim=2) & live).any(dim=1)
        for start in range(0, inputs.shape[1], STEPS):
            part = slice(start, start + STEPS)
            gates = self._entering(inputs[:, part]) + before[:, part] @ self.lstm.weight_hh_l0.T
            for at in range(gates.shape[1]):
                mine = live[:, start + at]
                cell = torch.where(mine[:, None], _next(gates[:, at], cell)[0], cell)
                clipped |= (cell.abs() > self.cell_clip).any(dim=1) & mine
        last = (lengths - 1)[:, None, None].expand(-1, 1, outputs.shape[2])
        return outputs, (outputs.gather(1, last)[:, 0], cell), clipped

    def _entering(self, inputs: Tensor) -> Tensor:
        return nn.functional.linear(inputs, self.lstm.weight_ih_l0, self.lstm.bias_ih_l0)


def _next(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The next cell, not clipped, and how far the output gate is open."""
    new_in, forget, new, out = gates.chunk(4, dim=1)
    return torch.sigmoid(forget) * cell + torch.sigmoid(new_in) * torch.tanh(new), torch.sigmoid(out)
