from __future__ import annotations

import numpy as np
import pytest
import torch

from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.token_vectors import TableVectors
from gluebench.systems.text.vocabulary import Vocabulary

WORDS = ["the", "a", "cat", "dog", "sees", "hears", "no", "one", "every", "mouse", "today"]


@pytest.fixture(autouse=True)
def _same_weights_each_time(one_thread: None) -> None:
    """Models begin with the same random weights in every test."""
    torch.manual_seed(0)


@pytest.fixture
def vectors() -> TableVectors:
    """Eight numbers for each of a few words, and for the unknown one."""
    table = np.random.default_rng(1).standard_normal((len(WORDS) + 2, 8), dtype=np.float32)
    return TableVectors(Vocabulary(WORDS), table, str.split)


@pytest.fixture
def body(vectors: TableVectors) -> BiLstmBody:
    return BiLstmBody(vectors, hidden=6)


@pytest.fixture
def attentive(vectors: TableVectors) -> BiLstmBody:
    return BiLstmBody(vectors, hidden=6, attention=True)
