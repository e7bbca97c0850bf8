"""Writing prepared data: a Parquet file per split and `dataset.json`, a task's folder whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import Benchmark, Split, Task
from gluebench.data.arrays import numbers
from gluebench.data.dataset import FILE, Dataset, Origin, SplitRecord, describe, write_dataset
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import LABEL, Fingerprint
from gluebench.data.published import other_release, standing

if TYPE_CHECKING:
    import pyarrow as pa

INDEX = "index"
ROW_GROUP = 16_384
"""Rows that are decoded together when one of them is asked for."""


def prepare(
    folder: Path,
    benchmark: Benchmark,
    task: Task,
    splits: Mapping[str, Iterable[pa.RecordBatch]],
    *,
    origin: Origin,
    notes: tuple[str, ...] = (),
    sized: bool = True,
) -> Dataset:
    """Write the splits of a task as `<folder>/<benchmark>/<Task>`, in place of what was prepared before.

    Each batch has `index` (int64), the input columns (string), `label` (string, or double) unless hidden, and
    whatever else the source gives, in one schema for the whole split. Nothing is replaced before all is
    written. Raises DataError for a wrong number of rows (where it is `sized`), a repeated index or an unknown
    label, FileExistsError where a folder of something else stands.
    """
    target = folder / benchmark.name / task.name
    if target.exists() and not (target / FILE).is_file() and any(target.iterdir()):
        raise FileExistsError(
            0, f"not a folder of prepared data (it has no {FILE}); expected a new one", str(target)
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{task.name}.", dir=target.parent) as scratch:
        made = Path(scratch, "new")
        made.mkdir()
        written = _write_splits(made, task, splits, sized=sized)
        notes = (*notes, *(note for note in differences(task, written) if note not in notes))
        dataset = describe(benchmark, task, written, origin=origin, notes=notes)
        write_dataset(made, dataset)
        if target.exists():
            _settle(made)
        _replace(target, made, Path(scratch, "old"))
    return dataset


def _write_splits(
    folder: Path, task: Task, splits: Mapping[str, Iterable[pa.RecordBatch]], *, sized: bool
) -> dict[str, SplitRecord]:
    """Write every split. Raises DataError with the problems of all of them."""
    written: dict[str, SplitRecord] = {}
    problems: list[str] = []
    for name, batches in splits.items():
        try:
            written[name] = write_split(folder, task, task.splits[name], batches, sized=sized)
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    return written


def differences(task: Task, written: Mapping[str, SplitRecord]) -> Iterator[str]:
    """A note for each split whose content is not the published one, where that has a fingerprint."""
    for name, record in written.items():
        found = standing(record.fingerprint, record.text_fingerprint, task.splits[name])
        if found.state == "differs":
            yield f"{name}: {found.reason}; to see where: gluebench data verify"


def _settle(folder: Path) -> None:
    """See that the new files are on the disk before they take the place of old ones."""
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def _replace(target: Path, made: Path, old: Path) -> None:
    """Put a new folder in a target's place; should that fail, the target is as it was."""
    if target.exists():
        target.rename(old)
    try:
        made.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise


def write_split(
    folder: Path, task: Task, split: Split, batches: Iterable[pa.RecordBatch], *, sized: bool = True
) -> SplitRecord:
    """Write `<folder>/<split>.parquet`, say what is in it; `sized` asks for the manifest's number of rows."""
    import pyarrow.parquet as pq

    name = f"{split.name}.parquet"
    running = Fingerprint(task.columns)
    count = _Count(task, split)
    stream = iter(batches)
    first = next(stream, None)
    if first is None:
        raise DataError([f"{task.name}, {split.name}: no rows; expected {split.size:,}"])
    with pq.ParquetWriter(
        folder / name, _stored_schema(first.schema), **_settings(first.schema, task)
    ) as writer:
        for batch in _regrouped(_chain(first, stream)):
            running.update(batch)
            count.add(batch)
            writer.write_batch(_stored(batch), row_group_size=ROW_GROUP)
    count.finish(sized=sized)
    return SplitRecord(name, count.rows, running.whole, running.text, count.labels)


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _regrouped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of a row group each, so that files do not depend on how a reader cuts."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= ROW_GROUP:
            together = pa.Table.from_batches(waiting).combine_chunks()
            yield together.slice(0, ROW_GROUP).to_batches()[0]
            waiting = together.slice(ROW_GROUP).to_batches()
            rows -= ROW_GROUP
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


