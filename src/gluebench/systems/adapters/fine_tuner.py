"""The training loop of fine-tuning: batches of like lengths, checks on dev, and states to resume from.

Each of several processes computes its rows of every batch; only the leading one saves states.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.fine_tuning import FineTuning
from gluebench.systems.protocols import Advance
from gluebench.systems.training import checkpoint
from gluebench.systems.training.engine import Engine

LARGEST_GRADIENT = 1.0
GROUP = 50
"""Batches that are sorted by length together, as in transformers' sampler; fewer for small data."""
SAVE_EVERY = 300.0
"""Seconds between two saved states within an epoch."""
FAR = 1_000_003
"""Distance between random seeds that must not meet; more than any number of steps."""
CHECK_EVERY = 20
"""Steps between two checks that the loss is finite: each check waits for the device."""
Batch = Mapping[str, Tensor]


class Examples(NamedTuple):
    """Tokenized training examples."""

    lengths: Sequence[int]
    collate: Callable[[Sequence[int]], Batch]
    """From row numbers to the model's inputs, padded, on its device."""
    targets: Tensor
    """Codes of labels (int64), or scores (float32)."""


class Outcome(NamedTuple):
    """What training gave."""

    scores: tuple[float, ...]
    """Dev score after each epoch; empty if dev was not used."""
    steps: int
    seconds: float


def rate(step: int, steps: int, warm_up: float) -> float:
    """Return the factor of the learning rate at a step: a linear rise to 1, then a linear fall to 0.

    `warm_up` is the share of the steps over which it rises, or from 1 on their number.
    """
    rising = max(1, round(warm_up if warm_up >= 1 else warm_up * steps))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising), 1.0)


