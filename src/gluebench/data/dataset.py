"""`dataset.json`: the record of a prepared folder's content, its origin and how it was made."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gluebench.benchmark import Split, Task
from gluebench.data.errors import DataError, expect_schema, parsing
from gluebench.data.home import sha256_of
from gluebench.version import __version__

SCHEMA = "gluebench.dataset/1"
FILE = "dataset.json"
INDEX = "index"
LABEL = "label"
TAGS = "phenomena"
"""Columns of a prepared file besides the inputs; TAGS has a list of fine phenomena per row."""
GROUP = "group"
"""Column of the number of the question, or of what else holds the row in nested files."""
Kind = Literal["hub", "archive", "folder", "recipe", "sample"]


class SourceFile(NamedTuple):
    """A source file that was read."""

    name: str
    """Relative to the origin's location."""
    bytes: int
    sha256: str


def source_file(path: Path, name: str) -> SourceFile:
    """The entry of a file; `name` is relative to the origin's location."""
    return SourceFile(name, path.stat().st_size, sha256_of(path))


class Origin(NamedTuple):
    """Where the examples came from."""

    kind: Kind
    location: str
    """An address or a folder's name; never a full path, which would reveal details of a machine."""
    files: tuple[SourceFile, ...] = ()
    revision: str = ""
    """Commit of the hub's repository."""
    recipe: str = ""
    options: Mapping[str, str | int | float | None] = {}
    """The recipe's options as they were used."""


class SplitRecord(NamedTuple):
    """One split as it was written."""

    file: str
    rows: int
    fingerprint: str
    """Fingerprint of text and labels (`gluebench.data.fingerprint`)."""
    text_fingerprint: str
    labels: Mapping[str, int] | None = None
    """Label word to its number of rows; None if labels are hidden, or are numbers."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The prepared splits of one task."""

    benchmark: str
    task: str
    version: str
    columns: tuple[str, ...]
    license: str
    citation: str
    url: str
    origin: Origin
    splits: Mapping[str, SplitRecord]
    notes: tuple[str, ...] = ()
    made_by: str = f"gluebench {__version__}"


def write_dataset(folder: Path, dataset: Dataset) -> None:
    """Write `dataset.json` into a task's folder."""
    values: dict[str, Any] = {"schema": SCHEMA}
    for name in Dataset.__dataclass_fields__:
        values[name] = getattr(dataset, name)
    origin = dataset.origin._asdict() | {"files": [file._asdict() for file in dataset.origin.files]}
    values["origin"] = {key: value for key, value in origin.items() if value}
    values["splits"] = {name: split._asdict() for name, split in dataset.splits.items()}
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def read_dataset(folder: str | os.PathLike[str]) -> Dataset:
    """The record in a task's folder. Raises DataError if it is missing or invalid."""
    path = Path(folder, FILE)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}; expected the record of prepared data") from None
    with parsing(path, "the record of prepared data", "prepare the data again"):
        values = json.loads(text)
        expect_schema(values, SCHEMA)
        del values["schema"]
        origin = values.pop("origin")
        files = tuple(SourceFile(**fields) for fields in origin.pop("files", ()))
        splits = {name: SplitRecord(**fields) for name, fields in values.pop("splits").items()}
        columns = tuple(values.pop("columns"))
        notes = tuple(values.pop("notes"))
        return Dataset(
            **values, origin=Origin(**origin, files=files), splits=splits, columns=columns, notes=notes
        )


class Outcome(NamedTuple):
    """Result of getting one task."""

    task: Task
    place: Path
    """The folder of its files."""
    dataset: Dataset | None = None
    """None if getting it failed; `problems` say why."""
    problems: tuple[str, ...] = ()
    unchanged: bool = False
    """Whether it was already there and is unchanged."""


State = Literal["as published", "differs", "not known"]


class PublishedComparison(NamedTuple):
    """Result of comparing a split with the published one."""

    state: State
    reason: str
    """What is as published, or what differs, without a final full stop."""


def standing(full: str, text: str, split: Split) -> PublishedComparison:
    """Compare the fingerprints of a split's rows, with and without labels, with the published ones.

    Published text counts as published if its labels are hidden or not known to the manifest.
    """
    if not split.fingerprint:
        return PublishedComparison("not known", "what the published rows hold is not known here")
    if full == split.fingerprint:
        return PublishedComparison("as published", "text and labels" if split.text_fingerprint else "text")
    if text != (split.text_fingerprint or split.fingerprint):
        return PublishedComparison("differs", "the text differs from the published")
    if full == text:
        return PublishedComparison("as published", "text; its labels are hidden")
    if not split.text_fingerprint:
        return PublishedComparison("as published", "text; its labels are not known here")
    return PublishedComparison("differs", "the labels differ from the published")


def state(record: SplitRecord, split: Split, origin: Origin) -> State:
    """The state of a split as recorded when it was written.

    Without a known fingerprint, data from the hub's files are as published, since the SHA-256 of each file
    was compared with the published one.
    """
    if not split.fingerprint and origin.kind == "hub":
        return "as published"
    return standing(record.fingerprint, record.text_fingerprint, split).state
