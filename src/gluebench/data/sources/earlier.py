"""Prepared data from before as Arrow batches, for a folder that is copied or prepared anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import SplitRecord
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import LABEL, Fingerprint
from gluebench.data.prepared import INDEX
from gluebench.data.sources.hub_files import open_parquet, rows_of
from gluebench.data.sources.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa


def read_earlier(
    path: Path, survey: Survey, *, task: Task, split: Split, record: SplitRecord
) -> Iterator[pa.RecordBatch]:
    """The rows of one split. Raises DataError where they are no longer those that `dataset.json` tells of."""
    found = Fingerprint(task.columns)
    with open_parquet(path, survey) as file:
        missing = [name for name in (INDEX, *task.columns) if name not in file.schema_arrow.names]
        if missing:
            expected = f"expected a prepared {split.name} split; prepare it again"
            raise DataError([f"{path}: no column {', '.join(missing)}; {expected}"])
        for batch in rows_of(file, path):
            plain = _plain(batch)
            found.update(plain)
            yield plain
    if found.whole != record.fingerprint:
        expected = f"expected {record.fingerprint}, as when it was prepared; prepare it again from its source"
        raise DataError([f"{path}: its rows have the fingerprint {found.whole}; {expected}"])


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with label words as strings, as they were handed in."""
    import pyarrow as pa

    at = batch.schema.get_field_index(LABEL)
    if at < 0 or not pa.types.is_dictionary(batch.schema.types[at]):
        return batch
    return batch.set_column(at, LABEL, batch.column(at).dictionary_decode())
