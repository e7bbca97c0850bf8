"""The files of SNLI and MultiNLI, which have one layout: JSON lines, or a table with the same names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Columns
from gluebench.data.recipes.reading import Reader, classes, inputs

CLASSES = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"
"""The gold label where no three of five annotators agreed."""
_LABELS = 5
"""Columns of single annotators' labels at the end of a row, which may be cut short."""

Row = tuple[int, Mapping[str, Any]]


def labelled_splits(
    reader: Reader, task: Task, stems: Mapping[str, str], extras: tuple[str, ...]
) -> tuple[dict[str, Columns], list[str]]:
    """The splits, from files of these names without their endings, and notes on pairs without a label."""
    splits: dict[str, Columns] = {}
    notes = []
    for split, stem in stems.items():
        path = reader.need(f"{stem}.jsonl", f"{stem}.txt")
        splits[split], undecided = pairs(reader, task, path, extras)
        if undecided:
            notes.append(f"{split}: pairs without an agreed label, left out: {undecided}")
    return splits, notes


def pairs(
    reader: Reader, task: Task, path: Path, extras: tuple[str, ...], *, labelled: bool = True
) -> tuple[Columns, int]:
    """The pairs of a file that have a gold label, and the number of those that have none.

    `extras` are further fields to keep, under their own names. Unlabelled files keep every pair.
    """
    first, second = inputs(task, 2)
    words = dict(zip(CLASSES, classes(task, 3), strict=True))
    names = {"sentence1": first, "sentence2": second} | {name: name for name in extras}
    columns: Columns = {name: [] for name in (*names.values(), *(("label",) if labelled else ()))}
    undecided = 0
    fields = (*names, "gold_label") if labelled else tuple(names)
    for line, row in _rows(reader, path, fields):
        gold = row["gold_label"] if labelled else ""
        if gold == UNDECIDED:
            undecided += 1
            continue
        if labelled and gold not in words:
            known = ", ".join((*CLASSES, UNDECIDED))
            reader.reject(path, line, f'the gold label is "{gold}", expected one of {known}')
            continue
        for field, name in names.items():
            columns[name].append(row[field])
        if labelled:
            columns["label"].append(words[gold])
    return columns, undecided


def _rows(reader: Reader, path: Path, fields: tuple[str, ...]) -> Iterator[Row]:
    """Line and fields of each row that has all of the fields, as strings."""
    lines = reader.lines(path)
    rows = _json(reader, path, lines) if path.suffix == ".jsonl" else _table(reader, path, lines)
    for line, row in rows:
        lacking = [field for field in fields if field not in row]
        strange = [field for field in fields if field in row and not _is_text(row[field])]
        if lacking:
            reader.reject(path, line, f"no {', '.join(lacking)} in this row")
            if path.suffix != ".jsonl":
                return
        elif strange:
            reader.reject(path, line, f"{', '.join(strange)}: not text")
        else:
            yield line, row


def _is_text(value: object) -> bool:
    """Whether it is a string, and no half of a character, which JSON can write, is in it."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _json(reader: Reader, path: Path, lines: list[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            reader.reject(path, number, "not a JSON object")


def _table(reader: Reader, path: Path, lines: list[str]) -> Iterator[Row]:
    header = lines[0].split("\t")
    widths = range(max(1, len(header) - _LABELS + 1), len(header) + 1)
    if not header[-1].startswith("label"):
        widths = range(len(header), len(header) + 1)
    for number, fields in reader.rows(path, lines, widths=widths, first=2):
        yield number, dict(zip(header, fields, strict=False))
