"""All that changes as a run goes on: saved as one file, and restored so that nothing tells the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gluebench.systems.training import checkpoint
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.progress import Progress
from gluebench.systems.training.sampling import BatchStream, TaskSampler
from gluebench.systems.training.schedule import Plateau


@dataclass(slots=True)
class State:
    """The moving parts of a run, and PyTorch's random generators with them."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    engine: Engine
    plateau: Plateau
    sampler: TaskSampler
    streams: Mapping[str, BatchStream]
    losses: dict[str, Tensor]
    """Task to the sum of its losses since the last check: this process's part of it."""
    progress: Progress

    def save(self, folder: Path, identity: Mapping[str, Any]) -> None:
        """Write the state; only then are weights removed that it no longer names."""
        ranks = self.engine.gathered(self._own())
        if self.engine.rank:
            return
        values = {
            "run": identity,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self.engine.scaler_state(),
            "plateau": self.plateau.state(),
            "sampler": self.sampler.state(),
            "streams": {name: stream.state() for name, stream in self.streams.items()},
            "progress": self.progress.state(),
            "ranks": ranks,
        }
        checkpoint.save(folder / checkpoint.STATE, values)
        self.progress.remove_others(folder)

    def restore(self, folder: Path, identity: Mapping[str, Any]) -> None:
        """Take the state that was saved in a folder, if there is one. Raises DataError for another run's."""
        path = folder / checkpoint.STATE
        if not path.is_file():
            return
        values = checkpoint.load(path)
        checkpoint.same_run(folder, values["run"], identity)
        self.model.load_state_dict(values["model"])
        self.optimiser.load_state_dict(values["optimiser"])
        if values["scaler"] is not None:
            self.engine.restore_scaler(values["scaler"])
        self.plateau = Plateau(**values["plateau"])
        self.sampler.restore(values["sampler"])
        for name, stream in self.streams.items():
            stream.restore(values["streams"][name])
        self.progress = Progress(**values["progress"])
        self._take(values["ranks"][self.engine.rank])

    def _own(self) -> dict[str, Any]:
        """What each process has for itself."""
        return {
            "cpu": torch.get_rng_state(),
            "gpu": torch.cuda.get_rng_state() if torch.cuda.is_available() else None,
            "losses": {name: float(total) for name, total in self.losses.items()},
        }

    def _take(self, own: Mapping[str, Any]) -> None:
        for name, total in own["losses"].items():
            self.losses[name].fill_(total)
        torch.set_rng_state(own["cpu"])
        if own["gpu"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(own["gpu"])
