"""Describing what is on disk of a task, split by split."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.data.errors import DataError
from gluebench.data.home import task_folder
from gluebench.data.sources.shape import TAGS
from gluebench.data.stats.diagnostic import Category, categories
from gluebench.data.stats.printed import SizeBeside, sizes_beside
from gluebench.data.stats.tally import SplitStats, Tally
from gluebench.data.table import Table, load

TRAIN = "train"


class TaskStats(NamedTuple):
    """What the splits of a task hold, and what the paper says of them."""

    task: str
    splits: Mapping[str, SplitStats | None]
    """In the manifest's order; None for one that is not on disk."""
    sizes: tuple[SizeBeside, ...] = ()
    categories: Mapping[str, tuple[Category, ...]] = {}
    """Split of a diagnostic set whose examples carry their tags, to its coarse categories (Table 7)."""


def on_disk(folder: Path, benchmark: Benchmark, task: Task) -> dict[str, Table | None]:
    """The splits of a task, opened; None for one that has no file.

    Raises DataError where the task has no folder at all, and for files that cannot be used.
    """
    home = task_folder(folder, benchmark, task)
    return {
        name: load(task.name, name, folder, benchmark=benchmark)
        if (home / f"{name}.parquet").is_file() or (home / split.file).is_file()
        else None
        for name, split in task.splits.items()
    }


def describe(task: Task, tables: Mapping[str, Table | None]) -> TaskStats:
    """Everything that is told of a task; each split is read once, a row group at a time."""
    train = tables.get(TRAIN)
    tally = None if train is None else Tally(task).add(train)
    seen = None if tally is None else tally.vocabulary().keys()
    splits = {name: _described(task, name, table, tally, seen) for name, table in tables.items()}
    rows = {name: None if table is None else len(table) for name, table in tables.items()}
    tagged = {
        name: _categories(task, table)
        for name, table in tables.items()
        if table is not None and task.phenomena and TAGS in table.columns
    }
    return TaskStats(task.name, splits, sizes_beside(task, rows), tagged)


def _described(
    task: Task, name: str, table: Table | None, train: Tally | None, seen: Set[str] | None
) -> SplitStats | None:
    if table is None:
        return None
    if name == TRAIN and train is not None:
        return train.stats(name)
    return Tally(task).add(table).stats(name, seen=seen)


def _categories(task: Task, table: Table) -> tuple[Category, ...]:
    labels = [each.label for each in table]
    words = [each for each in labels if isinstance(each, str)]
    if table.labelled and len(words) != len(labels):
        raise DataError([f"{task.name} {table.split}: {len(labels) - len(words)} rows have no label"])
    return categories(task, [tags or [] for tags in table.column(TAGS)], words if table.labelled else None)
