"""Whether prepared splits hold what was published, and still hold what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import Dataset, Origin, SplitRecord
from gluebench.data.fingerprint import Fingerprint

State = Literal["as published", "differs", "not known"]


def state(record: SplitRecord, split: Split, origin: Origin) -> State:
    """How a split's content stands to the published one, by its fingerprints.

    Published text whose labels are hidden, or not published, is as published. So is what was made of the
    hub's files, each of which was compared with its published sha256, where no fingerprint is known.
    """
    if not split.fingerprint:
        return "as published" if origin.kind == "hub" else "not known"
    if record.fingerprint == split.fingerprint:
        return "as published"
    hidden = record.fingerprint == record.text_fingerprint or not split.text_fingerprint
    same_text = record.text_fingerprint == (split.text_fingerprint or split.fingerprint)
    return "as published" if same_text and hidden else "differs"


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
