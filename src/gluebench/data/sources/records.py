"""Files of examples in CSV, JSON, JSON lines and quoted TSV, as one Arrow batch."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluebench.benchmark import Split, Task
from gluebench.data.arrays import integers, strings
from gluebench.data.dataset import GROUP, INDEX, LABEL
from gluebench.data.errors import DataError, refuse
from gluebench.data.sources.columns import (
    HIDDEN,
    HUB_INDEX,
    OF_LISTS,
    BatchConverter,
    Check,
    class_numbers,
    column_roles,
    id_text,
    index_text,
    label_text,
    list_cells,
    note_classes,
    words_of_classes,
)
from gluebench.data.sources.release import TaskRelease
from gluebench.data.sources.shapes import read_shape
from gluebench.reading.columnar import shards_of
from gluebench.reading.formats import read_records
from gluebench.reading.records import Declared, ReadingError, Records
from gluebench.reading.text import decode
from gluebench.reading.tfrecord import MARK, read_tfrecords

ID = "id"
"""Column of the ids that the manifest lists."""
Content = TypeVar("Content")
CLASSES = "label.labels.txt"
"""The file in which tensorflow_datasets lists the classes of a label, in the order of their numbers."""
MERGED = "merged_label"
"""Column of labels that merge some of the task's (`TaskRelease.merged_labels`)."""
_HEAD = 1 << 16


def needs_records(head: bytes, path: Path) -> bool:
    """Whether a file is CSV, JSON or a table that a CSV writer wrote, rather than a released TSV."""
    if MARK in path.name or path.suffix in (".csv", ".json", ".jsonl"):
        return True
    first = head.lstrip(b"\xef\xbb\xbf \r\n")[:1]
    if first in (b"{", b"["):
        return True
    names = head.partition(b"\n")[0].rstrip(b"\r").split(b"\t")
    return HUB_INDEX.encode() in names and INDEX.encode() not in names


def is_quoted(path: Path) -> bool:
    """Whether a TSV has quotation marks as CSV writers set them: writing the cells again gives each line.

    In released TSVs quotation marks are text, so that soon a line shows that they are not.
    """
    marks = False
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            if '"' not in line:
                continue
            marks = True
            content = line.rstrip("\r\n")
            try:
                cells = next(csv.reader([content], delimiter="\t", strict=True))
            except csv.Error:
                return False
            again = io.StringIO()
            csv.writer(again, delimiter="\t", lineterminator="").writerow(cells)
            if again.getvalue() != content:
                return False
    return marks


def read_table(
    path: Path,
    task: Task,
    split: Split,
    release: TaskRelease,
    notes: list[str],
    *,
    quoted: bool | None = None,
) -> pa.RecordBatch:
    """All rows of a file. Raises DataError with every row that is wrong; adds what was assumed to `notes`."""
    with_classes = _with_classes(path, task, release)
    records = _records(path, task, split, with_classes, quoted=quoted)
    names_in_file, columns = _columns(records, task, split, with_classes, path, notes)
    names_in_task = [with_classes.columns.get(name, name) for name in names_in_file]
    index_name = _index_of(names_in_task, split)
    merged_at = _find_merged_labels(names_in_task, columns, task, with_classes, path, notes)
    if merged_at is not None:
        names_in_file[merged_at] = MERGED  # a column of another name is not read as gold labels
    arrays = [strings([cell or "" for cell in column]) for column in columns]
    if records.groups is not None:
        # Several records lie in one outermost object: its number is their group, and its index is not theirs.
        index_name = ""
        names_in_file.append(GROUP)
        arrays.append(integers(np.array(records.groups)))
    roles = column_roles(names_in_file, task, with_classes, where=str(path), index=index_name)
    problems = []
    for at in roles.inputs:
        for cell, line in zip(columns[at], records.lines, strict=True):
            if cell is None:
                problems.append(f"{path}:{line}: no {names_in_file[at]} is there; expected text")

    check_index: Check = index_text
    if split.ids and roles.index_at is not None:
        check_index = id_text(split.ids)
    check_label = label_text(task)
    if roles.label_at is not None:
        check_label = label_check(arrays[roles.label_at], task, split, with_classes, notes)
    as_read = with_classes
    if records.format == "CSV":
        as_read = with_classes._replace(quoted=False)  # its reader removed the marks around the cells
    converter = BatchConverter(roles, task, as_read, check_index, check_label, problems)
    batch = converter.convert(arrays, f"{path}:", records.lines)
    refuse(problems)
    note_unlabeled(converter, split, notes)
    return batch


def _with_classes(path: Path, task: Task, release: TaskRelease) -> TaskRelease:
    """The release with the classes that the file CLASSES beside TFRecords lists. Raises DataError.

    Without such a file, and for files of other formats, the release as it is.
    """
    listing = path.with_name(CLASSES)
    if MARK not in path.name or not task.labels or not listing.is_file():
        return release
    names = _reading(listing, lambda: decode(listing.read_bytes())).split()
    return release._replace(classes=words_of_classes(task, names, where=str(listing)))


def _index_of(names: Sequence[str], split: Split) -> str:
    """The name of the column with the index of each row, or with its id if the manifest lists ids."""
    if split.ids and ID in names:
        return ID
    if INDEX in names:
        return INDEX
    return HUB_INDEX


