"""Parquet files as Arrow batches: the hub's, whose class numbers become words, and data prepared before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gluebench.benchmark import Split, Task
from gluebench.data.arrays import constant, numbers
from gluebench.data.dataset import INDEX, LABEL, SplitRecord
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import Fingerprint, fingerprint_of
from gluebench.data.prepared import ROW_GROUP
from gluebench.data.sources.columns import (
    Plan,
    Shaper,
    class_names,
    index_number,
    label_text,
    label_typed,
    plan,
)
from gluebench.data.sources.content import Survey
from gluebench.data.sources.release import TaskRelease

HUB_INDEX = "idx"


def read_hub(
    path: Path, survey: Survey, *, task: Task, split: Split, release: TaskRelease
) -> Iterator[pa.RecordBatch]:
    """The rows of one file, which must be the published one. Raises DataError.

    A file of another hash is taken only where its rows are known to be the published ones: their fingerprint
    stands in the manifest.
    """
    with open_parquet(path, survey) as file:
        known = release.splits[split.name].hub
        if known is not None and known.sha256 != survey.sha256:
            rows = fingerprint_of(task.columns, _batches(file, path, task=task, release=release))
            if not split.fingerprint or rows.whole != split.fingerprint:
                raise DataError(
                    f"{path}: not the published file: {survey.bytes:,} bytes, sha256 {survey.sha256}; "
                    f"expected {known.bytes:,} bytes, sha256 {known.sha256}; fetch it again"
                )
        yield from _batches(file, path, task=task, release=release)


def open_parquet(path: Path, survey: Survey) -> Any:
    """A `pyarrow.parquet.ParquetFile`. Raises DataError where the file is none, or not whole."""
    what = "a file cut short or damaged" if survey.sign == "a Parquet file" else survey.sign or "another file"
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(
            f"{path}: this is {what} ({survey.bytes:,} bytes); expected a Parquet file; fetch it again"
        ) from None


def rows_of(file: Any, path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of an open Parquet file. Raises DataError where its data are damaged."""
    try:
        yield from file.iter_batches(batch_size=ROW_GROUP, use_threads=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: damaged ({error}); fetch it again") from None


def _batches(file: Any, path: Path, *, task: Task, release: TaskRelease) -> Iterator[pa.RecordBatch]:
    schema = file.schema_arrow
    columns = plan(schema.names, task, release, where=str(path), index=HUB_INDEX)
    problems = [
        f"{path}: the column {schema.names[at]} is of type {schema.types[at]}; expected text"
        for at in (*columns.inputs, *columns.tags)
        if schema.types[at] not in (pa.string(), pa.large_string())
    ]
    if problems:
        raise DataError(problems)
    if columns.label_at is None:
        label = label_text(task)
    else:
        label = label_typed(task, schema.field(columns.label_at), class_names(schema), where=str(path))
    shaper = Shaper(columns, task, quoted=release.quoted, index=index_number, label=label, problems=problems)
    row = 0
    for rows in rows_of(file, path):
        where = partial(_place, path, row)
        batch = shaper.batch(_columns(rows, columns, where, problems), where)
        row += rows.num_rows
        if not problems:
            yield batch
    if problems:
        raise DataError(problems)


def _place(path: Path, before: int, row: int) -> str:
    return f"{path}, row {before + row}"


def _columns(
    batch: pa.RecordBatch, columns: Plan, where: Callable[[int], str], problems: list[str]
) -> list[pa.Array]:
    """The columns of a batch, text as plain strings; a text that is missing is a problem."""
    arrays: list[pa.Array] = list(batch.columns)
    for at in (*columns.inputs, *columns.tags):
        missing = np.flatnonzero(numbers(arrays[at].is_null()))
        name = batch.schema.names[at]
        problems += [f"{where(row)}: no {name} is there; expected text" for row in missing.tolist()]
        arrays[at] = arrays[at].cast(pa.string()).fill_null(constant(""))
    return arrays


def read_earlier(
    path: Path, survey: Survey, *, task: Task, split: Split, record: SplitRecord
) -> Iterator[pa.RecordBatch]:
    """The rows of one split. Raises DataError where `dataset.json` describes others."""
    running = Fingerprint(task.columns)
    with open_parquet(path, survey) as file:
        missing = [name for name in (INDEX, *task.columns) if name not in file.schema_arrow.names]
        if missing:
            expected = f"expected a prepared {split.name} split; prepare it again"
            raise DataError(f"{path}: no column {', '.join(missing)}; {expected}")
        label = file.schema_arrow.get_field_index(LABEL)
        coded = label >= 0 and pa.types.is_dictionary(file.schema_arrow.types[label])
        for batch in rows_of(file, path):
            if coded:  # label words as strings, as they were handed in
                batch = batch.set_column(label, LABEL, batch.column(label).dictionary_decode())
            running.update(batch)
            yield batch
    if running.whole != record.fingerprint:
        expected = f"expected {record.fingerprint}, as when it was prepared; prepare it again from its source"
        raise DataError(f"{path}: its rows have the fingerprint {running.whole}; {expected}")
