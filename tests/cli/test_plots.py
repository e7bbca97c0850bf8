"""`--plot` of grade, compare, rank and diagnose: a file beside the tables, refused before all else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gluebench
from gluebench.cli import main
from gluebench.systems import SYSTEMS

NAMES = ("majority", "overlap")


@pytest.fixture(scope="module")
def home(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plots")
    for name in NAMES:
        predictions = gluebench.run(SYSTEMS[name].make(), "sample", sample_folder)
        gluebench.write_submission(folder / f"{name}.zip", predictions, "sample")
    return folder


def run(home: Path, gold: Path, command: str, plot: Path, *more: str) -> Result:
    subs = [str(home / f"{name}.zip") for name in (NAMES[:1] if command == "grade" else NAMES)]
    words = [command, *subs, "--benchmark", "sample", "--gold", str(gold / "gold"), "--plot", str(plot)]
    return CliRunner().invoke(main, [*words, *more], prog_name="gluebench")


@pytest.mark.parametrize("command", ["grade", "compare", "rank", "diagnose"])
def test_a_picture_is_drawn_beside_the_tables(
    home: Path, sample_folder: Path, tmp_path: Path, command: str
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
    quick = ["--resamples", "100"] if command == "compare" else []
    for name, start in (("a.svg", b"<?xml"), ("b.png", b"\x89PNG"))[: 2 if command == "grade" else 1]:
        done = run(home, sample_folder, command, tmp_path / name, *quick)
        assert done.exit_code == 0, done.output
        assert f"drawn: {tmp_path / name}" in done.stderr
        assert "Sample" in done.stdout or "sample" in done.stdout
        assert (tmp_path / name).read_bytes().startswith(start)
        quick = [*quick, "--json"]


def test_several_runs_are_drawn_as_their_mean(home: Path, sample_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
    subs = [str(home / f"{name}.zip") for name in NAMES]
    words = ["grade", *subs, "--benchmark", "sample", "--gold", str(sample_folder / "gold")]
    done = CliRunner().invoke(main, [*words, "--plot", str(tmp_path / "runs.svg")], prog_name="gluebench")
    assert (done.exit_code, (tmp_path / "runs.svg").is_file()) == (0, True)


def test_a_file_that_cannot_be_drawn_is_refused_before_anything_is_read(
    home: Path, sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, message in (("a.gif", "does not end in .png, .svg, .pdf"), ("none/a.png", "is not a folder")):
        done = run(home, sample_folder, "grade", tmp_path / name)
        assert (done.exit_code, message in " ".join(done.output.split())) == (2, True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run(home, sample_folder, "rank", tmp_path / "a.png")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "pip install 'gluebench[plot]'" in done.output
