"""Training SentEval's classifier under several L2 penalties at once: the batches are read for all of them.

The runs that SentEval makes one after another have one seed, so they begin with the same weights and see the
same batches; side by side their first layers are one matrix. Its last run, with the best penalty once more,
would repeat one of these, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Combine = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""From u and v, each (examples, dim), to the parts of the features."""


def four_ways(u: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """u, v, their product and their distance: the features of a classifier of pairs."""
    return u, v, u * v, (u - v).abs()


def two_ways(u: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """Distance and product: the features of a regression."""
    return (u - v).abs(), u * v


PARTS: Mapping[Combine, int] = {four_ways: 4, two_ways: 2}


@dataclass(frozen=True, slots=True)
class Features:
    """The features of all examples of a split; only those of a batch are ever in memory."""

    vectors: NDArray[Any]
    """Mapped, (sentences, dim)."""
    rows: NDArray[np.int64]
    """(examples, texts), the row of each text's vector; one text or two."""
    combine: Combine = four_ways
    device: str = "cpu"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Length of an example's features."""
        return int(self.vectors.shape[1]) * (PARTS[self.combine] if self.rows.shape[1] == 2 else 1)

    def batch(self, chosen: NDArray[np.int64] | slice) -> Tensor:
        """The features of some examples, (examples, width), float32."""
        rows = self.rows[chosen]
        texts = [torch.from_numpy(self.vectors[column]).to(self.device, torch.float32) for column in rows.T]
        return texts[0] if len(texts) == 1 else torch.cat(self.combine(*texts), dim=1)


class EarlyStopping:
    """Counts the looks at the dev split that brought no improvement; an improvement takes none back."""

    def __init__(self, tenacity: int) -> None:
        self._tenacity = tenacity
        self._misses = 0
        self.best = -inf
        """The best score so far."""

    def improved(self, score: float) -> bool:
        """Whether a score is better than all before; NaN counts as 0."""
        score = 0.0 if isnan(score) else score
        if score > self.best:
            self.best = score
            return True
        self._misses += 1
        return False

    @property
    def over(self) -> bool:
        """Whether to stop: with the (tenacity + 1)-th look without an improvement, in a row or not."""
        return self._misses > self._tenacity


def rounds_through(max_epoch: int, epoch_size: int) -> int:
    """Rounds of a classifier: one more is begun as long as no more than max_epoch epochs are done."""
    return max_epoch // epoch_size + 1


def rounds_below(max_epoch: int, epoch_size: int) -> int:
    """Rounds of a regression: one more is begun as long as less than max_epoch epochs are done."""
    return -(-max_epoch // epoch_size)


BLOCK = 1 << 23
"""Numbers of features in memory while a split is answered: 32 MiB."""
Loss = Callable[[Tensor, Tensor], Tensor]
"""From outputs (batch, runs, classes) and targets (batch, ...) to a scalar; runs must not mix."""
Score = Callable[[Tensor], Sequence[float]]
"""From outputs of the dev split (examples, runs, classes) to a score of each run, higher being better."""


class Schedule(NamedTuple):
    """How long, and by what steps."""

    optim: str
    """adam or rmsprop."""
    batch_size: int
    epoch_size: int
    rounds: int
    tenacity: int
    seed: int


class SideBySide(nn.Module):
    """One network for each run, all with the same first weights: linear, or linear, sigmoid, linear."""

    def __init__(
        self, width: int, classes: int, *, nhid: int = 0, dropout: float = 0.0, runs: int = 1
    ) -> None:
        super().__init__()
        self.runs = runs
        self.dropout = dropout
        first = nn.Linear(width, nhid or classes)
        self.weight = nn.Parameter(first.weight.detach().T.repeat(1, runs))  # (width, runs * units)
        self.bias = nn.Parameter(first.bias.detach().repeat(runs))
        self.out: nn.Parameter | None = None
        self.shift: nn.Parameter | None = None
        if nhid:
            second = nn.Linear(nhid, classes)
            self.out = nn.Parameter(second.weight.detach().T.repeat(runs, 1, 1))  # (runs, nhid, classes)
            self.shift = nn.Parameter(second.bias.detach().repeat(runs, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Outputs (batch, runs, classes) from features (batch, width)."""
        values = torch.addmm(self.bias, features, self.weight).view(len(features), self.runs, -1)
        if self.out is None or self.shift is None:
            return values
        values = torch.sigmoid(nn.functional.dropout(values, self.dropout, self.training))
        return torch.einsum("brh,rhc->brc", values, self.out) + self.shift

    def decays(self, penalties: Tensor) -> list[Tensor]:
        """For each parameter the penalties (runs,) in a shape to multiply it by."""
        units = len(self.bias) // self.runs
        flat = penalties.repeat_interleave(units)
        inner = [] if self.out is None else [penalties.view(-1, 1, 1), penalties.view(-1, 1)]
        return [flat, flat, *inner]

    def one(self, run: int) -> dict[str, Tensor]:
        """A copy of the state of one run, as that of a network with one run."""
        units = len(self.bias) // self.runs
        own = slice(run * units, (run + 1) * units)
        state = {"weight": self.weight[:, own], "bias": self.bias[own]}
        if self.out is not None and self.shift is not None:
            state |= {"out": self.out[run : run + 1], "shift": self.shift[run : run + 1]}
        return {name: values.detach().clone() for name, values in state.items()}


class Run(NamedTuple):
    """The result of training with one penalty."""

    penalty: float
    score: float
    """The best on the dev split."""
    epochs: int
    """Epochs it was trained before it stopped."""
    state: dict[str, Tensor]
    """Of the network that had that score."""


def train(
    model: SideBySide,
    penalties: Sequence[float],
    examples: Features,
    targets: Tensor,
    *,
    dev: Features,
    loss: Loss,
    score: Score,
    schedule: Schedule,
) -> list[Run]:
    """Train a run for each penalty until the dev split is no better for it; the runs, in order."""
    device = examples.device
    stopping = [EarlyStopping(schedule.tenacity) for _ in penalties]
    runs = [Run(penalty, stop.best, 0, {}) for penalty, stop in zip(penalties, stopping, strict=True)]
    step = _stepper(model, penalties, loss, schedule.optim, device)
    order = torch.Generator().manual_seed(schedule.seed)
    for number in range(1, schedule.rounds + 1):
        model.train()
        for _ in range(schedule.epoch_size):
            shuffled = torch.randperm(len(examples), generator=order)
            for start in range(0, len(shuffled), schedule.batch_size):
                chosen = shuffled[start : start + schedule.batch_size]
                step(examples.batch(chosen.numpy()), targets[chosen].to(device))
        scores = score(outputs(model, dev))
        for run, stop in enumerate(stopping):
            if stop.over:
                continue
            better = stop.improved(scores[run])
            state = model.one(run) if better else runs[run].state
            runs[run] = Run(penalties[run], stop.best, number * schedule.epoch_size, state)
        if all(stop.over for stop in stopping):
            break
    return runs


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's generators begin at a seed and go back after; one thread, as these matrices are small.

    With one thread the result is the same however many there are, and other programs hold nothing up.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def outputs(model: SideBySide, features: Features) -> Tensor:
    """Outputs for all examples, (examples, runs, classes), on the CPU; features in memory by the block."""
    model.eval()
    size = max(1, BLOCK // features.width)
    with torch.no_grad():
        blocks = [
            model(features.batch(slice(start, start + size))).cpu() for start in range(0, len(features), size)
        ]
    return torch.cat(blocks)


def _stepper(
    model: SideBySide, penalties: Sequence[float], loss: Loss, optim: str, device: str
) -> Callable[[Tensor, Tensor], None]:
    """One step of the optimiser; the penalty is part of the gradient, as PyTorch's weight_decay is."""
    parameters = list(model.parameters())
    optimiser: torch.optim.Optimizer
    if optim == "adam":
        optimiser = torch.optim.Adam(parameters, fused=True)
    else:
        optimiser = torch.optim.RMSprop(parameters)
    decays = model.decays(torch.tensor(penalties, dtype=torch.float32, device=device))

    def step(features: Tensor, targets: Tensor) -> None:
        optimiser.zero_grad()
        torch.autograd.backward(loss(model(features), targets))
        with torch.no_grad():
            for parameter, decay in zip(parameters, decays, strict=True):
                assert parameter.grad is not None
                parameter.grad.addcmul_(parameter, decay.expand_as(parameter))
        optimiser.step()

    return step
