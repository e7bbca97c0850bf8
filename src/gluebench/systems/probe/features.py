"""What the classifier sees of an example, built batch by batch from stored vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

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
