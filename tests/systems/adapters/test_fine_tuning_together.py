"""Fine-tuning in several processes: the weights of one, the same files, and one process that writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from systems.adapters import tiny

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
from systems.adapters import several_tuned  # noqa: E402

from gluebench.benchmark import Benchmark  # noqa: E402
from gluebench.submission import check  # noqa: E402
from gluebench.systems.adapters import fine_tuned  # noqa: E402
from gluebench.systems.adapters.fine_tuning import Recipe  # noqa: E402
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
    return subprocess.run(
        command, env=environment, check=check, timeout=240, cwd=folder, capture_output=True, text=True
    )


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

    def exchanged(self, rank: int, value: object) -> list[object]:
        self.values[rank] = value
        self.barrier.wait()
        values = list(self.values)
        self.barrier.wait()
        return values


class Threaded(Engine):
    """One of several engines in threads; only the last backward pass of an update exchanges gradients."""

    def __init__(self, rank: int, meeting: Meeting) -> None:
        super().__init__()
        self.rank, self.world, self._meeting = rank, len(meeting.values), meeting

    def step(self, clip: float) -> None:
        everybody = self._meeting.exchanged(self.rank, [weight.grad.clone() for weight in self._trained])
        for weight, *gradients in zip(self._trained, *everybody, strict=True):
            weight.grad = sum(gradients) / self.world
        super().step(clip)

    def gathered(self, value: object) -> list[object]:
        return self._meeting.exchanged(self.rank, value)


def tuned(name: str, folder: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fine_tuned, "engine", lambda precision, device: engine)
    return fine_tuned.FineTunedHere(
        name, Recipe(overrides=several_tuned.SETTINGS), folder=folder, keep=True, seed=engine.rank * 0
    )
