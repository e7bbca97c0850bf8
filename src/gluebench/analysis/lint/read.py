"""The examples of a benchmark as a lint needs them: every split at hand, test labels from the gold folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gluebench.analysis.lint.findings import counted
from gluebench.benchmark import Benchmark, Task
from gluebench.data import DataError, Example, load_split
from gluebench.data.home import split_file, task_folder
from gluebench.scoring import read_gold
from gluebench.submission import Column

Splits = dict[str, list[Example]]


def read_splits(
    folder: str | os.PathLike[str], benchmark: Benchmark, gold: str | os.PathLike[str] | None
) -> dict[str, Splits]:
    """The splits of every task that a folder holds; a split without a file is left out.

    Raises DataError for wrong rows and for a folder without any split, GoldError for wrong gold.
    """
    found: dict[str, Splits] = {}
    problems: list[str] = []
    for task in benchmark.tasks:
        try:
            found[task.name] = dict(_splits(folder, benchmark, task))
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    if not any(found.values()):
        wanted = Path(folder, benchmark.tasks[0].name, next(iter(benchmark.tasks[0].splits.values())).file)
        raise DataError([f"{folder}: holds no split of {benchmark.name}; expected files such as {wanted}"])
    if gold is not None:
        _add_gold(found, benchmark, gold)
    return found


def _splits(
    folder: str | os.PathLike[str], benchmark: Benchmark, task: Task
) -> Iterator[tuple[str, list[Example]]]:
    try:
        home = task_folder(Path(folder), benchmark, task)
    except DataError:
        return  # no folder: no split is at hand
    for name, split in task.splits.items():
        if split_file(home, split):
            yield name, load_split(folder, benchmark, task.name, name)


def _add_gold(found: dict[str, Splits], benchmark: Benchmark, gold: str | os.PathLike[str]) -> None:
    columns = read_gold(gold, benchmark).columns
    for file in benchmark.files("test"):
        splits, name = found[file.task], file.splits["test"].name
        if file.name in columns and name in splits:
            splits[name] = labelled(splits[name], columns[file.name], where=f"{file.task}, {name}")


def labelled(examples: Sequence[Example], column: Column, *, where: str) -> list[Example]:
    """The examples with the gold's labels. Raises DataError for those that it has no label for."""
    labels = _labels(column)
    absent = [example.index for example in examples if example.index not in labels]
    if absent:
        listed = f"{counted(len(absent), 'example')}, the first of index {absent[0]}"
        raise DataError([f"{where}: the gold has no label for {listed}"])
    return [replace(example, label=labels[example.index]) for example in examples]


def _labels(column: Column) -> dict[int, str | float]:
    indices = range(len(column)) if column.indices is None else column.indices
    values: list[str] | list[float] = column.words() if column.labels else list(column.numbers)
    return dict(zip(indices, values, strict=True))
