"""Fine-tuning in several processes: the weights of one, the same files, and one process that writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from systems.adapters import tiny

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
from systems.adapters import several_tuned  # noqa: E402

from gluebench.benchmark import Benchmark  # noqa: E402
from gluebench.submission import check  # noqa: E402
from gluebench.systems import SYSTEMS  # noqa: E402
from gluebench.systems.adapters import ModelError, fine_tuner  # noqa: E402
from gluebench.systems.adapters.fine_tuner import Examples, Loop  # noqa: E402
from gluebench.systems.adapters.fine_tuning import FineTuning  # noqa: E402
from gluebench.systems.adapters.session import Plan, Session  # noqa: E402
from gluebench.systems.training.engine import Engine  # noqa: E402

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


class Meeting:
    """Where the threads of a test exchange values, in place of processes."""

    def __init__(self, world: int) -> None:
        self.values: list[object] = [None] * world
        self.barrier = threading.Barrier(world, timeout=60)

    def exchanged(self, rank: int, value):
        self.values[rank] = value
        self.barrier.wait()
        values = list(self.values)
        self.barrier.wait()
        return values


class Threaded(Engine):
    """One of several engines in threads, which add their gradients up before each step."""

    def __init__(self, rank: int, meeting: Meeting) -> None:
        super().__init__()
        self.rank, self.world, self._meeting = rank, len(meeting.values), meeting

    def step(self, clip: float) -> None:
        own = [weight.grad.clone() for weight in self._trained]
        for weight, *gradients in zip(self._trained, *self.gathered(own), strict=True):
            weight.grad = sum(gradients) / self.world
        super().step(clip)

    def gathered(self, value):
        return self._meeting.exchanged(self.rank, value)


class Line(torch.nn.Module):
    """A linear model of a checkpoint's interface."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
        generator = torch.Generator().manual_seed(5)
        for values in self.parameters():
            values.data = torch.randn(values.shape, generator=generator)

    def forward(self, values):
        return SimpleNamespace(logits=self.layer(values))


VALUES = torch.randn(37, 4, generator=torch.Generator().manual_seed(0))


def trained(engine: Engine, state: Path | None = None, *, values=VALUES, scores=None):
    """Train on 37 rows in batches of 8 (the last has 5), each in parts of 3, 3 and 2."""
    model = Line()
    settings = FineTuning(learning_rate=0.05, epochs=3, batch_size=8, accumulate=3)
    examples = Examples([4] * 37, lambda rows: {"values": values[list(rows)]}, (VALUES[:, 0] > 0).long())
    loop = Loop(model, examples, settings, name="x, RTE", seed=0, engine=engine, state=state, save_every=0.0)
    score = iter(scores[engine.rank]).__next__ if scores else None
    outcome = loop.run(score, lambda done, of: None)
    return model.state_dict(), outcome


def in_threads(world: int, folder: Path, **options):
    meeting = Meeting(world)
    with ThreadPoolExecutor(world) as threads:
        futures = [
            threads.submit(trained, Threaded(rank, meeting), folder / f"{rank}.pt", **options)
            for rank in range(world)
        ]
        return [future.exception() or future.result() for future in futures]


@pytest.mark.parametrize("world", [2, 4])
def test_shares_of_a_batch_weigh_as_many_rows_as_they_have(tmp_path: Path, world: int):
    """A share without a row weighs nothing: of four processes, one has none of a part of three or two."""
    alone, _ = trained(Engine())
    for weights_there, _ in in_threads(world, tmp_path):
        for name, values in alone.items():
            assert torch.allclose(values, weights_there[name], rtol=0, atol=1e-6), name
    assert [path.name for path in tmp_path.iterdir()] == ["0.pt"]


def test_the_leading_process_chooses_the_epoch(tmp_path: Path):
    leading, other = in_threads(2, tmp_path, scores=[(0.1, 0.9, 0.2), (0.9, 0.1, 0.2)])
    assert leading[1].scores == other[1].scores == (0.1, 0.9, 0.2)
    assert all(torch.equal(values, other[0][name]) for name, values in leading[0].items())


def test_all_processes_stop_at_a_loss_that_is_not_finite_in_one(tmp_path: Path):
    values = VALUES.clone()
    first = fine_tuner.batches([4] * 37, 8, seed=0, epoch=0)[0]
    values[first[1]] = float("nan")  # the second process's row
    errors = in_threads(2, tmp_path, values=values)
    assert all(isinstance(error, ModelError) for error in errors)
    assert {str(error).partition(".")[0] for error in errors} == {
        "x, RTE: the loss is nan at step 1 of 15; expected a finite number"
    }


def test_another_process_does_the_tasks_that_the_leading_one_misses_and_writes_none(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
):
    class Agreeing:
        inner = SYSTEMS["majority"].make()
        calls: list[str]

        def __init__(self):
            self.calls = []

        def agreed(self, names):
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
    Session(tmp_path / "r", Plan(sample, sample_folder, tasks), {}).follow(system)
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
        assert torch.allclose(values, two[key], rtol=0, atol=1e-6), key
    answers = {path.read_text() for path in tmp_path.glob("*/answers-*.json")}
    assert len(list(tmp_path.glob("two/answers-*.json"))) == 2
    assert len(answers) == 1
    records = [json.loads((tmp_path / run / "RTE" / "training.json").read_bytes()) for run in ("one", "two")]
    assert [record["processes"] for record in records] == [1, 2]
    assert records[0]["scores"] == records[1]["scores"]


@pytest.mark.slow
def test_two_processes_that_are_killed_go_on_to_the_same_weights(tmp_path: Path):
    """To the last bit, with the dropout of each process."""
    name = model(tmp_path, dropout=0.2)
    launch(SCRIPT, name, str(tmp_path / "whole"), "0", folder=tmp_path)
    killed = launch(SCRIPT, name, str(tmp_path / "killed"), "8", folder=tmp_path, check=False)
    assert killed.returncode != 0
    assert (tmp_path / "killed" / "RTE" / "state.pt").is_file()
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
