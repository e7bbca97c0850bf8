"""What a run over a benchmark is made of: a task that is learnt, with every test file its model answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.systems.protocols import Predictor
from gluebench.systems.run import TRAIN, Answered, Progress, answer, fit


class Key(NamedTuple):
    """What names one test file in one of its splits."""

    role: Role
    file: str


class Asked(NamedTuple):
    """One test file, in one of its splits."""

    role: Role
    file: TestFile

    @property
    def key(self) -> Key:
        """Its name."""
        return Key(self.role, self.file.name)


class Unit(NamedTuple):
    """The least that can be done by itself: its results are those of a whole run."""

    task: Task
    """The task whose model answers."""
    asked: tuple[Asked, ...]

    def splits(self) -> list[tuple[str, str]]:
        """Task and split of everything it may read, training data first."""
        dev = [file.splits["dev"].name for file in self.task.files if "dev" in file.splits]
        own = [(self.task.name, split) for split in (TRAIN, *dev) if split in self.task.splits]
        read = [(asked.file.task, asked.file.splits[asked.role].name) for asked in self.asked]
        return list(dict.fromkeys([*own, *read]))

    def size(self) -> int:
        """Number of examples that it reads, by the manifest: a measure of how long it takes."""
        train = self.task.splits[TRAIN].size if TRAIN in self.task.splits else 0
        return train + sum(asked.file.size(asked.role) for asked in self.asked)


def chosen(benchmark: Benchmark, names: Sequence[str]) -> list[Task]:
    """The tasks named, with those that their models answer (AX with MNLI); all without a name.

    Raises UnknownNameError.
    """
    if not names:
        return list(benchmark.tasks)
    wanted = {benchmark.task(name).name for name in names}
    return [task for task in benchmark.tasks if wanted & {task.name, task.predict_with}]


def units(benchmark: Benchmark, tasks: Sequence[Task], roles: Sequence[Role]) -> list[Unit]:
    """The tasks as units, in the manifest's order; those without a test file of these splits are left out."""
    asked: dict[str, list[Asked]] = {}
    for task in tasks:
        answering = benchmark.task(task.predict_with) if task.predict_with else task
        found = [Asked(role, file) for role in roles for file in task.files if role in file.splits]
        asked.setdefault(answering.name, []).extend(found)
    order = [task for task in benchmark.tasks if asked.get(task.name)]
    return [Unit(task, tuple(asked[task.name])) for task in order]


def answer_unit(
    system: Predictor,
    benchmark: Benchmark,
    unit: Unit,
    folder: str | os.PathLike[str],
    *,
    say: Progress,
    fitted: bool = False,
) -> Mapping[Key, Answered]:
    """Fit the task, unless it is fitted, and answer its test files. Raises what `run` raises."""
    if not fitted:
        fit(system, benchmark, unit.task, folder, say=say)
    return {
        asked.key: answer(system, benchmark, asked.file, folder, role=asked.role, say=say)
        for asked in unit.asked
    }
