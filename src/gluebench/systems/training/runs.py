"""Several runs of one row: the seeds of multi-task training, or of each task by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack
from urllib.parse import quote

from gluebench.benchmark import Task
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.run import Say, quiet
from gluebench.systems.training.checkpoint import Outcome
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, seeded
from gluebench.systems.training.settings import SEEDS, Settings
from gluebench.systems.training.trainer import Trainer

MakeModel = Callable[[Sequence[Task]], MultiTaskModel]
"""Makes a new model with a head for each task; PyTorch's generator is seeded before it is called."""


class Options(TypedDict, total=False):
    """What the runs of a row have in common."""

    make_engine: Callable[[], Engine]
    """By default an engine of one process on the CPU."""
    about: Mapping[str, Any]
    tensorboard: bool


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
    say: Say = quiet,
    **options: Unpack[Options],
) -> Runs:
    """One run for each seed, each in `<folder>/seed-<seed>`; a finished one is not run again."""
    outcomes = []
    make_engine = options.get("make_engine")
    for seed in seeds:
        with seeded(seed):
            model = make_model([task_data.task for task_data in data.values()])
        trainer = Trainer(
            model,
            data,
            replace(settings, seed=seed),
            folder / f"seed-{seed}",
            say=lambda line, seed=seed: say(f"seed {seed}, {line}"),  # type: ignore[misc]
            engine=make_engine() if make_engine else None,
            tensorboard=options.get("tensorboard", True),
            about=options.get("about"),
        )
        outcome = trainer.train()
        say(f"seed {seed}: {100 * outcome.score:.1f} on dev, ended by: {outcome.stopped}")
        outcomes.append(outcome)
    return Runs(tuple(outcomes))


def best_runs(
    make_model: MakeModel,
    data: Mapping[str, TaskData],
    settings: Settings,
    seeds: Sequence[int],
    *,
    together: bool,
    folder: Path,
    say: Say = quiet,
    **options: Unpack[Options],
) -> dict[str, Outcome]:
    """Task to the run that answers it, of one model for all tasks or of one for each (section 5).

    A model of one task is trained in `<folder>/<task>`; auxiliary data are answered by no run.
    """
    if together:
        best = train_runs(make_model, data, settings, seeds, folder=folder, say=say, **options).best
        return {name: best for name, task_data in data.items() if not task_data.auxiliary}
    chosen = {}
    for name, task_data in data.items():
        runs = train_runs(
            make_model,
            {name: task_data},
            settings,
            seeds,
            folder=folder / quote(name, safe=""),
            say=lambda line, name=name: say(f"{name}: {line}"),  # type: ignore[misc]
            **options,
        )
        chosen[name] = runs.best_of(name)
    return chosen
