"""Jobs of the tests of sweeps; each of their processes imports this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def note(folder: Path, *, seed: int) -> None:
    """Leave a line for each time it is called."""
    with (folder / "calls.txt").open("a") as file:
        file.write(f"{seed}\n")


def die_once(folder: Path, *, seed: int) -> None:
    """Kill the process the first time it is called with seed 2."""
    note(folder, seed=seed)
    if seed == 2 and calls(folder) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def die_always(folder: Path, *, seed: int) -> None:
    note(folder, seed=seed)
    os.kill(os.getpid(), signal.SIGKILL)


def fail(folder: Path, *, seed: int) -> None:
    note(folder, seed=seed)
    raise ValueError(f"no luck with {seed}")


def show_device(folder: Path, *, seed: int) -> None:
    (folder / "device.txt").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", ""))


def count_up(folder: Path, *, seed: int) -> None:
    """Count to 8 in the job's folder, going on where an earlier process has stopped.

    A process may die after its work and before the sweep notes it; the next one finds the result. Fails if
    two processes have done the work at the same time.
    """
    path, result = folder / "count.txt", folder / "result.txt"
    if result.exists():
        return
    while (count := int(path.read_text()) if path.exists() else 0) < 8:
        time.sleep(0.1)
        path.with_suffix(".part").write_text(str(count + 1))
        path.with_suffix(".part").replace(path)
    path.with_suffix(".own").write_text(str(seed * count))
    os.link(path.with_suffix(".own"), result)


def train_slowly(folder: Path, *, seed: int, seconds: float = 0.05) -> None:
    """Train a small BiLSTM that waits after each update, and leave a line for it."""
    from dataclasses import replace

    from systems.training.killed import SETTINGS
    from systems.training.toy import toy_data, toy_model

    from gluebench.systems.training.trainer import Trainer

    class Slow(Trainer):
        def _update(self) -> None:
            super()._update()
            with (folder / "updates.txt").open("a") as file:
                file.write(f"{self._progress.update}\n")
            time.sleep(seconds)

    data = toy_data("SST-2", "STS-B", "MNLI")
    model = toy_model([each.task for each in data.values()], seed=seed, body="glove")
    settings = replace(SETTINGS, seed=seed)
    Slow(model, data, settings, folder / "run").train()


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    return len(path.read_text().splitlines()) if path.is_file() else 0
