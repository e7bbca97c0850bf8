"""Attention between the states of two sentences (B.1)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from gluebench.systems.neural.pooling import real


class Attended(NamedTuple):
    """States of both sentences, each with what it attends to in the other behind it."""

    first: Tensor
    """(batch, first length, 2 dim)."""
    second: Tensor
    """(batch, second length, 2 dim)."""


def attend(first: Tensor, second: Tensor, first_lengths: Tensor, second_lengths: Tensor) -> Attended:
    """[u_i; sum_j a_ij v_j] and [v_j; sum_i b_ij u_i], where a and b are softmaxes of the products u_i . v_j.

    The products are not scaled; only real tokens are attended to. States are (batch, length, dim), lengths
    (batch,) and at least 1. What stands after the end of a sentence means nothing.
    """
    products = first @ second.transpose(1, 2)
    in_first = real(first_lengths, first.shape[1]).unsqueeze(2)
    in_second = real(second_lengths, second.shape[1]).unsqueeze(1)
    of_first = products.masked_fill(~in_second, float("-inf")).softmax(dim=2)
    of_second = products.masked_fill(~in_first, float("-inf")).softmax(dim=1)
    return Attended(
        torch.cat([first, of_first @ second], dim=2),
        torch.cat([second, of_second.transpose(1, 2) @ first], dim=2),
    )
