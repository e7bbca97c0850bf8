"""What is told of two sentences by their vectors."""

from __future__ import annotations

import torch
from torch import Tensor


def pair_features(first: Tensor, second: Tensor) -> Tensor:
    """[u; v; |u - v|; u * v] of rows u and v (B.1): (batch, dim) twice to (batch, 4 dim)."""
    return torch.cat([first, second, (first - second).abs(), first * second], dim=1)
