"""Prepared data: a Parquet file per split and `dataset.json`, and comparison with the published rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gluebench.benchmark import Benchmark, Split, Task
from gluebench.data.arrays import numbers
from gluebench.data.dataset import (
    FILE,
    INDEX,
    LABEL,
    Dataset,
    Origin,
    SplitRecord,
    standing,
    write_dataset,
)
from gluebench.data.errors import DataError, gathered
from gluebench.data.fingerprint import Fingerprint, fingerprint_of
from gluebench.data.home import replacing

ROW_GROUP = 16_384
"""Rows decoded together when one of them is read."""


def prepare(
    folder: Path,
    benchmark: Benchmark,
    task: Task,
    splits: Mapping[str, Iterable[pa.RecordBatch]],
    *,
    origin: Origin,
    notes: Sequence[str] = (),
    sized: bool = True,
) -> Dataset:
    """Write the splits of a task to `<folder>/<benchmark>/<Task>`, and replace earlier data there.

    Each batch has `index` (int64), the input columns (string), `label` (string, or double) unless hidden, and
    other columns of the source, with one schema per split; reading them may add `notes`. Earlier data are
    replaced only after all is written. Raises DataError for a wrong number of rows (if `sized`), a repeated
    index or an unknown label, FileExistsError if the folder has other content.
    """
    target = folder / benchmark.name / task.name
    if target.exists() and not (target / FILE).is_file() and any(target.iterdir()):
        raise FileExistsError(
            0, f"not a folder of prepared data (it has no {FILE}); expected a new one", str(target)
        )
    with replacing(target) as new:
        written = gathered(
            lambda name, batches: write_split(new, task, task.splits[name], batches, sized=sized), splits
        )
        notes = tuple(notes)
        for name, record in written.items():
            comparison = standing(record.fingerprint, record.text_fingerprint, task.splits[name])
            note = f"{name}: {comparison.reason}; to see where: gluebench data verify"
            if comparison.state == "differs" and note not in notes:
                notes += (note,)
        dataset = Dataset(
            benchmark=benchmark.name,
            task=task.name,
            version=task.version,
            columns=task.columns,
            license=task.source.license,
            citation=task.source.citation,
            url=task.source.url,
            origin=origin,
            splits=written,
            notes=notes,
        )
        write_dataset(new, dataset)
    return dataset


def write_split(
    folder: Path, task: Task, split: Split, batches: Iterable[pa.RecordBatch], *, sized: bool = True
) -> SplitRecord:
    """Write `<folder>/<split>.parquet` and return its record; `sized` checks the number of rows."""
    name = f"{split.name}.parquet"
    running = Fingerprint(task.columns)
    indices: list[np.ndarray] = []
    words: Counter[str] = Counter()
    stream = iter(batches)
    first = next(stream, None)
    if first is None:
        raise DataError(f"{task.name}, {split.name}: no rows; expected {split.size:,}")
    schema = first.schema
    label = schema.get_field_index(LABEL)
    if label >= 0 and task.labels:
        schema = schema.set(label, pa.field(LABEL, pa.dictionary(pa.int8(), pa.string())))
    # Texts rarely repeat, so dictionaries and statistics of them are useless.
    settings: dict[str, Any] = {
        "compression": "none",
        "use_dictionary": [column for column in schema.names if column not in (INDEX, *task.columns)],
        "write_statistics": [INDEX],
        "column_encoding": {INDEX: "DELTA_BINARY_PACKED"},
    }
    with pq.ParquetWriter(folder / name, schema, **settings) as writer:
        for batch in _regroup(chain([first], stream)):
            running.update(batch)
            indices.append(numbers(batch.column(INDEX)).copy())  # a copy, so that the batch can be freed
            if label >= 0 and task.labels:
                for count in pc.value_counts(batch.column(LABEL)).to_pylist():
                    words[count["values"]] += count["counts"]
            writer.write_batch(batch.cast(schema), row_group_size=ROW_GROUP)
    rows = sum(map(len, indices))
    problems = []
    if sized and rows != split.size:
        problems.append(f"{rows:,} rows, expected {split.size:,}{other_release(task, split, rows)}")
    for repeat in _repeated_indices(np.concatenate(indices)):
        problems.append(f"{repeat}; expected each index once")
    problems += _unknown_words(task, words)
    if problems:
        raise DataError([f"{task.name}, {split.name}: {problem}" for problem in problems])
    labels = None
    if label >= 0 and task.labels:
        labels = {word: words[word] for word in task.words}
    return SplitRecord(name, rows, running.full, running.text, labels)


def _unknown_words(task: Task, words: Mapping[str, int]) -> list[str]:
    """A message for each label word that is not the task's; `words` are counted."""
    expected = ", ".join(task.words)
    problems = []
    for word, number in words.items():
        if word not in task.words:
            problems.append(f"{number:,} rows have the label {word!r}; expected one of {expected}")
    return problems


def _regroup(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of one row group, so that files do not depend on a reader's batches."""
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


def _repeated_indices(values: np.ndarray) -> list[str]:
    """A message for each index that several rows have, with the first two rows (from 1)."""
    if (np.diff(values) > 0).all():
        return []
    order = np.argsort(values, kind="stable")
    messages = []
    for at in np.flatnonzero(np.diff(values[order]) == 0).tolist():
        first = order[at]
        second = order[at + 1]
        if at == 0 or values[order[at - 1]] != values[first]:
            messages.append(f"the index {values[first]} stands in the rows {first + 1:,} and {second + 1:,}")
    return messages


def other_release(task: Task, split: Split, rows: int) -> str:
    """The other release that has this number of rows, as the end of a message; empty if none is known."""
    for file in task.files:
        for version in file.other_versions:
            for role, size in version.sizes.items():
                if role in file.splits and file.splits[role].name == split.name and size == rows:
                    return f": this is {version.name}, {version.note}"
    return ""


def intact(folder: Path, task: Task, dataset: Dataset) -> bool:
    """Whether every split's file in a task's folder still has the fingerprint in `dataset.json`."""
    try:
        for split in dataset.splits.values():
            with pq.ParquetFile(folder / split.file) as file:
                if fingerprint_of(task.columns, file.iter_batches()).full != split.fingerprint:
                    return False
    except (OSError, KeyError, pa.ArrowException):  # missing, truncated, or without the task's columns
        return False
    return True
