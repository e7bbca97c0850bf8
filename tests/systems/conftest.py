"""What tests of several kinds of systems share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def one_thread() -> Iterator[None]:
    """PyTorch on one thread, as runs in parallel have it."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
