"""All that changes during a run, progress included: saved as one file and restored exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import torch
from torch import Tensor, nn

from gluebench.systems.training import checkpoint
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.outcome import Outcome, TaskOutcome
from gluebench.systems.training.sampling import BatchStream, TaskSampler
from gluebench.systems.training.schedule import Plateau
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.validation import TaskScore

WEIGHTS = "best-"
"""What the names of weight files begin with."""


@dataclass(slots=True)
class Progress:
    """The course of a run up to its last update."""

    began: str
    update: int = 0
    seconds: float = 0.0
    stopped: str | None = None
    """Why the run has ended; None while it goes on."""
    updates: dict[str, int] = field(default_factory=dict)
    """Task to its updates since the last check."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """What was found at each check: the rows of `log.csv`."""
    times: list[dict[str, Any]] = field(default_factory=list)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Task to what it scored with the weights kept for it: the fields of a TaskOutcome."""

    def add_check(
        self,
        scores: Mapping[str, TaskScore],
        losses: Mapping[str, float],
        *,
        average: float,
        improved: bool,
        rate: float,
        seconds: float,
    ) -> None:
        """Take what a check found; `rate` is the learning rate up to it."""
        row: dict[str, Any] = {
            "check": len(self.rows) + 1,
            "update": self.update,
            "learning_rate": rate,
            "macro": average,
            "improved": int(improved),
        }
        for name, task_score in scores.items():
            row[f"{name} score"] = task_score.score
            row |= {f"{name} {metric}": value for metric, value in task_score.metrics.items()}
            row |= {f"{name} loss": losses.get(name), f"{name} updates": self.updates.get(name, 0)}
        self.rows.append(row)
        self.times.append({"check": row["check"], "update": self.update, "seconds": round(seconds, 3)})
        self.updates = {}

    def averages(self) -> list[float]:
        """The macro-average of each check."""
        return [row["macro"] for row in self.rows]

    def beats(self, task: str, score: float) -> bool:
        """Whether it is better than what the task scored with the weights kept for it."""
        return task not in self.kept or score > self.kept[task]["score"]

    def keep(self, tasks: Sequence[str], scores: Mapping[str, TaskScore], *, together: bool) -> list[str]:
        """Note that these tasks are now best served by the present weights; the files to save them in."""
        check = len(self.rows)
        for name in tasks:
            file = f"{WEIGHTS}{check}.pt" if together else f"{WEIGHTS}{quote(name, safe='')}-{check}.pt"
            task_score = scores[name]
            self.kept[name] = {
                "score": task_score.score,
                "metrics": dict(task_score.metrics),
                "check": check,
                "weights": file,
            }
        return sorted({self.kept[name]["weights"] for name in tasks})

    def remove_others(self, folder: Path) -> None:
        """Remove the weights that are no task's best any more."""
        named = {kept["weights"] for kept in self.kept.values()}
        for path in folder.glob(f"{WEIGHTS}*.pt"):
            if path.name not in named:
                path.unlink()

    def outcome(self, folder: Path, settings: Settings) -> Outcome:
        """What the run came to, once it has stopped."""
        return Outcome(
            folder=folder,
            seed=settings.seed,
            score=max(self.averages()),
            tasks={name: TaskOutcome(**kept) for name, kept in self.kept.items()},
            checks=len(self.rows),
            updates=self.update,
            stopped=self.stopped or "",
            seconds=round(self.seconds, 1),
        )

    def state(self) -> dict[str, Any]:
        """All there is, as keywords of the class."""
        return asdict(self)


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
