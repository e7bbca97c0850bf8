"""Several runs of one row: the seeds of multi-task training, or of each task by itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gluebench.benchmark import Task
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.run import Say, quiet
from gluebench.systems.training.checkpoint import Outcome
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine, seeded
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trainer import Trainer

MakeModel = Callable[[Sequence[Task]], MultiTaskModel]
"""Makes a new model with a head for each task; PyTorch's generator is seeded before it is called."""


@dataclass(frozen=True, slots=True)
class Runs:
    """What the runs of a row have in common."""

    make_model: MakeModel
    settings: Settings
    seeds: Sequence[int]
    make_engine: Callable[[], Engine] = Engine
    """By default an engine of one process on the CPU."""
    about: Mapping[str, Any] = field(default_factory=dict)
    trackers: Sequence[str] = ()

    def best(
        self, data: Mapping[str, TaskData], folder: Path, *, together: bool, say: Say = quiet
    ) -> dict[str, Outcome]:
        """Train a run for each seed, unless it is finished; return task to the run that answers it.

        That is the best on dev, of equals the first: of one model for all tasks by the macro-average, of a
        model for each, trained in `<folder>/<task>`, by its score (section 5). No run answers auxiliary data.
        """
        if together:
            outcomes = [self._run(seed, data, folder, say) for seed in self.seeds]
            best = max(outcomes, key=lambda outcome: outcome.score)
            return {name: best for name, task_data in data.items() if not task_data.auxiliary}
        return {name: self._best_of(name, task_data, folder, say) for name, task_data in data.items()}

    def _best_of(self, name: str, task_data: TaskData, folder: Path, say: Say) -> Outcome:
        def say_of_task(line: str) -> None:
            say(f"{name}: {line}")

        home = folder / quote(name, safe="")
        outcomes = [self._run(seed, {name: task_data}, home, say_of_task) for seed in self.seeds]
        return max(outcomes, key=lambda outcome: outcome.tasks[name].score)

    def _run(self, seed: int, data: Mapping[str, TaskData], folder: Path, say: Say) -> Outcome:
        """Run one seed in `<folder>/seed-<seed>`."""
        with seeded(seed):
            model = self.make_model([task_data.task for task_data in data.values()])
        trainer = Trainer(
            model,
            data,
            replace(self.settings, seed=seed),
            folder / f"seed-{seed}",
            say=lambda line: say(f"seed {seed}, {line}"),
            engine=self.make_engine(),
            trackers=self.trackers,
            about=self.about,
        )
        outcome = trainer.train()
        say(f"seed {seed}: {100 * outcome.score:.1f} on dev, ended by: {outcome.stopped}")
        return outcome