def _find_merged_labels(
    names: Sequence[str],
    columns: Sequence[Sequence[str | None]],
    task: Task,
    release: TaskRelease,
    path: Path,
    notes: list[str],
) -> int | None:
    """The position of labels that merge some of the task's, which are no gold labels of it; say so."""
    if LABEL not in names:
        return None
    at = names.index(LABEL)
    labels = {cell for cell in columns[at] if cell and cell not in HIDDEN}
    if labels and not labels <= set(task.words) and labels <= set(release.merged_labels):
        known = f"only {' or '.join(sorted(labels))}, kept as the column {MERGED}"
        notes.append(f"{path.name}: its labels are {known}; grading needs {', '.join(task.words)}")
        return at
    return None


def note_unlabeled(converter: BatchConverter, split: Split, notes: list[str]) -> None:
    """Say how many rows without a label were left out."""
    if converter.unlabeled:
        values = " or ".join(converter.release.unlabeled)
        count = len(converter.unlabeled)
        notes.append(f"{split.name}: {count:,} rows whose label is {values} are left out")


def _records(path: Path, task: Task, split: Split, release: TaskRelease, *, quoted: bool | None) -> Records:
    known = release.splits[split.name]
    if release.shape:
        return read_shape(release.shape, path, task)
    if MARK in path.name:
        return _reading(path, lambda: read_tfrecords(shards_of(path)))
    usual_names = (*task.columns, *release.columns, LABEL, INDEX, HUB_INDEX)
    declared = Declared(quoted=quoted, path=known.records)
    records = _reading(path, lambda: read_records(path.read_bytes(), declared, usual=usual_names))
    if not records.names:
        if not known.header:
            expected = " ".join(task.columns)
            raise DataError(f"{path}:1: no header; expected the columns {expected} in the first line")
        records = records._replace(names=known.header)
    width = len(records.names)
    problems = []
    for line, row in zip(records.lines, records.rows, strict=True):
        if len(row) != width:
            problems.append(f"{path}:{line}: {len(row)} fields; expected {width}")
    refuse(problems)
    if records.groups is not None and len(set(records.groups)) == 1:
        records = records._replace(groups=None)
    return records


def _reading(path: Path, read: Callable[[], Content]) -> Content:
    """What a reader gives. Raises DataError that names the file and the line."""
    try:
        return read()
    except ReadingError as error:
        place = str(path)
        if error.line is not None:
            place = f"{path}:{error.line}"
        fix = error.fix.removesuffix(".")
        raise DataError(f"{place}: {error.expected}; {fix[:1].lower()}{fix[1:]}") from None


def _columns(
    records: Records, task: Task, split: Split, release: TaskRelease, path: Path, notes: list[str]
) -> tuple[list[str], list[list[str | None]]]:
    """Names as the file has them, and cells as text; None where an object lacks the key.

    Names of the record's own keys lose those that lead to it, unless an object around has the same.
    """
    way = release.splits[split.name].records
    row_numbers = [str(number) for number in range(len(records.rows))]
    names: list[str] = []
    columns: list[list[str | None]] = []
    for at, name in enumerate(records.names):
        values = [row[at] for row in records.rows]
        own = name.removeprefix(f"{way}.")
        is_label = LABEL in (release.columns.get(name, name), own) and task.form in OF_LISTS
        inner = [key for key in release.columns if key.startswith(f"{name}.")]
        if inner and name not in release.columns:
            # The key of each object of a list, as the text of each answer.
            key = inner[0]
            values = [_inside(value, key[len(name) + 1 :].split(".")) for value in values]
            name = key
        elif not is_label and any(_holds_lists(value) for value in values):
            continue  # objects in a list, such as the records of other tasks
        if name not in release.columns and own not in records.names:
            name = own
        if name == "" and list(map(str, values)) == row_numbers:
            continue  # the row numbers that pandas writes without a name
        names.append(name)
        if is_label:
            columns.append(list(list_cells(values, task, split.name, notes)))
            continue
        to_text = _json_text
        if task.form == "tokens" and release.columns.get(name, name) in task.columns:
            to_text = join_tokens
        columns.append([None if value is None else to_text(value) for value in values])
    if not records.rows:
        raise DataError(f"{path}: no rows; expected examples of {task.name}")
    return names, columns


def _holds_lists(value: Any) -> bool:
    """Whether it is a list of objects or lists."""
    return isinstance(value, list) and any(type(element) in (dict, list) for element in value)


def join_tokens(value: Any) -> str:
    """The text of a list of tokens, with a blank between them, so that each has its tag."""
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        return " ".join(value)
    return _json_text(value)


def _inside(value: Any, keys: Sequence[str]) -> Any:
    """What lies under these keys of an object, or of each object of a list."""
    if isinstance(value, list):
        return [_inside(element, keys) for element in value]
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _json_text(value: Any) -> str:
    """A string as it is, and anything else as JSON has it; of a list of strings, each once.

    A list without any is that of the empty string, as the answer to a question without one.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(element, str) for element in value):
        value = list(dict.fromkeys(value)) or [""]
    return json.dumps(value, ensure_ascii=False)


def label_check(labels: pa.Array, task: Task, split: Split, release: TaskRelease, notes: list[str]) -> Check:
    """The check of labels that are text like these: of words, or of class numbers if there is no known word.

    Adds to `notes` how class numbers are read.
    """
    check = label_text(task)
    if not task.labels:
        return check
    not_labels = strings(HIDDEN + release.unlabeled)
    visible = labels.filter(pc.invert(pc.is_in(labels, value_set=not_labels)))
    if not len(visible) or check(visible).sound.any():
        return check
    words = release.classes or task.words
    by_number = class_numbers(words)
    are_numbers = pc.all(pc.match_substring_regex(visible, r"^[0-9]+(?:\.0)?$")).as_py()
    if not are_numbers or not by_number(visible).sound.any():
        return check
    note_classes(split.name, words, notes)
    return by_number