def batches(lengths: Sequence[int], size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Return the row numbers of each batch of an epoch: rows of like lengths together, in random order.

    Shuffled rows are cut into groups of GROUP batches, each group is sorted by length and cut into batches,
    and all batches are shuffled.
    """
    generator = torch.Generator().manual_seed(FAR * seed + epoch)
    order = torch.randperm(len(lengths), generator=generator).tolist()
    group = size * max(1, min(len(order) // (4 * size), GROUP))
    parts: list[list[int]] = []
    for start in range(0, len(order), group):
        rows = sorted(order[start : start + group], key=lengths.__getitem__)
        parts += [rows[at : at + size] for at in range(0, len(rows), size)]
    return [parts[at] for at in torch.randperm(len(parts), generator=generator).tolist()]


@dataclass(eq=False)
class Loop:
    """Training of one model on one task, resumed from a saved state where there is one."""

    model: nn.Module
    """Already on the engine's device."""
    examples: Examples
    settings: FineTuning
    _: KW_ONLY
    name: str
    """Of the model and task, in messages."""
    seed: int
    engine: Engine
    state: Path | None = None
    """File for the state; None for none."""
    fingerprint: str = ""
    """A state with another one is ignored."""
    save_every: float = SAVE_EVERY

    def __post_init__(self) -> None:
        model, settings, self._device = self.model, self.settings, self.engine.device
        self._trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
        matrices = [value for value in self._trained.values() if value.ndim > 1]
        others = [value for value in self._trained.values() if value.ndim <= 1]
        self._optimizer = torch.optim.AdamW(
            [  # no weight decay for biases and normalization scales
                {"params": matrices, "weight_decay": settings.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=settings.learning_rate,
            betas=(0.9, settings.beta2),
            fused=self._device.type in ("cpu", "cuda"),
        )
        self.engine.wrap(model, self._optimizer)
        self._steps = settings.epochs * -(-len(self.examples.lengths) // settings.batch_size)
        self._step = 0
        self._scores: list[float] = []
        self._best: dict[str, Tensor] | None = None
        self._seconds = 0.0
        self._losses: list[Tensor] = []

    def run(self, score: Callable[[], float] | None, advance: Advance) -> Outcome:
        """Train to the end; with `score`, keep the weights of the epoch whose score is the best.

        `score` returns the model's dev score; the earlier of two equal epochs wins. Raises ModelError if the
        loss is not finite.
        """
        self._resume()
        advance(self._step, self._steps)
        saved = time.monotonic()
        start = saved - self._seconds
        for rows in self._left():
            self._take_step(rows)
            self._step += 1
            advance(self._step, self._steps)
            ended = self._step % (self._steps // self.settings.epochs) == 0
            if ended or len(self._losses) >= CHECK_EVERY:
                self._expect_finite()
            if ended and score is not None:
                value = self.engine.gathered(score())[0]
                if not self._scores or value > max(self._scores):
                    self._best = {name: own.detach().cpu().clone() for name, own in self._trained.items()}
                self._scores.append(value)
            now = time.monotonic()
            if self._step < self._steps and now - saved >= (0 if ended else self.save_every):
                self._seconds = now - start
                self._save()
                saved = time.monotonic()
        if self._best is not None:
            self._load(self._best)
        self.engine.release()
        return Outcome(tuple(self._scores), self._steps, time.monotonic() - start)

    def _left(self) -> Iterator[list[int]]:
        """Yield the batches that are still to come."""
        lengths, settings = self.examples.lengths, self.settings
        done = 0
        for epoch in range(settings.epochs):
            for rows in batches(lengths, settings.batch_size, seed=self.seed, epoch=epoch):
                if done >= self._step:
                    yield rows
                done += 1

    def _take_step(self, rows: Sequence[int]) -> None:
        self.model.train()
        if self.engine.rank:  # dropout of its own, which depends on no state that would have to be saved
            torch.manual_seed((FAR * self.seed + self.engine.rank) * FAR + self._step)
        factor = rate(self._step, self._steps, self.settings.warm_up)
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * factor
        self._optimizer.zero_grad(set_to_none=True)
        size = -(-len(rows) // self.settings.accumulate)
        losses = [
            self._backward(rows[at : at + size], share=len(rows[at : at + size]) / len(rows))
            for at in range(0, len(rows), size)
        ]
        self._losses.append(torch.stack(losses).sum())
        self.engine.step(LARGEST_GRADIENT)

    def _backward(self, rows: Sequence[int], *, share: float) -> Tensor:
        """Add the gradients of a part of a batch; return this process's share of the loss."""
        world = self.engine.world
        own = rows[self.engine.rank :: world]
        share *= len(own) / len(rows)
        own = own or rows[:1]  # of weight 0, since the other processes wait for a gradient
        with self.engine.autocast():
            outputs = self.model(**self.examples.collate(own)).logits
        targets = self.examples.targets[list(own)].to(self._device)
        if targets.is_floating_point():
            loss = nn.functional.mse_loss(outputs.float()[:, 0], targets)
        else:
            loss = nn.functional.cross_entropy(outputs.float(), targets)
        self.engine.backward(loss * (share * world))  # the gradient is averaged over the processes
        return loss.detach() * share

    def _expect_finite(self) -> None:
        parts = self.engine.gathered(torch.stack(self._losses).tolist())
        losses, self._losses = list(map(sum, zip(*parts, strict=True))), []
        for step, loss in enumerate(losses, self._step - len(losses) + 1):
            if not math.isfinite(loss):
                raise ModelError(
                    f"{self.name}: the loss is {loss} at step {step} of {self._steps}; expected a finite "
                    "number. Try a lower --learning-rate, a longer warm-up in a recipe, or --precision fp32"
                )

    def _load(self, weights: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, value in self._trained.items():
                value.copy_(weights[name])

    def _save(self) -> None:
        if self.state is None or self.engine.rank:
            return
        cuda = torch.cuda.get_rng_state(self._device) if self._device.type == "cuda" else None
        values = {
            "fingerprint": self.fingerprint,
            "step": self._step,
            "scores": self._scores,
            "seconds": self._seconds,
            "weights": {name: value.detach() for name, value in self._trained.items()},
            "best": self._best,
            "optimizer": self._optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "cuda": cuda,
        }
        self.state.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.save(self.state, values)

    def _resume(self) -> None:
        if self.state is None or not self.state.is_file():
            return
        values = checkpoint.load(self.state)
        if values["fingerprint"] != self.fingerprint:
            return
        self._load(values["weights"])
        self._optimizer.load_state_dict(values["optimizer"])
        self._step, self._best = values["step"], values["best"]
        self._scores, self._seconds = list(values["scores"]), values["seconds"]
        torch.set_rng_state(values["random"])
        if values["cuda"] is not None:
            torch.cuda.set_rng_state(values["cuda"], self._device)
