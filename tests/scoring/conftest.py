"""The material of the scoring tests as fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scoring.material import TASKS, manifest_text, write_gold

from gluebench.benchmark import Benchmark, load_benchmark


@pytest.fixture
def small(tmp_path: Path) -> Benchmark:
    path = tmp_path / "small.toml"
    path.write_text(manifest_text(TASKS))
    return load_benchmark(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_gold(tmp_path / "gold")


@pytest.fixture(scope="session")
def real() -> Path:
    """The real files, where they are at hand."""
    home = Path(
        os.environ.get("GLUEBENCH_REAL", Path(__file__).resolve().parents[2].parent / "shared" / "real")
    )
    if not (home / "gold").is_dir():
        pytest.skip("the real gold and submissions are not here (../shared/real, or GLUEBENCH_REAL)")
    return home