def _settings(schema: pa.Schema, task: Task) -> dict[str, Any]:
    """How the file is written: few texts occur twice, so a dictionary or bounds of them are wasted work."""
    repeating = [name for name in schema.names if name not in (INDEX, *task.columns)]
    return {
        "compression": "none",
        "use_dictionary": repeating,
        "write_statistics": [INDEX],
        "column_encoding": {INDEX: "DELTA_BINARY_PACKED"},
    }


def _stored_schema(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    position = schema.get_field_index(LABEL)
    if position < 0 or pa.types.is_floating(schema.field(LABEL).type):
        return schema
    return schema.set(position, pa.field(LABEL, pa.dictionary(pa.int8(), pa.string())))


def _stored(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.cast(_stored_schema(batch.schema))


class _Count:
    """Counts the rows and labels of a split, and notes what no split may have."""

    def __init__(self, task: Task, split: Split) -> None:
        self._task = task
        self._split = split
        self._indices: list[range | pa.Array] = []
        self._words: dict[str, int] = {}
        self._labelled = False
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """More rows."""
        import pyarrow.compute as pc

        self.rows += batch.num_rows
        self._indices.append(_run(batch.column(INDEX)))
        if LABEL in batch.schema.names and self._task.labels:
            self._labelled = True
            for each in pc.value_counts(batch.column(LABEL)).to_pylist():
                word = each["values"]
                self._words[word] = self._words.get(word, 0) + each["counts"]

    @property
    def labels(self) -> dict[str, int] | None:
        """Label word to its number, in the manifest's order."""
        return {word: self._words.get(word, 0) for word in self._task.words} if self._labelled else None

    def finish(self, *, sized: bool) -> None:
        """Raises DataError with all that is wrong."""
        where = f"{self._task.name}, {self._split.name}"
        problems = []
        if sized and self.rows != self._split.size:
            release = other_release(self._task, self._split, self.rows)
            problems.append(f"{where}: {self.rows:,} rows, expected {self._split.size:,}{release}")
        problems += [f"{where}: {each}; expected each index once" for each in _repeated(self._indices)]
        expected = ", ".join(self._task.words)
        problems += [
            f"{where}: {number:,} rows have the label {word!r}; expected one of {expected}"
            for word, number in self._words.items()
            if word not in self._task.words
        ]
        if problems:
            raise DataError(problems)


def _run(indices: pa.Array) -> range | pa.Array:
    """Indices that count up by one as what they are, so that a long split need not be kept whole."""
    import numpy as np

    values = numbers(indices)
    if len(values) and (np.diff(values) == 1).all():
        return range(int(values[0]), int(values[-1]) + 1)
    return indices


def _repeated(parts: Iterable[range | pa.Array]) -> list[str]:
    """Each index that stands in several rows, and the first two of them (counted from 1)."""
    import numpy as np

    parts = list(parts)
    if all(isinstance(part, range) for part in parts) and _ascend(parts):
        return []
    values = np.concatenate([np.asarray(p) if isinstance(p, range) else numbers(p) for p in parts])
    order = np.argsort(values, kind="stable")
    again = np.flatnonzero(np.diff(values[order]) == 0)
    firsts = [at for at in again.tolist() if at == 0 or values[order[at - 1]] != values[order[at]]]
    return [
        f"the index {values[order[at]]} stands in the rows {order[at] + 1:,} and {order[at + 1] + 1:,}"
        for at in firsts
    ]


def _ascend(parts: Iterable[range]) -> bool:
    return all(before.stop <= after.start for before, after in pairwise(parts))
