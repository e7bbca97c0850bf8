"""Engines that run the computation: one process on one device, or several and mixed precision.

With several processes (Accelerate), each computes a share of every batch: the batch size of the settings is
the total, and the gradient is that of the whole batch.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from gluebench.systems import devices
from gluebench.systems.devices import DeviceError
from gluebench.systems.neural.model import to_device


class Engine:
    """One process on the CPU or one GPU, with all that the trainer needs of the machine.

    Every process holds the same model and draws the same batches.
    """

    rank = 0
    world = 1
    scaler: Any = None
    """The loss scaling of fp16; None without it."""
    model: nn.Module
    device: torch.device

    def __init__(self, device: str | torch.device = "cpu", *, precision: str = "fp32") -> None:
        if precision == "fp16":
            raise DeviceError("fp16 needs its loss scaled by Accelerate; take bf16, or an Accelerated engine")
        self.device = torch.device(device)
        self._precision = precision

    @property
    def ahead(self) -> int:
        """Batches that a thread makes ahead, in pinned memory, while a GPU computes; 0 on a CPU."""
        return 4 * (self.device.type == "cuda")

    def wrap(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Set the model and optimizer; the model is already on the device."""
        self.model = model
        self._optimizer = optimizer
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def outputs(self, task: str, batch: Any) -> Tensor:
        """Forward pass of a collated batch."""
        with self.autocast():
            result: Tensor = self.model(task, to_device(batch, self.device))
        return result

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision of a forward pass."""
        return devices.autocast(self._precision, self.device.type)

    def backward(self, loss: Tensor) -> None:
        """Set the gradients, averaged over the processes."""
        loss.backward()  # type: ignore[no-untyped-call]

    def step(self, clip: float) -> None:
        """Clip the gradient of all parameters by its norm and move them, in every process alike."""
        nn.utils.clip_grad_norm_(self._trained, clip)
        self._optimizer.step()

    def gather(self, value: Any) -> list[Any]:
        """The value of every process, in the order of their ranks."""
        return [value]

    def release(self) -> None:
        """Forget the model and the optimizer."""
        del self.model, self._optimizer, self._trained


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed PyTorch's generators within the context; then restore them."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _leave() -> None:
    """End gloo's threads; one that releases a tensor while Python shuts down aborts the process."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


_PRECISIONS = {"fp32": "no", "tf32": "no", "bf16": "bf16", "fp16": "fp16"}
_ELSEWHERE = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
_LAUNCHED = ("WORLD_SIZE", "ACCELERATE_MIXED_PRECISION", *_ELSEWHERE)


class Accelerated(Engine):
    """One of the processes that Accelerate started. Raises DeviceError for launchers that split a model."""

    def __init__(self, *, precision: str = "fp32", cpu: bool = False) -> None:
        if split := [name for name in _ELSEWHERE if os.environ.get(name, "").lower() == "true"]:
            raise DeviceError(
                f"{split[0]} is set, and a model split over processes cannot be saved exactly; unset it"
            )
        if os.environ.get("WORLD_SIZE", "1") != "1":
            import_module("torch.distributed.nn")  # later, its default arguments would keep the group alive
        from accelerate import Accelerator

        self._accelerator = Accelerator(mixed_precision=_PRECISIONS[precision], cpu=cpu)
        self.device = self._accelerator.device
        self.rank = self._accelerator.process_index
        self.world = self._accelerator.num_processes
        self.scaler = self._accelerator.scaler
        self._used: set[Tensor] = set()
        if self.world > 1 and self.device.type == "cpu":
            atexit.register(_leave)

    def wrap(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Set the model and optimizer; every process starts with the first one's weights."""
        super().wrap(model, optimizer)
        self._optimizer = self._accelerator.prepare(optimizer)
        if self.world > 1:
            for values in model.state_dict().values():
                torch.distributed.broadcast(values, 0)
            for parameter in self._trained:
                parameter.register_post_accumulate_grad_hook(self._used.add)  # type: ignore[no-untyped-call]

    def autocast(self) -> AbstractContextManager[Any]:
        """The precision of a forward pass."""
        context: AbstractContextManager[Any] = self._accelerator.autocast()
        return context

    def backward(self, loss: Tensor) -> None:
        """Set the gradients, averaged over the processes: those of this update's task alone are exchanged."""
        self._used.clear()
        self._accelerator.backward(loss)
        gradients = [
            weight.grad for weight in self._trained if weight in self._used and weight.grad is not None
        ]
        for sent in [torch.distributed.all_reduce(values, async_op=True) for values in gradients]:
            sent.wait()
        for values in gradients:
            values.div_(self.world)

    def step(self, clip: float) -> None:
        """Clip the gradient of all parameters by its norm and move them, in every process alike."""
        self._accelerator.clip_grad_norm_(self._trained, clip)
        self._optimizer.step()

    def gather(self, value: Any) -> list[Any]:
        """The value of every process, in the order of their ranks."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        torch.distributed.all_gather_object(values, value)
        return values

    def release(self) -> None:
        """Forget the model and the optimizer."""
        super().release()
        self._used.clear()
        self._accelerator.free_memory()


def engine(precision: str = "fp32", device: str | None = None) -> Engine:
    """Return Accelerate's engine if its launcher started this process or for fp16, else a plain one.

    `device` is as `gluebench.systems.devices.device` takes it.
    """
    if precision == "fp16" or any(os.environ.get(name) for name in _LAUNCHED):
        return Accelerated(precision=precision, cpu=device == "cpu")
    return Engine(devices.device(device), precision=precision)
