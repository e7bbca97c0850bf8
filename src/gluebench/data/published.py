"""Whether prepared splits hold what was published, and still hold what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import Dataset, SplitRecord
from gluebench.data.fingerprint import Fingerprint

Standing = Literal["as published", "text as published", "labels differ", "differs", "not known"]


def standing(record: SplitRecord, split: Split) -> Standing:
    """How a split's content stands to the published one, by their fingerprints.

    "text as published" where one of the two has labels and the other has none.
    """
    if not split.fingerprint:
        return "not known"
    if record.fingerprint == split.fingerprint:
        return "as published"
    if record.text_fingerprint != (split.text_fingerprint or split.fingerprint):
        return "differs"
    both = record.fingerprint != record.text_fingerprint and split.text_fingerprint
    return "labels differ" if both else "text as published"


def intact(folder: Path, task: Task, dataset: Dataset) -> bool:
    """Whether every split's file in a task's folder still holds what `dataset.json` says."""
    return all(_holds(folder / split.file, task, split.fingerprint) for split in dataset.splits.values())


def _holds(path: Path, task: Task, fingerprint: str) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    running = Fingerprint(task.columns)
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                running.update(batch)
    except (OSError, KeyError, pa.ArrowException):  # gone, cut, or without the task's columns
        return False
    return running.whole == fingerprint
