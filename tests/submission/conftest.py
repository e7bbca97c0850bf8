from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, load_benchmark

FILES = {
    "Para": "101100",
    "Sim": ["1.5", "2.25", "0", "5", "3.125"],
    "Infer-m": ["entailment", "neutral", "contradiction", "neutral", "neutral", "entailment"],
    "Infer-mm": ["contradiction", "neutral", "entailment"],
    "Refer": "0100",
    "DX": ["entailment", "neutral", "neutral", "contradiction"],
}


@pytest.fixture(scope="session")
def tiny() -> Benchmark:
    return load_benchmark(Path(__file__).parents[1] / "tiny.toml")


@pytest.fixture
def good() -> dict[str, str]:
    """A valid submission as texts by file name."""
    return {
        f"{name}.tsv": "index\tprediction\n" + "".join(f"{at}\t{value}\n" for at, value in enumerate(values))
        for name, values in FILES.items()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Write texts by name into a new folder."""

    def write(files: dict[str, str]) -> Path:
        target = tmp_path / "submission"
        target.mkdir()
        for name, text in files.items():
            (target / name).write_bytes(text.encode())
        return target

    return write
