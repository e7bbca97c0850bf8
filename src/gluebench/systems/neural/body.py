"""What stands below the heads of a model: from texts to one row of features for each example.

Weights as they are first drawn and dropout come from PyTorch's own generator. Whoever trains seeds it once,
with `torch.manual_seed`, before the model is made; nothing here seeds it or keeps another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Batch = TypeVar("Batch")


class Body(nn.Module, ABC):
    """An encoder of examples of one text or two, shared by all tasks of a model."""

    dims: Mapping[int, int]
    """Number of input texts (1, 2) to the width of their features."""

    @abstractmethod
    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        """One item for each example's texts, made once per split; items can be pickled."""

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> Any:
        """A batch of prepared items of equally many texts: tensors on the CPU in tuples or dicts."""

    @abstractmethod
    def size(self, item: Any) -> int:
        """Tokens of an item, all its sequences together."""

    def lengths(self, item: Any) -> tuple[int, ...]:
        """Tokens of each sequence that is padded by itself, for batches of like lengths."""
        return (self.size(item),)

    @abstractmethod
    def forward(self, batch: Any) -> Tensor:
        """Features of a collated batch: (batch, dims[texts])."""


def moved(batch: Batch, device: torch.device | str) -> Batch:
    """A collated batch with its tensors on a device; what is no tensor stays as it is."""
    result: Any = batch
    if isinstance(result, Tensor):
        result = result.to(device, non_blocking=True)
    elif isinstance(result, Mapping):
        result = {name: moved(value, device) for name, value in result.items()}
    elif isinstance(result, tuple):
        values = [moved(value, device) for value in result]
        result = type(result)(*values) if hasattr(result, "_fields") else tuple(values)
    return result  # type: ignore[no-any-return]
