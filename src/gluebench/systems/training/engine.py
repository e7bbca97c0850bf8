"""Where the arithmetic is done: one process on one device; `distributed` has the same for several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from gluebench.systems.neural.body import moved


class Engine(Protocol):
    """What the trainer asks of the machine. Every process holds the same model and draws the same batches."""

    rank: int
    world: int

    def place(self, model: nn.Module) -> None:
        """Put the model on the device, before an optimiser is made of its parameters."""

    def wrap(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Take what is to be trained."""

    def outputs(self, task: str, batch: Any) -> Tensor:
        """Forward pass of a collated batch."""

    def on_device(self, values: Tensor) -> Tensor:
        """A tensor where the outputs are."""

    def backward(self, loss: Tensor) -> None:
        """Add to the gradients, averaged over the processes."""

    def step(self, clip: float) -> None:
        """Clip the gradient of all parameters by its norm and move them."""

    def gathered(self, value: Any) -> list[Any]:
        """The value of every process, in the order of their ranks."""

    def scaler_state(self) -> dict[str, Any] | None:
        """Where the loss scaling of fp16 stands; None without it."""

    def restore_scaler(self, state: dict[str, Any]) -> None:
        """Go on where `scaler_state` was taken."""

    def release(self) -> None:
        """Leave the model as a plain one, able to be saved and used."""


class Plain:
    """One process, on the CPU or one GPU."""

    rank = 0
    world = 1

    def __init__(self, device: str | torch.device = "cpu", *, precision: str = "float32") -> None:
        if precision == "fp16":
            raise ValueError("fp16 needs its loss scaled by Accelerate; take bf16, or an Accelerated engine")
        self._device = torch.device(device)
        self._bf16 = precision == "bf16"

    def place(self, model: nn.Module) -> None:
        """Put the model on the device."""
        model.to(self._device)

    def wrap(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Take what is to be trained."""
        self._model = model
        self._optimiser = optimiser
        self._trained = [each for group in optimiser.param_groups for each in group["params"]]

    def outputs(self, task: str, batch: Any) -> Tensor:
        """Forward pass of a collated batch."""
        mixed = torch.autocast(self._device.type, torch.bfloat16) if self._bf16 else nullcontext()
        with mixed:
            found: Tensor = self._model(task, moved(batch, self._device))
        return found

    def on_device(self, values: Tensor) -> Tensor:
        """A tensor where the outputs are."""
        return values.to(self._device, non_blocking=True)

    def backward(self, loss: Tensor) -> None:
        """Add to the gradients."""
        loss.backward()  # type: ignore[no-untyped-call]

    def step(self, clip: float) -> None:
        """Clip and move."""
        nn.utils.clip_grad_norm_(self._trained, clip)
        self._optimiser.step()

    def gathered(self, value: Any) -> list[Any]:
        """The one value."""
        return [value]

    def scaler_state(self) -> dict[str, Any] | None:
        """None: nothing is scaled."""
        return None

    def restore_scaler(self, state: dict[str, Any]) -> None:
        """Nothing to do."""

    def release(self) -> None:
        """Nothing to do."""


@contextmanager
def arithmetic(precision: str) -> Iterator[None]:
    """TF32 for products of matrices on the GPU, where asked for; as it was afterwards."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    wanted = precision != "float32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = wanted
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's generators at a seed within, and as they were afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
