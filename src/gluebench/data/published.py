"""Whether prepared splits hold what was published, and still hold what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.benchmark import Split, Task
from gluebench.data.dataset import Dataset, Origin, SplitRecord
from gluebench.data.fingerprint import Fingerprint

State = Literal["as published", "differs", "not known"]


class Standing(NamedTuple):
    """How the content of a split stands to what was published."""

    state: State
    reason: str
    """What is as published, or what differs; no sentence's stop."""


def standing(whole: str, text: str, split: Split) -> Standing:
    """What the fingerprints of a split's rows, with labels and without, say of them.

    Published text whose labels are hidden, or are not known to the manifest, is as published.
    """
    if not split.fingerprint:
        return Standing("not known", "what the published rows hold is not known here")
    if whole == split.fingerprint:
        return Standing("as published", "text and labels" if split.text_fingerprint else "text")
    if text != (split.text_fingerprint or split.fingerprint):
        return Standing("differs", "the text differs from the published")
    if whole == text:
        return Standing("as published", "text; its labels are hidden")
    if not split.text_fingerprint:
        return Standing("as published", "text; its labels are not known here")
    return Standing("differs", "the labels differ from the published")


def state(record: SplitRecord, split: Split, origin: Origin) -> State:
    """The same for a split as it was written.

    What was made of the hub's files is as published where no fingerprint is known: each of them was compared
    with its published sha256.
    """
    if not split.fingerprint and origin.kind == "hub":
        return "as published"
    return standing(record.fingerprint, record.text_fingerprint, split).state


def other_release(task: Task, split: Split, rows: int) -> str:
    """Which other release of a split has this number of rows, to end a message; empty where none is known."""
    for file in task.files:
        for version in file.other_versions:
            for role, size in version.sizes.items():
                if role in file.splits and file.splits[role].name == split.name and size == rows:
                    return f": this is {version.name}, {version.note}"
    return ""


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
