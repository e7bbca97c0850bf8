from __future__ import annotations

import torch

from gluebench.systems.neural.bilstm import pair_features
from gluebench.systems.weights.recurrent import max_pool

STATES = torch.tensor([[[-3.0, 1], [-2, -1], [9, 9]], [[0.5, -2], [-1, -1], [-4, 4]]])


def test_the_largest_value_is_sought_among_real_tokens_alone() -> None:
    assert max_pool(STATES, torch.tensor([2, 3])).tolist() == [[-2, 1], [0.5, 4]]
    assert max_pool(STATES, torch.tensor([1, 2])).tolist() == [[-3, 1], [0.5, -1]]


def test_padding_counts_as_zero_where_that_is_asked_for() -> None:
    assert max_pool(STATES, torch.tensor([2, 3]), padding=True).tolist() == [[0, 1], [0.5, 4]]
    assert max_pool(STATES, torch.tensor([2, 2]), padding=True).tolist() == [[0, 1], [0.5, 0]]


def test_pair_features_worked_by_hand() -> None:
    found = pair_features(torch.tensor([[2.0, -1.0]]), torch.tensor([[0.5, 3.0]]))
    assert found.tolist() == [[2, -1, 0.5, 3, 1.5, 4, 1, -3]]
