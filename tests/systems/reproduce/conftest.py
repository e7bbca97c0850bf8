from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_thread_in_rows(one_thread: None) -> None:
    """Every row of the paper runs on one thread."""
