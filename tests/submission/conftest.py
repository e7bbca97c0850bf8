from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.submission import Problem
from gluebench.submission.archive import Archive, read_members

FILES = {
    "Para": "101100",
    "Sim": ["1.5", "2.25", "0", "5", "3.125"],
    "Infer-m": ["entailment", "neutral", "contradiction", "neutral", "neutral", "entailment"],
    "Infer-mm": ["contradiction", "neutral", "entailment"],
    "Refer": "0100",
    "DX": ["entailment", "neutral", "neutral", "contradiction"],
}
MANUAL = (Path(__file__).parents[2] / "docs" / "reference" / "submission.md").read_text()
CODES = set(re.findall("`([a-z0-9-]+)`", "".join(re.findall(r"(?m)^\| `.*? \|", MANUAL))))
"""The codes in the first column of the manual's tables."""
CAPITALS = {"GLUE", "QNLI", "WNLI", "README", "SUBMISSION", "__MACOSX", "JSON", "MNLI"}


def well_written(problem: Problem) -> None:
    """A person can look the problem up, read it as a sentence, and act on it."""
    assert problem.code in CODES, f"{problem.code} is not in docs/reference/submission.md"
    assert problem.severity in ("error", "warning", "notice")
    assert isinstance(problem.file, str)
    assert re.fullmatch(r"[a-z].*[^.]", problem.expected), problem.expected
    assert re.fullmatch(r"(?s)[A-Z`].*[a-z0-9`)][.?]", problem.fix), problem.fix
    assert problem.line is None or problem.line >= 1
    assert problem.index is None or problem.index >= 0
    assert problem.value is None or isinstance(problem.value, str)
    own_words = re.sub(r"'[^']*'", "", f"{problem.expected} {problem.fix}")
    shouted = set(re.findall(r"\b[A-Z_]{4,}|XX", own_words)) - CAPITALS
    assert not shouted, f"{problem.expected} {problem.fix}"


@pytest.fixture(scope="module", autouse=True)
def every_problem_is_well_written() -> Iterator[None]:
    """Judge the wording of whatever the tests of this folder bring up."""
    init = Problem.__init__

    def judged(self: Problem, *args: Any, **named: Any) -> None:
        init(self, *args, **named)
        well_written(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "__init__", judged)
        yield


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
def read(tmp_path: Path) -> Callable[[bytes], Archive]:
    """Read these bytes as an archive."""

    def write_and_read(data: bytes) -> Archive:
        path = tmp_path / "submission.zip"
        path.write_bytes(data)
        return read_members(path)

    return write_and_read


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Write texts by name into a new folder."""

    def write(files: dict[str, str]) -> Path:
        target = tmp_path / "submission"
        target.mkdir()
        for name, text in files.items():
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).write_bytes(text.encode())
        return target

    return write
