"""Compare prepared splits with the published ones, and list the rows that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.benchmark import Benchmark, Split, Task
from gluebench.data.dataset import FILE, Dataset, read_dataset
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import Fingerprint, fingerprint_of
from gluebench.data.home import split_file, task_folder
from gluebench.data.prepared import other_release, standing
from gluebench.data.sources.release import Release, load_release
from gluebench.data.table import Table, load
from gluebench.data.verify.rows import Difference, Marks, differences, marks, published

State = Literal["as published", "differs", "not known", "absent"]


class SplitCheck(NamedTuple):
    """The result for one split."""

    task: str
    split: str
    state: State
    rows: int | None
    """None where it is absent."""
    size: int
    """The published number of rows."""
    fingerprint: str
    reason: str
    """How the state is known, or what differs, as a sentence without a period."""
    differences: tuple[Difference, ...] = ()
    """The rows that differ, where they can be identified."""


class Reference(NamedTuple):
    """What prepared splits are compared with."""

    release: Release
    marks: Mapping[tuple[str, str], Marks]
    """Task and split name to the marks of the published rows, where these are known."""
    against: Path | None = None
    """Another data folder to compare with, in place of the published data."""


def reference(benchmark: Benchmark, against: Path | None = None) -> Reference:
    """The published data of a benchmark, as far as known, or another folder to compare with."""
    published_marks = {} if against else published(benchmark)
    return Reference(load_release(benchmark), published_marks, against)


def check_task(folder: Path, benchmark: Benchmark, task: Task, compared: Reference) -> Iterator[SplitCheck]:
    """Every split of a task, in the manifest's order. Raises DataError for a file that cannot be read."""
    home = record = None
    with suppress(DataError):
        home = task_folder(folder, benchmark, task)
    if home and (home / FILE).is_file():
        record = read_dataset(home)
    for split in task.splits.values():
        if home is None or split_file(home, split) is None:
            yield SplitCheck(task.name, split.name, "absent", None, split.size, "", "not on disk")
        else:
            table = load(task.name, split.name, folder, benchmark=benchmark)
            yield _check(benchmark, table, split, record, compared)


def _check(
    benchmark: Benchmark, table: Table, split: Split, record: Dataset | None, compared: Reference
) -> SplitCheck:
    columns = table.task.columns
    fingerprint = fingerprint_of(columns, table.to_arrow().to_batches())
    if compared.against is not None:
        other = load(table.task.name, split.name, compared.against, benchmark=benchmark)
        other_fingerprint = fingerprint_of(columns, other.to_arrow().to_batches())
        state, reason = _compared_with(fingerprint, other_fingerprint, str(compared.against))
        expected_marks: Marks | None = marks(table.task, other)
    else:
        state, reason = _as_published(table, split, record, fingerprint, compared.release)
        expected_marks = compared.marks.get((table.task.name, split.name))
    rows = (
        tuple(differences(table.task, table, expected_marks)) if state == "differs" and expected_marks else ()
    )
    size = len(expected_marks) if compared.against is not None and expected_marks is not None else split.size
    return SplitCheck(table.task.name, split.name, state, len(table), size, fingerprint.full, reason, rows)


def _compared_with(fingerprint: Fingerprint, other: Fingerprint, name: str) -> tuple[State, str]:
    if fingerprint.full == other.full:
        return "as published", f"text and labels are those of {name}"
    if fingerprint.text == other.text:
        return "differs", f"the text is that of {name}, the labels are not"
    return "differs", f"text differs from that of {name}"


def _as_published(
    table: Table, split: Split, record: Dataset | None, fingerprint: Fingerprint, published_release: Release
) -> tuple[State, str]:
    recorded = record.splits.get(split.name) if record else None
    if recorded and recorded.fingerprint != fingerprint.full:
        return "differs", f"the file was changed after it was prepared ({FILE} has another fingerprint)"
    if len(table) != split.size:
        release = other_release(table.task, split, len(table))
        return "differs", f"{len(table):,} rows, published are {split.size:,}{release}"
    if split.fingerprint:
        return standing(fingerprint.full, fingerprint.text, split)
    hub = published_release.tasks[table.task.name].splits[split.name].hub
    if hub and record and any(file.sha256 == hub.sha256 for file in record.origin.files):
        return "as published", "made from the hub's file, whose checksum is the published one"
    return "not known", "the number of rows is right; what the published rows hold is not known here"
