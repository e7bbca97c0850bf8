from __future__ import annotations

import math

import numpy as np
import torch
from oracles.sentence_models import attended

from gluebench.systems.neural.bilstm import attend


def test_a_case_worked_by_hand() -> None:
    # u = (1, 0), (0, 1) and v = (ln 3, 0), (0, 0): products are (ln 3, 0) and (0, 0)
    first = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    second = torch.tensor([[[math.log(3), 0.0], [0.0, 0.0]]])
    found = attend(first, second, torch.tensor([2]), torch.tensor([2]))
    # u_1 attends to v by 3/4 and 1/4, u_2 by halves
    expected = torch.tensor([[1.0, 0, 0.75 * math.log(3), 0], [0, 1, 0.5 * math.log(3), 0]])
    assert torch.allclose(found.first[0], expected)
    # v_1 attends to u by 3/4 and 1/4, v_2 by halves
    expected = torch.tensor([[math.log(3), 0, 0.75, 0.25], [0, 0, 0.5, 0.5]])
    assert torch.allclose(found.second[0], expected)


def test_only_real_tokens_are_attended_to() -> None:
    lengths, other_lengths = torch.tensor([3, 5, 1]), torch.tensor([4, 1, 2])
    first, second = torch.randn(3, 5, 6), torch.randn(3, 4, 6)
    found = attend(first, second, lengths, other_lengths)
    for row in range(3):
        u = first[row, : lengths[row]].double().numpy()
        v = second[row, : other_lengths[row]].double().numpy()
        np.testing.assert_allclose(found.first[row, : len(u)], attended(u, v), atol=1e-5)
        np.testing.assert_allclose(found.second[row, : len(v)], attended(v, u), atol=1e-5)
