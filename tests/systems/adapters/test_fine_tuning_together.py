"""Fine-tuning in several processes: the weights of one, the same files, and one process that writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from systems.adapters import tiny

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
from systems.adapters import several_tuned  # noqa: E402

from gluebench.benchmark import Benchmark  # noqa: E402
from gluebench.submission import check  # noqa: E402
from gluebench.systems import SYSTEMS  # noqa: E402
from gluebench.systems.adapters.session import RunPlan, Session  # noqa: E402
from gluebench.systems.training.log import read_log  # noqa: E402

TESTS = Path(__file__).resolve().parents[2]
SCRIPT = str(Path(__file__).with_name("several_tuned.py"))


def launch(*words: str, folder: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in two processes of this machine, which speak to each other by gloo."""
    pytest.importorskip("accelerate", reason="Accelerate is not installed; pip install 'gluebench[train]'")
    paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *words]
    done = subprocess.run(command, env=environment, timeout=240, cwd=folder, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "RTE" / "model.safetensors")


def model(folder: Path, *, dropout: float) -> str:
    """A tiny BERT with a dropout of its own."""
    path = tiny.body(folder / f"bert-{dropout}") / "config.json"
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **rates}))
    return str(path.parent)


def test_another_process_does_the_tasks_that_the_leading_one_misses_and_writes_none(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
):
    class Agreeing:
        inner = SYSTEMS["majority"].make()
        calls: list[str]

        def __init__(self):
            self.calls = []

        def broadcast(self, names):
            self.calls.append(",".join(names))
            return ["WNLI", "RTE"]

        def fit(self, task, train, dev):
            self.calls.append(f"fit {task.name}")
            self.inner.fit(task, train, dev)

        def predict(self, task, examples):
            self.calls.append(f"predict {task.name}")
            return self.inner.predict(task, examples)

    tasks = [sample.task(name) for name in ("CoLA", "RTE", "WNLI")]
    system = Agreeing()
    Session(tmp_path / "r", RunPlan(sample, sample_folder, tasks), {}).follow(system)
    rest = [f"{what} {name}" for name in ("RTE", "WNLI") for what in ("fit", "predict", "predict")]
    assert system.calls == ["CoLA,RTE,WNLI", *rest]
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_two_processes_come_to_the_weights_and_answers_of_one(tmp_path: Path):
    name = model(tmp_path, dropout=0.0)
    several_tuned.main(name, tmp_path / "one")
    launch(SCRIPT, name, str(tmp_path / "two"), "0", folder=tmp_path)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for key, values in one.items():
        # The gradient of the keys' bias is 0 but for rounding errors, which Adam scales up to whole steps.
        if not key.endswith("key.bias"):
            assert torch.allclose(values, two[key], rtol=0, atol=1e-6), key
    answers = {path.read_text() for path in tmp_path.glob("*/answers-*.json")}
    assert len(list(tmp_path.glob("two/answers-*.json"))) == 2
    assert len(answers) == 1
    records = [json.loads((tmp_path / run / "RTE" / "training.json").read_bytes()) for run in ("one", "two")]
    assert [record["processes"] for record in records] == [1, 2]
    logs = [read_log(next((tmp_path / run).rglob("log.csv")).parent) for run in ("one", "two")]
    scores = [[row["RTE score"] for row in rows] for rows in logs]
    assert scores[0] == scores[1]


@pytest.mark.slow
def test_two_processes_that_are_killed_go_on_to_the_same_weights(tmp_path: Path):
    """To the last bit, with the dropout of each process."""
    name = model(tmp_path, dropout=0.2)
    launch(SCRIPT, name, str(tmp_path / "whole"), "0", folder=tmp_path)
    killed = launch(SCRIPT, name, str(tmp_path / "killed"), "8", folder=tmp_path, check=False)
    assert killed.returncode != 0
    assert list((tmp_path / "killed" / "RTE").rglob("state.pt"))
    launch(SCRIPT, name, str(tmp_path / "killed"), "0", folder=tmp_path)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(torch.equal(values, resumed[key]) for key, values in whole.items())


@pytest.mark.slow
def test_a_run_in_two_processes_has_one_voice_and_one_submission(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
):
    words = ["-m", "gluebench", "run", f"hf:{model(tmp_path, dropout=0.1)}", "--benchmark", "sample"]
    words += ["--data", str(sample_folder), "--device", "cpu", "--out", "o.zip", "--epochs", "1"]
    done = launch(*words, "--fine-tune", "--tasks", "RTE,WNLI", "--seeds", "1,2", folder=tmp_path)
    assert done.stdout.count("mean") == 1
    assert done.stderr.count("[1/2] RTE: done") == 2  # one for each seed
    for seed in (1, 2):
        assert set(check(tmp_path / f"o-{seed}.zip", sample).predictions) == {"RTE", "WNLI"}
        assert not (tmp_path / f"o-{seed}.run" / "training" / "RTE").exists()
    (tmp_path / "o-2.run" / "WNLI.json").unlink()
    again = launch(*words, "--fine-tune", "--tasks", "RTE,WNLI", "--seeds", "1,2", folder=tmp_path)
    assert again.stderr.count("already done") == 2
    assert again.stderr.count("WNLI: done") == 1
