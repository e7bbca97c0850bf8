"""The walks of ARCHITECTURE.md are what the commands do: each names functions in the order of their calls.

tests/leaderboard/test_walk.py has the walk of an upload.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from walks import expect_walk

from gluebench.cli import main


def run(*words: str) -> None:
    """Run a command, which must succeed."""
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output


@pytest.fixture(scope="module")
def submissions(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("walks")
    paths = [str(folder / f"{name}.zip") for name in ("majority", "overlap")]
    for path in paths:
        model = f"system:{Path(path).stem}"
        data = ["--benchmark", "sample", "--data", str(sample_folder)]
        run("run", model, *data, "--no-dev", "--out", path)
    return paths


@pytest.mark.parametrize(
    ("title", "command"), [("Grade a submission", "grade"), ("Rank many submissions", "rank")]
)
def test_a_walk_is_what_the_command_does(
    title: str, command: str, submissions: list[str], sample_folder: Path
) -> None:
    files = submissions if command == "rank" else submissions[:1]
    gold = ["--benchmark", "sample", "--gold", str(sample_folder / "gold")]
    expect_walk(title, lambda: run(command, *files, *gold))


@pytest.mark.slow
def test_the_walk_of_training(sample_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    options = ["--preset", "tiny", "--tasks", "RTE", "--set", "max_checks=1", "--set", "check_every=2"]
    data = ["--benchmark", "sample", "--data", str(sample_folder), "--out", str(tmp_path / "runs")]
    expect_walk("Train on a batch", lambda: run("train", *options, *data))
