"""`gluebench sweep` and `gluebench results` as a user meets them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gluebench.cli import main
from gluebench.cli.systems.reproduce_view import save
from gluebench.data import load
from gluebench.systems.scores import Scores, published_scores, write_scores
from gluebench.systems.training import sweep as sweeps
from gluebench.systems.training.sweep import Job, Place

GUESS = """
import random

def predict(task, examples):
    return [random.choice(task.words) for _ in examples]
"""


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--benchmark", "sample"])


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the jobs one after the other in this process."""

    def run_all(todo: Sequence[Job], folder: Path, place: Place) -> None:
        for job in todo:
            sweeps.attempt(job, folder)

    monkeypatch.setattr(sweeps, "_run_local", run_all)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # without a question to PyTorch, which is slow to import


def test_an_interrupted_job_has_not_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another launcher, or the next sweep, goes on with it."""
    from gluebench.cli.systems import sweep
    from gluebench.cli.systems.run import run

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "invoke", interrupted)
    monkeypatch.setattr(sys, "argv", sys.argv)
    job = Job("RTE", sweep.run_in, {"arguments": ["majority", "--tasks", "RTE", "--data", str(tmp_path)]})
    with pytest.raises(KeyboardInterrupt):
        sweeps.attempt(job, tmp_path)
    assert not (tmp_path / "RTE" / sweeps.FAILED).exists()
    assert not sweeps.claims.is_held(tmp_path / "RTE")


def test_an_interrupted_sweep_says_what_is_kept_and_goes_on(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_then_stop(todo: Sequence[Job], folder: Path, place: Place) -> None:
        sweeps.attempt(todo[0], folder)
        signal.raise_signal(signal.SIGTERM)

    (tmp_path / "guesses.py").write_text(GUESS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(sweeps, "_run_local", one_then_stop)
    out = tmp_path / "sweep"
    options = [
        "--row",
        "py:guesses:predict",
        "--tasks",
        "RTE",
        "--seeds",
        "1,2",
        "--data",
        str(sample_folder),
    ]
    stopped = call("sweep", *options, "--out", str(out))
    assert stopped.exit_code == 143
    said = " ".join(stopped.stderr.split())
    assert f"Stopped. 1 of 2 runs finished, in {out}, with what the others saved: the same command" in said
    stopped = call("sweep", *options, "--out", str(out))
    assert "1 of 2 runs ended, 1 to do" in stopped.stderr


STUCK = """
import time

def predict(task, examples):
    time.sleep(60)
"""


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_a_sweep_and_its_runs_without_a_traceback(
    sample_folder: Path, tmp_path: Path
) -> None:
    """A terminal sends it to the sweep and to its runs."""
    (tmp_path / "stuck.py").write_text(STUCK)
    words = ["sweep", "--row", "py:stuck:predict", "--tasks", "RTE,WNLI", "--seeds", "1", "--workers", "2"]
    words += ["--data", str(sample_folder), "--out", "sweep", "--benchmark", "sample"]
    command = [sys.executable, "-m", "gluebench", *words]
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, preexec_fn=heed, **pipes)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("sweep/*/submission.run/run.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "0 of 2 runs finished" in said
    assert "Traceback" not in said


def accuracies(folder: Path, name: str, data: Path, task: str) -> list[float]:
    """Of each run, from its submission: read by hand."""
    gold = [example.label for example in load(task, "dev", data, benchmark="sample")]
    values = []
    for path in sorted(folder.glob(f"{name}*{task}*/submission.zip")):
        with zipfile.ZipFile(path) as archive:
            rows = archive.read(f"{task}.tsv").decode().splitlines()[1:]
        given = [row.split("\t")[1] for row in rows]
        values.append(sum(map(str.__eq__, given, map(str, gold))) / len(gold))
    return values


@pytest.mark.usefixtures("here")
def test_models_and_seeds_end_in_a_table_of_means_and_results_shows_it_again(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "guesses.py").write_text(GUESS)
    monkeypatch.syspath_prepend(tmp_path)
    out = str(tmp_path / "sweep")
    rows = ["--row", "py:guesses:predict", "--tasks", "RTE", "--seeds", "1,2"]
    found = call("sweep", *rows, "--data", str(sample_folder), "--out", out, "--json")
    assert found.exit_code == 0, found.output
    (guess,) = json.loads(found.stdout)["systems"]
    figures = guess["tasks"]["RTE"]["accuracy"]
    values = accuracies(tmp_path / "sweep", "py%3Aguesses", sample_folder, "RTE")
    assert len(values) == 2
    assert figures["value"] == pytest.approx(statistics.mean(values))
    assert figures["deviation"] == pytest.approx(statistics.stdev(values))
    assert figures["low"] < figures["value"] < figures["high"]
    assert (guess["runs"], guess["name"]) == (2, "py:guesses:predict")
    again = call("sweep", *rows, "--data", str(sample_folder), "--out", out, "--json")
    assert json.loads(again.stdout)["systems"][0]["tasks"] == guess["tasks"]
    other = CliRunner().invoke(main, ["sweep", *rows, "--out", out, "--benchmark", "sample", "--", "--again"])
    assert (other.exit_code, "holds a sweep with other options" in other.stderr) == (1, True)
    shown = call("results", out).stdout
    low, high = (f"{100 * figures[end]:.1f}" for end in ("low", "high"))
    mean, deviation = 100 * figures["value"], 100 * figures["deviation"]
    assert f"| py:guesses:predict (2 runs) | {mean:.1f} ± {deviation:.1f} [{low}, {high}] | 0:" in shown
    assert "| system | RTE, acc. | time |" in shown
    assert "```sh\ngluebench " in shown
    own = call("results", str(tmp_path / "sweep" / "py%3Aguesses%3Apredict, RTE, seed 2")).stdout
    assert f"| py:guesses:predict | {100 * values[1]:.1f} [" in own


SILENT = """
from gluebench.systems.run import Answers

