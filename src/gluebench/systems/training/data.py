"""Training and dev data of a run."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gluebench.benchmark import Benchmark, Task
from gluebench.data import DataError, Example, load_split
from gluebench.data.errors import refuse
from gluebench.data.fingerprint import fingerprint
from gluebench.systems.run import answerable

TRAIN = "train"


@dataclass(frozen=True, slots=True)
class TaskData:
    """The examples of one task, all with labels."""

    task: Task
    train: Sequence[Example]
    dev: Mapping[str, Sequence[Example]]
    """Name of each dev split to its examples."""
    auxiliary: bool = False
    """Whether it is trained for the sake of the other tasks (SNLI)."""

    def fingerprints(self) -> dict[str, str]:
        """Split to the fingerprint of its text and labels, as `gluebench.data.fingerprint` takes it."""
        prints = {}
        for split, rows in self.splits().items():
            texts = [list(row.inputs.values()) for row in rows]
            columns = {}
            for at, name in enumerate(self.task.columns):
                columns[name] = [of_row[at] for of_row in texts]
            prints[split] = fingerprint(columns, [row.label for row in rows if row.label is not None])
        return prints

    def splits(self) -> dict[str, Sequence[Example]]:
        """Split to its examples, the training split first."""
        return {TRAIN: self.train, **self.dev}


def load_task_data(
    folder: str | os.PathLike[str],
    benchmark: Benchmark,
    tasks: Iterable[str] = (),
    auxiliary: Iterable[str] = (),
) -> dict[str, TaskData]:
    """The train and dev splits of the tasks named (by default all that are scored) and of auxiliary data.

    Raises UnknownNameError for a task the benchmark does not have, DataError for data missing or wrong.
    """
    named = answerable([benchmark.task(name) for name in tasks] or list(benchmark.scored))
    for task in named:
        if TRAIN not in task.splits:
            raise DataError(f"{task.name} has no training data; it is answered by {task.predict_with}")
    extra = [benchmark.dataset(name) for name in auxiliary]
    if doubled := sorted({task.name for task in named} & {task.name for task in extra}):
        raise DataError([f"{name} is both a task and auxiliary data of this run" for name in doubled])
    loaded = {task.name: _load_task(folder, benchmark, task, auxiliary=False) for task in named}
    return loaded | {task.name: _load_task(folder, benchmark, task, auxiliary=True) for task in extra}


def dev_splits(task: Task) -> list[str]:
    """The dev splits of a task's test files; of data without test files, those whose name says so."""
    of_files = [file.splits["dev"].name for file in task.files if "dev" in file.splits]
    return of_files or [name for name in task.splits if name.startswith("dev")]


def split_dev(task: Task, dev: Sequence[Example]) -> dict[str, Sequence[Example]]:
    """Part the examples of all dev splits, in their order, by the name of each; none of no examples.

    Of several splits, a new one starts where the numbering of the examples restarts. Raises DataError for
    another number of them.
    """
    if not dev:
        return {}
    names = dev_splits(task)
    if len(names) == 1:
        return {names[0]: dev}
    starts = [at for at in range(1, len(dev)) if dev[at].index <= dev[at - 1].index]
    bounds = [0, *starts, len(dev)]
    if len(bounds) - 1 != len(names):
        expected = f"expected {len(names)} ({', '.join(names)}), each numbered upwards"
        raise DataError(f"{task.name}: the dev examples are of {len(bounds) - 1} splits; {expected}")
    parts = [dev[start:end] for start, end in pairwise(bounds)]
    return dict(zip(names, parts, strict=True))


def _load_task(
    folder: str | os.PathLike[str], benchmark: Benchmark, task: Task, *, auxiliary: bool
) -> TaskData:
    dev = {split: load_split(folder, benchmark, task.name, split) for split in dev_splits(task)}
    data = TaskData(task, load_split(folder, benchmark, task.name, TRAIN), dev, auxiliary)
    problems = []
    for name, rows in data.splits().items():
        bare = [row.index for row in rows if row.label is None]
        fault = ""
        if bare:
            fault = f"{len(bare)} examples without a label, the first with index {bare[0]}"
        elif not rows:
            fault = "no examples"
        if fault:
            problems.append(f"{task.name} {name}: {fault}; a model cannot be trained on it")
    if not dev:
        problems.append(f"{task.name} has no dev split; a run is checked on it")
    refuse(problems)
    return data
