"""Where PyTorch computes, and how precisely."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal, get_args

os.environ.setdefault("MKL_CBWR", "AUTO")
"""Before its first product, MKL is told to round alike wherever an array lies in memory; else a run that is
resumed, whose arrays lie elsewhere, may differ from one that was not stopped."""
Precision = Literal["fp32", "tf32", "bf16"]
"""fp32: IEEE everywhere. tf32: a GPU's matrix products and LSTMs round their inputs to 10 bits. bf16: the
forward pass in bfloat16 (`autocast`), weights and losses in fp32, what is left in TF32."""


PRECISIONS: tuple[str, ...] = get_args(Precision)


class DeviceError(ValueError):
    """A device that cannot be used here."""


def device(name: str | None = "auto") -> str:
    """PyTorch's name of a device: "auto" or None is a GPU if there is one, else the CPU.

    Raises DeviceError for one that is not there.
    """
    import torch

    if name in (None, "auto"):
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DeviceError(
            f"the device {name} cannot be used: {reason}; choose auto (a GPU if there is one) or cpu"
        ) from None
    return str(name)


@contextmanager
def arithmetic(precision: str | None) -> Iterator[None]:
    """Let a GPU's matrix products, convolutions and LSTMs use TF32 unless `precision` is fp32; then restore.

    Left alone, cuDNN's LSTMs use TF32 though matrix products do not. None changes nothing, and needs no
    PyTorch: for a model that does not compute with it, or that decides for itself.
    """
    if precision is None:
        yield
        return
    import torch

    cudnn: Any = torch.backends.cudnn
    matmul = torch.backends.cuda.matmul
    flags: list[Any] = [(matmul, "allow_tf32"), (cudnn, "allow_tf32")]
    value: str | bool = precision != "fp32"
    if hasattr(cudnn, "rnn"):  # PyTorch 2.9; reading the older flags raises once the newer ones differ
        flags = [(part, "fp32_precision") for part in (matmul, cudnn.conv, cudnn.rnn)]
        value = "ieee" if precision == "fp32" else "tf32"
    before = [getattr(part, name) for part, name in flags]
    for part, name in flags:
        setattr(part, name, value)
    try:
        yield
    finally:
        for (part, name), earlier in zip(flags, before, strict=True):
            setattr(part, name, earlier)


def launched_precision() -> str | None:
    """Return the mixed precision set for Accelerate's launcher, or None."""
    precision = os.environ.get("ACCELERATE_MIXED_PRECISION", "no")
    return None if precision == "no" else precision


def leads() -> bool:
    """Whether this process prints messages for all processes."""
    return os.environ.get("RANK", "0") == "0"


def autocast(precision: str, device: str) -> AbstractContextManager[Any]:
    """The context of a forward pass on a device (`cuda:1`): bfloat16 for bf16, else as it is."""
    import torch

    if precision != "bf16":
        return nullcontext()
    return torch.autocast(torch.device(device).type, torch.bfloat16)
