"""Several processes: the same weights as one process comes to with the same batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from systems.training.several import main
from systems.training.toy import TOY, best_weights

from gluebench.systems.training.engine import Engine, engine
from gluebench.systems.training.evaluation import compute_together
from gluebench.systems.training.log import read_log
from gluebench.systems.training.settings import Settings

pytest.importorskip("accelerate", reason="Accelerate is not installed; pip install 'gluebench[train]'")
TESTS = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("several.py")


def launch(folder: Path, settings: Settings, *, processes: int, body: str = "toy", stop: int = 0) -> None:
    """Train in several processes of this machine, which speak to each other by gloo."""
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
    command += [str(processes), str(SCRIPT), str(folder), json.dumps(asdict(settings)), body, str(stop)]
    subprocess.run(command, env=environment, check=True, timeout=240)


@pytest.mark.slow
@pytest.mark.parametrize("body", ["elmo", "cove", "glove"])
def test_two_processes_that_are_stopped_come_to_the_same_end(tmp_path: Path, body: str) -> None:
    """To the last bit: each has its own generator, its own losses, and its own carried states."""
    settings = replace(TOY, save_minutes=0, max_checks=2)
    launch(tmp_path / "whole", settings, processes=2, body=body)
    launch(tmp_path / "stopped", settings, processes=2, body=body, stop=17)
    assert (tmp_path / "stopped" / "state.pt").is_file()
    launch(tmp_path / "stopped", settings, processes=2, body=body)
    whole, stopped = best_weights(tmp_path / "whole"), best_weights(tmp_path / "stopped")
    assert all(torch.equal(values, stopped[name]) for name, values in whole.items())
    assert (tmp_path / "whole" / "log.csv").read_bytes() == (tmp_path / "stopped" / "log.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("idle", "body"), [("keep", "toy"), ("decay", "toy"), ("keep", "elmo")])
def test_two_processes_equal_one_with_the_same_batches(tmp_path: Path, idle: str, body: str) -> None:
    settings = replace(TOY, idle_heads=idle, check_every=40, max_checks=1)  # type: ignore[arg-type]
    main(tmp_path / "one", json.dumps(asdict(settings)), body)
    launch(tmp_path / "two", settings, processes=2, body=body)
    one, two = best_weights(tmp_path / "one"), best_weights(tmp_path / "two")
    for name, values in one.items():
        assert torch.allclose(values, two[name], rtol=0, atol=1e-6), name
    alone, together = read_log(tmp_path / "one")[0], read_log(tmp_path / "two")[0]
    assert together == {name: pytest.approx(value, abs=1e-6) for name, value in alone.items()}
    card = json.loads((tmp_path / "two" / "card.json").read_text())
    assert card["hardware"]["processes"] == 2


@pytest.mark.slow
def test_accelerates_launcher_starts_the_command_and_its_precision_is_heeded(
    sample_folder: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1"]
    command += ["--num_machines", "1", "--dynamo_backend", "no", "--mixed_precision", "bf16"]
    command += ["-m", "gluebench", "train", "--benchmark", "sample", "--data", str(sample_folder)]
    command += ["--out", str(tmp_path), "--tasks", "RTE", "--hidden", "4", "--device", "cpu"]
    command += ["--set", "max_checks=1", "--set", "check_every=2", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "src")}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=240)
    assert json.loads(done.stdout)["tasks"]["RTE"]["score"]["low"] is not None
    card = json.loads((tmp_path / "seed-111" / "card.json").read_text())
    assert card["settings"]["precision"] == "bf16"


class OneOfThree(Engine):
    """A process whose two others have already computed their shares."""

    world = 3

    def __init__(self, rank: int, shares: dict[int, Any]) -> None:
        super().__init__()
        self.rank = rank
        self._shares = shares

    def gather(self, value: Any) -> list[Any]:
        self._shares[self.rank] = value
        return [self._shares[rank] for rank in sorted(self._shares)]


def test_processes_compute_shares_of_each_batch_and_get_the_whole_in_order() -> None:
    """Of six items in batches of four, the last process has no share of the second."""
    lengths = [5, 1, 4, 2, 3, 6]
    calls: list[list[int]] = []

    def compute(items: Sequence[int]) -> torch.Tensor:
        calls.append(list(items))
        return torch.tensor(items, dtype=torch.float64).unsqueeze(1) * torch.tensor([1.0, -1.0])

    def advance(done: int, of: int) -> None:
        progress.append((done, of))

    progress: list[tuple[int, int]] = []
    shares: dict[int, Any] = {}
    for rank in range(3):
        engine = OneOfThree(rank, shares)
        outputs = compute_together(lengths, lengths, compute, batch_size=4, engine=engine, advance=advance)
    assert progress == [(4, 6), (6, 6)] * 3
    assert outputs.dtype == torch.float32
    assert outputs.tolist() == [[length, -length] for length in lengths]
    assert calls == [[1, 4], [5], [2], [6], [3]]


def test_a_process_of_its_own_needs_no_accelerate(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("ACCELERATE") or name == "WORLD_SIZE":
            monkeypatch.delenv(name)
    assert type(engine(device="cpu")) is Engine
    with pytest.raises(ValueError, match="fp16 needs its loss scaled by Accelerate"):
        Engine(precision="fp16")


def test_a_model_that_is_split_up_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(ValueError, match="ACCELERATE_USE_FSDP is set"):
        engine(device="cpu")
