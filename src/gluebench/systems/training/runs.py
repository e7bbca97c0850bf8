"""Several runs of one row: the seeds of multi-task training, or of each task by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gluebench.benchmark import Task
from gluebench.systems.neural.heads import MultiTaskModel
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, seeded
from gluebench.systems.training.log import Say
from gluebench.systems.training.outcome import Outcome
from gluebench.systems.training.settings import SEEDS, Settings
from gluebench.systems.training.trainer import Trainer

MakeModel = Callable[[Sequence[Task]], MultiTaskModel]
"""Makes a new model with a head for each task; PyTorch's generator is seeded before it is called."""
MakeEngine = Callable[[], Engine]


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one row, in the order of their seeds."""

    outcomes: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome:
        """The run of the best macro-average on dev (section 5); of equals the first."""
        return max(self.outcomes, key=lambda outcome: outcome.score)

    def best_of(self, task: str) -> Outcome:
        """The run that scores this task best on dev, as the paper chooses for single-task training."""
        return max(self.outcomes, key=lambda outcome: outcome.tasks[task].score)


def train_runs(
    make_model: MakeModel,
    data: Mapping[str, TaskData],
    settings: Settings,
    seeds: Sequence[int] = SEEDS,
    *,
    folder: Path,
    say: Say | None = None,
    make_engine: MakeEngine | None = None,
    about: Mapping[str, Any] | None = None,
    tensorboard: bool = True,
) -> Runs:
    """One run for each seed, each in `<folder>/seed-<seed>`; a finished one is not run again."""
    outcomes = []
    tell = say or (lambda line: None)
    for seed in seeds:
        with seeded(seed):
            model = make_model([task_data.task for task_data in data.values()])
        trainer = Trainer(
            model,
            data,
            replace(settings, seed=seed),
            folder / f"seed-{seed}",
            say=lambda line, seed=seed: tell(f"seed {seed}, {line}"),  # type: ignore[misc]
            engine=make_engine() if make_engine else None,
            tensorboard=tensorboard,
            about=about,
        )
        outcome = trainer.train()
        tell(f"seed {seed}: {100 * outcome.score:.1f} on dev, ended by: {outcome.stopped}")
        outcomes.append(outcome)
    return Runs(tuple(outcomes))


def train_each(
    make_model: MakeModel,
    data: Mapping[str, TaskData],
    settings: Settings,
    seeds: Sequence[int] = SEEDS,
    *,
    folder: Path,
    say: Say | None = None,
    make_engine: MakeEngine | None = None,
    about: Mapping[str, Any] | None = None,
    tensorboard: bool = True,
) -> dict[str, Runs]:
    """Single-task training: for each task, runs of a model of its own, in `<folder>/<task>`."""
    tell = say or (lambda line: None)
    return {
        name: train_runs(
            make_model,
            {name: task_data},
            settings,
            seeds,
            folder=folder / quote(name, safe=""),
            say=lambda line, name=name: tell(f"{name}: {line}"),  # type: ignore[misc]
            make_engine=make_engine,
            about=about,
            tensorboard=tensorboard,
        )
        for name, task_data in data.items()
    }
