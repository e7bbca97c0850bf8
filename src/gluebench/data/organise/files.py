"""Which files an organiser's folder holds: a sub-folder for each task, or one task's files directly."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import closest
from gluebench.benchmark.checks import name_finding
from gluebench.benchmark.lookup import fold
from gluebench.data.errors import DataError

SPLITS = ("train", "dev", "test")
SUFFIXES = (".csv", ".tsv", ".parquet")


class TaskFiles(NamedTuple):
    """The files of one task."""

    name: str
    files: Mapping[str, Path]
    """Split name to its file, in the order train, dev, test; test is always there."""


def find_tasks(folders: Sequence[str | os.PathLike[str]], name: str) -> list[TaskFiles]:
    """The tasks in some folders, by the alphabet; a folder that holds split files itself is the task `name`.

    Raises DataError for a folder without tasks, a task without test file, and tables of other names.
    """
    problems: list[str] = []
    found = [task for each in folders for task in _tasks(Path(each), name, problems)]
    problems += _name_problems([each.name for each in found])
    if problems:
        raise DataError(problems)
    return sorted(found)


def _tasks(home: Path, name: str, problems: list[str]) -> list[TaskFiles]:
    folders = sorted(each for each in home.iterdir() if each.is_dir() and not each.name.startswith("."))
    if not tables(home):
        if not folders:
            expected = "a sub-folder for each, with train.csv, dev.csv, test.csv"
            problems.append(f"{home}: holds no task; expected {expected}")
        return [_task(each.name, each, problems) for each in folders]
    problems += [
        f"{each}: is a folder beside the files of one task; expected either files or folders"
        for each in folders
        if tables(each)
    ]
    return [_task(name, home, problems)]


def _name_problems(names: list[str]) -> Iterator[str]:
    """Folders whose names cannot be those of tasks."""
    first: dict[str, str] = {}
    for name in names:
        for finding in name_finding((), name):
            yield f"the task {finding.text}; rename the folder"
        if fold(name) in first:
            yield f'the tasks "{first[fold(name)]}" and "{name}" have one name; expected names that differ'
        first[fold(name)] = name


def tables(folder: Path) -> list[Path]:
    """The CSV, TSV and Parquet files of a folder."""
    return sorted(
        each for each in folder.iterdir() if each.suffix.lower() in SUFFIXES and not each.name.startswith(".")
    )


def _task(name: str, folder: Path, problems: list[str]) -> TaskFiles:
    files: dict[str, Path] = {}
    for path in tables(folder):
        if path.stem not in SPLITS:
            hint = f" (is it {closest(path.stem, SPLITS)[0]}?)" if closest(path.stem, SPLITS) else ""
            problems.append(
                f"{path}: expected train, dev or test as its name{hint}; rename it, or move it away"
            )
        elif path.stem in files:
            problems.append(
                f"{path}: there is {files[path.stem].name} as well; expected one file for a split"
            )
        else:
            files[path.stem] = path
    problems += [
        f"{path}: is no CSV, TSV or Parquet file; save it as {path.stem}.csv, or move it away"
        for path in sorted(folder.iterdir())
        if path.stem in SPLITS and path.is_file() and path.suffix.lower() not in SUFFIXES
    ]
    if "test" not in files:
        problems.append(f"{folder}: has no test file; expected test.csv, test.tsv or test.parquet")
    return TaskFiles(name, {split: files[split] for split in SPLITS if split in files})
