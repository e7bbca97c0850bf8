"""One vector for a sequence of states: the largest value of each dimension."""

from __future__ import annotations

import torch
from torch import Tensor


def real(lengths: Tensor, longest: int) -> Tensor:
    """Which places hold a token: (batch, longest) booleans from the lengths (batch,)."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def max_pool(states: Tensor, lengths: Tensor, *, padding: bool = False) -> Tensor:
    """The largest value over the real tokens: (batch, length, dim) to (batch, dim); lengths at least 1.

    With `padding`, a zero counts for the places after the end of a sequence, as in InferSent 1: a vector then
    depends on the longest sequence of its batch.
    """
    filler = 0.0 if padding else float("-inf")
    padded = ~real(lengths, states.shape[1]).unsqueeze(2)
    return states.masked_fill(padded, filler).max(dim=1).values
