from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data.sample import build

# A shared machine may stall any single example; how long things take is measured in bench/, not here.
settings.register_profile("gluebench", deadline=None)
settings.load_profile("gluebench")


@pytest.fixture(scope="session")
def sample() -> Benchmark:
    return load_benchmark("sample")


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample benchmark as it is built; to read, not to change."""
    target = tmp_path_factory.mktemp("sample") / "data"
    build(target)
    return target
