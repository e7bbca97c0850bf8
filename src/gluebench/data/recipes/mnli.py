"""MNLI from MultiNLI, and SNLI, which the paper recommends as training data for it; see recipes.toml."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.reading import CLASSES, Reader

SPLITS = {name: f"multinli_1.0_{name}" for name in ("train", "dev_matched", "dev_mismatched")}
TESTS = {f"test_{name}": f"multinli_0.9_test_{name}_unlabeled" for name in ("matched", "mismatched")}
EXTRAS = ("genre", "promptID", "pairID")
UNDECIDED = "-"
"""The gold label if no three of five annotators agreed."""
_LABELS = 5
"""Number of columns with single annotators' labels at the end of a row; the last may be absent."""

Row = tuple[int, Mapping[str, Any]]
"""Line and fields."""


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The splits of the release, and the unlabeled test files if the folder has them."""
    reader = Reader(corpus, task, options)
    splits, notes = labeled_splits(reader, SPLITS, EXTRAS)
    for split, stem in TESTS.items():
        path = reader.find(f"{stem}.jsonl", f"{stem}.txt")
        if path is None:
            notes.append(f"{split}: no {stem}.jsonl nor .txt in the folder; left out")
        else:
            splits[split], _ = pairs(reader, path, EXTRAS, labeled=False)
    return reader.built(splits, notes)


def build_snli(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The three splits of SNLI."""
    reader = Reader(corpus, task, options)
    stems = {split: f"snli_1.0_{split}" for split in ("train", "dev", "test")}
    splits, notes = labeled_splits(reader, stems, ("captionID", "pairID"))
    return reader.built(splits, notes)


def labeled_splits(
    reader: Reader, stems: Mapping[str, str], extras: tuple[str, ...]
) -> tuple[dict[str, Columns], list[str]]:
    """The splits, from files with these names without suffix, and notes on pairs without a label."""
    splits: dict[str, Columns] = {}
    notes = []
    for split, stem in stems.items():
        path = reader.need(f"{stem}.jsonl", f"{stem}.txt")
        splits[split], undecided = pairs(reader, path, extras)
        if undecided:
            notes.append(f"{split}: pairs without an agreed label, left out: {undecided}")
    return splits, notes


def pairs(
    reader: Reader, path: Path, extras: tuple[str, ...], *, labeled: bool = True
) -> tuple[Columns, int]:
    """The pairs of a file that have a gold label, and the number of those that have none.

    `extras` are further fields to keep, with their names. Unlabeled files keep every pair.
    """
    first, second = reader.inputs(2)
    names = {"sentence1": first, "sentence2": second}  # field to column
    for extra in extras:
        names[extra] = extra
    columns: Columns = {column: [] for column in names.values()}
    fields = list(names)
    if labeled:
        columns["label"] = []
        fields.append("gold_label")
    words = reader.words(CLASSES)
    undecided = 0
    for line, row in _read_rows(reader, path, fields):
        gold = row["gold_label"] if labeled else ""
        if gold == UNDECIDED:
            undecided += 1
        elif labeled and gold not in words:
            known = ", ".join(CLASSES + (UNDECIDED,))
            reader.reject(path, line, f'the gold label is "{gold}", expected one of {known}')
        else:
            for field, column in names.items():
                columns[column].append(row[field])
            if labeled:
                columns["label"].append(words[gold])
    return columns, undecided


def _read_rows(reader: Reader, path: Path, fields: Sequence[str]) -> Iterator[Row]:
    """The rows that have all of the fields, as strings; a table without one of them is rejected at once."""
    read_rows = _json if path.suffix == ".jsonl" else _table
    rows = read_rows(reader, path, reader.lines(path))
    for line, row in rows:
        lacking = [field for field in fields if field not in row]
        strange = [field for field in fields if not _is_text(row.get(field, ""))]
        if lacking:
            reader.reject(path, line, f"no {', '.join(lacking)} in this row")
            if path.suffix != ".jsonl":
                return
        elif strange:
            reader.reject(path, line, f"{', '.join(strange)}: not text")
        else:
            yield line, row


def _is_text(value: object) -> bool:
    """Whether it is a string without lone surrogates, which JSON can contain."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


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
    shortest = len(header)
    if header[-1].startswith("label"):  # some rows lack annotators' labels
        shortest = max(1, len(header) - _LABELS + 1)
    for number, fields in reader.rows(path, lines, widths=range(shortest, len(header) + 1), first=2):
        yield number, dict(zip(header, fields, strict=False))
