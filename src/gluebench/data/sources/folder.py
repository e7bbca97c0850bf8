"""Preparing a task's data from a folder on disk, whatever layout it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import Dataset, Origin, read_dataset
from gluebench.data.errors import DataError
from gluebench.data.prepared import prepare
from gluebench.data.sources.earlier import read_earlier
from gluebench.data.sources.hub_files import read_hub
from gluebench.data.sources.layouts import NAMES, Found, find
from gluebench.data.sources.release import Release
from gluebench.data.sources.released import read_released
from gluebench.data.sources.survey import Survey, survey

if TYPE_CHECKING:
    import pyarrow as pa


def prepare_from_folder(
    source: Path,
    to: Path,
    benchmark: Benchmark,
    task: Task,
    release: Release,
    *,
    origin: Origin | None = None,
    partial: bool = False,
    keep_going: bool = False,
) -> Dataset:
    """Write the task's files below `source` as `<to>/<benchmark>/<Task>`, in place of what was there.

    Read is the first layout that has all splits: prepared before, the hub's Parquet, TSV (docs/data.md). A
    split that is missing is an error unless `partial`. Raises DataError with what cannot be read, 20 lines
    of it or all if `keep_going`, and OSError; what was prepared before is then as it was.
    """
    found = find(source, benchmark, task, release, partial=partial)
    surveys = _surveys(found)
    batches = {
        split: _batches(found, split, surveys[split], task=task, release=release) for split in found.files
    }
    notes = read_dataset(found.folder).notes if found.layout == "prepared" else ()
    try:
        return prepare(
            to, benchmark, task, batches, origin=_origin(found, source, surveys, origin), notes=notes
        )
    except DataError as error:
        if keep_going:
            raise DataError(error.problems, shown=None) from None
        raise


def _surveys(found: Found) -> dict[str, Survey]:
    """A first pass over every file. Raises DataError for all that are empty."""
    surveys: dict[str, Survey] = {}
    problems: list[str] = []
    for split, path in found.files.items():
        try:
            surveys[split] = survey(path)
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    return surveys


def _batches(
    found: Found, split: str, known: Survey, *, task: Task, release: Release
) -> Iterator[pa.RecordBatch]:
    path, of = found.files[split], release.tasks[task.name]
    if found.layout == "prepared":
        record = read_dataset(found.folder).splits[split]
        return read_earlier(path, known, task=task, split=task.splits[split], record=record)
    read = read_hub if found.layout == "hub" else read_released
    return read(path, known, task=task, split=task.splits[split], release=of)


def _origin(found: Found, source: Path, surveys: dict[str, Survey], origin: Origin | None) -> Origin:
    """Where the data came from: as the caller says, as they were prepared before, or this folder."""
    if origin is None and found.layout == "prepared":
        return read_dataset(found.folder).origin
    files = tuple(surveys[split].source(_name(path, source)) for split, path in found.files.items())
    if origin is not None:
        return origin if origin.files else origin._replace(files=files)
    location = f"{source.resolve().name} ({NAMES[found.layout]})"
    return Origin("folder", location, files, revision=found.revision)


def _name(path: Path, source: Path) -> str:
    return path.relative_to(source).as_posix()
