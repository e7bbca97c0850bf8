"""Where the arithmetic is done: one process on one device, or several and mixed precision by Accelerate.

With several, each process takes its share of every batch, so that a batch stays as large as the settings
say, and the gradient is that of the whole batch.
"""

from __future__ import annotations

import os
import warnings
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
        self._trained = [parameter for group in optimiser.param_groups for parameter in group["params"]]

    def outputs(self, task: str, batch: Any) -> Tensor:
        """Forward pass of a collated batch."""
        mixed = torch.autocast(self._device.type, torch.bfloat16) if self._bf16 else nullcontext()
        with mixed:
            result: Tensor = self._model(task, moved(batch, self._device))
        return result

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
    """Use TF32 for matrix products on the GPU unless `precision` is float32; then restore the setting."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    tf32 = precision != "float32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
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


_PRECISIONS = {"float32": "no", "tf32": "no", "bf16": "bf16", "fp16": "fp16"}
_LAUNCHED = ("WORLD_SIZE", "ACCELERATE_MIXED_PRECISION", "ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
_ELSEWHERE = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")


class Accelerated:
    """One process of those that Accelerate was started with. Raises ValueError for what splits a model up."""

    def __init__(self, *, precision: str = "float32", cpu: bool = False) -> None:
        if split := [name for name in _ELSEWHERE if os.environ.get(name, "").lower() == "true"]:
            raise ValueError(
                f"{split[0]} is set, and a model split over processes cannot be saved exactly; unset it"
            )
        from accelerate import Accelerator
        from accelerate.utils import DistributedDataParallelKwargs

        # An update is of one task, so the other heads have no gradient.
        unused = DistributedDataParallelKwargs(find_unused_parameters=True, broadcast_buffers=False)
        self._accelerator = Accelerator(
            mixed_precision=_PRECISIONS[precision], cpu=cpu, kwargs_handlers=[unused]
        )
        self.rank: int = self._accelerator.process_index
        self.world: int = self._accelerator.num_processes

    def place(self, model: nn.Module) -> None:
        """Put the model on this process's device."""
        model.to(self._accelerator.device)

    def wrap(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Take what is to be trained; every process begins with the weights of the first."""
        self._model = model
        self._trained = [parameter for group in optimiser.param_groups for parameter in group["params"]]
        with warnings.catch_warnings():  # newer PyTorch's other name for it is unknown to the older ones
            warnings.filterwarnings("ignore", ".*broadcast_buffers", FutureWarning)
            self._wrapped, self._optimiser = self._accelerator.prepare(model, optimiser)

    def outputs(self, task: str, batch: Any) -> Tensor:
        """Forward pass of a collated batch; without gradients, no process waits for another."""
        from gluebench.systems.neural.body import moved

        model = self._wrapped if torch.is_grad_enabled() else self._model
        result: Tensor = model(task, moved(batch, self._accelerator.device))
        return result

    def on_device(self, values: Tensor) -> Tensor:
        """A tensor where the outputs are."""
        return values.to(self._accelerator.device, non_blocking=True)

    def backward(self, loss: Tensor) -> None:
        """Add to the gradients, averaged over the processes."""
        self._accelerator.backward(loss)

    def step(self, clip: float) -> None:
        """Clip and move, every process alike."""
        self._accelerator.clip_grad_norm_(self._trained, clip)
        self._optimiser.step()

    def gathered(self, value: Any) -> list[Any]:
        """The value of every process, in the order of their ranks."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        torch.distributed.all_gather_object(values, value)
        return values

    def scaler_state(self) -> dict[str, Any] | None:
        """Where the loss scaling of fp16 stands."""
        scaler = self._accelerator.scaler
        return None if scaler is None else scaler.state_dict()

    def restore_scaler(self, state: dict[str, Any]) -> None:
        """Go on where `scaler_state` was taken."""
        if self._accelerator.scaler is not None:
            self._accelerator.scaler.load_state_dict(state)

    def release(self) -> None:
        """Take Accelerate's wrapping off the model."""
        self._accelerator.unwrap_model(self._wrapped, keep_fp32_wrapper=False)
        self._accelerator.free_memory()


def engine(precision: str = "float32", device: str | None = None) -> Engine:
    """Accelerate's engine where its launcher started this process or fp16 asks for it, else a plain one.

    `device` is "cpu" or "cuda"; by default a GPU is used where there is one.
    """
    if precision == "fp16" or any(os.environ.get(name) for name in _LAUNCHED):
        return Accelerated(precision=precision, cpu=device == "cpu")
    chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return Plain(chosen, precision=precision)


def launched_precision() -> str | None:
    """The mixed precision that Accelerate's launcher was given; None where it was given none."""
    precision = os.environ.get("ACCELERATE_MIXED_PRECISION", "no")
    return None if precision == "no" else precision


def leads() -> bool:
    """Whether this process is the one that speaks for all."""
    return os.environ.get("RANK", "0") == "0"