def predict(task, examples):
    return Answers([task.words[0]] * len(examples), range(len(examples)))
"""


@pytest.mark.usefixtures("here")
def test_what_a_system_could_not_answer_is_wrong_as_in_a_run(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "silence.py").write_text(SILENT)
    monkeypatch.syspath_prepend(tmp_path)
    rows = ["--row", "py:silence:predict", "--tasks", "RTE", "--seeds", "1"]
    done = call("sweep", *rows, "--data", str(sample_folder), "--out", str(tmp_path / "sweep"), "--json")
    assert done.exit_code == 0, done.output
    (system,) = json.loads(done.stdout)["systems"]
    assert [figures["value"] for figures in system["tasks"]["RTE"].values()] == [0.0]


@pytest.mark.usefixtures("here")
def test_each_value_of_a_setting_is_a_system_and_a_failure_is_named(
    sample_folder: Path, tmp_path: Path
) -> None:
    vary = ["--vary", "device=cpu,nowhere", "--row", "system:majority", "--tasks", "RTE,WNLI", "--together"]
    data = ["--data", str(sample_folder), "--out", str(tmp_path / "sweep"), "--seeds", "1"]
    found = call("sweep", *vary, *data)
    assert found.exit_code == 1
    assert "2 of 2 runs failed" in found.stderr
    assert "system:majority, device nowhere, together, seed 1: UsageError" in found.stderr


def test_a_wrong_option_is_refused_before_any_run(sample_folder: Path, tmp_path: Path) -> None:
    common = ["sweep", "--row", "system:majority", "--data", str(sample_folder), "--out", str(tmp_path / "s")]
    found = CliRunner().invoke(main, [*common, "--benchmark", "sample", "--", "--epochz", "3"])
    assert (found.exit_code, (tmp_path / "s").exists()) == (2, False)
    assert "No such option '--epochz'" in found.stderr
    found = call(*common, "--seeds", "1,x")
    assert (found.exit_code, "is not a list of different whole numbers" in found.stderr) == (2, True)


def test_scores_of_several_commands_stand_over_published_ones(tmp_path: Path) -> None:
    figures = {"RTE": {"accuracy": {"value": 0.7, "low": 0.64, "high": 0.75}}}
    systems = [Scores("one", figures, seconds=75, command="gluebench run one"), Scores("two", figures)]
    for system in systems:
        write_scores(tmp_path / system.name / "scores.json", "glue", "dev", [system])
    write_scores(tmp_path / "other" / "scores.json", "glue", "test", systems)
    found = CliRunner().invoke(main, ["results", str(tmp_path), "--split", "dev", "--published", "cased"])
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0] == "| system | RTE, acc. | time or source |"
    assert lines[2:4] == ["| one | 70.0 [64.0, 75.0] | 1:15 |", "| two | 70.0 [64.0, 75.0] |  |"]
    assert lines[5] == "| BERT-base cased | 65.7 | run\\_glue, README of transformers' examples |"
    assert lines[-3:] == ["```sh", "gluebench run one", "```"]
    rows = CliRunner().invoke(main, ["results", str(tmp_path), "--split", "test", "--csv"]).stdout
    assert rows.splitlines()[1].startswith("one,RTE,accuracy,0.7,0.64,0.75,,1,75,")


def test_a_folder_without_scores_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    found = call("results", str(tmp_path))
    assert (found.exit_code, "no scores.json of sample's dev split in it" in found.stderr) == (1, True)
    (tmp_path / "scores.json").write_text('{"schema": "other"}')
    found = call("results", str(tmp_path))
    assert (found.exit_code, "its schema is 'other', expected 'gluebench.scores/1'" in found.stderr) == (
        1,
        True,
    )


def test_published_scores_are_numbers_of_glues_tasks() -> None:
    from gluebench.benchmark import load_benchmark

    glue = {task.name for task in load_benchmark("glue").tasks}
    for row in published_scores():
        assert row["source"]
        assert row["scores"].keys() <= glue
        for text in row["scores"].values():
            assert all(40 <= float(part) < 100 for part in text.rstrip("†").split("/"))


def add_row(folder: Path, name: str, barrier: Any) -> None:
    from gluebench.cli.common.output import Output

    barrier.wait()
    for number in range(8):
        row = {f"{name}{number}": {"RTE": [1.0]}}
        save(Output({"results": row, "benchmark": "glue", "preset": "tiny"}, [], (), []), "table6", folder)


def test_rows_that_processes_reproduce_at_once_are_all_kept(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(3)
    adding = [context.Process(target=add_row, args=(tmp_path, name, barrier)) for name in "abc"]
    for process in adding:
        process.start()
    for process in adding:
        process.join()
    rows = json.loads((tmp_path / "results.json").read_text())["tables"]["table6"]
    assert len(rows) == 24


@pytest.mark.slow
def test_two_sweeps_at_once_print_the_same_table(sample_folder: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "gluebench",
        "sweep",
        "--row",
        "system:majority",
        "--row",
        "system:overlap",
    ]
    command += ["--tasks", "RTE,SST-2", "--seeds", "1,2", "--benchmark", "sample", "--json", "--workers", "2"]
    command += ["--data", str(sample_folder), "--out", str(tmp_path / "sweep")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (json.loads(each.communicate(timeout=600)[0])["systems"] for each in both)
    assert [system["tasks"] for system in first] == [system["tasks"] for system in second]
    assert len([*(tmp_path / "sweep").glob("*/claim-*.json")]) == 8
