from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_thread_in_training(one_thread: None) -> None:
    """Every test of training runs on one thread."""
