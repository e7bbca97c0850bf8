"""Draw examples for annotation; write and read the sheets of annotators.

Both directions of a sentence pair are labeled independently, so they must be far apart: one is in the first
half of a sheet, the other in the second, at least a quarter of a sheet later. Item numbers are random.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data import DataError, Table
from gluebench.data.errors import expect_schema, parsing, refuse
from gluebench.data.show import entries, rows
from gluebench.scoring.report import fields_of

SCHEMA = "gluebench.annotation/1"
DRAWN = "draw.json"
INSTRUCTIONS = "instructions.md"
ITEM = "item"
LABEL = "label"


@dataclass(frozen=True, slots=True)
class Draw:
    """The sample of pairs. Hide it from annotators, since an index reveals the direction."""

    benchmark: str
    task: str
    split: str
    seed: int
    annotators: int
    pairs: tuple[tuple[int, int], ...]
    """The two items of each pair; items are numbered from 1 in random order."""
    items: tuple[int, ...]
    """The index of each item in its split, item 1 first."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {"schema": SCHEMA, **fields_of(self)}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Draw:
        """Rebuild a draw from the values of its `as_dict`. Raises ValueError, KeyError or TypeError."""
        fields = dict(values)
        fields.pop("schema", None)
        fields["pairs"] = tuple((first, second) for first, second in values["pairs"])
        fields["items"] = tuple(values["items"])
        return cls(**fields)


def pairs_of(table: Table) -> list[tuple[int, int]]:
    """Indices of sentence pairs that are in the split in both directions, in adjacent rows."""
    together = entries(rows(table), paired=True)
    return [(entry[0].index, entry[1].index) for entry in together if len(entry) == 2]


def draw(table: Table, *, benchmark: str, pairs: int, annotators: int, seed: int) -> Draw:
    """Draw a random sample of pairs, determined by data and seed. Raises DataError if there are too few."""
    whole = pairs_of(table)
    if pairs > len(whole):
        where = f"{table.task.name} {table.split}"
        raise DataError(f"{where}: {len(whole)} pairs stand in both directions; {pairs} cannot be drawn")
    rng = random.Random(seed)
    drawn = rng.sample(whole, pairs)
    # The items, two for each pair, are numbered from 1 at random, so that numbers do not show pairs.
    numbers = rng.sample(range(1, 2 * pairs + 1), 2 * pairs)
    items_of_pairs = []
    index_of_item: dict[int, int] = {}
    for position, (first_index, second_index) in enumerate(drawn):
        first_item = numbers[2 * position]
        second_item = numbers[2 * position + 1]
        items_of_pairs.append((first_item, second_item))
        index_of_item[first_item] = first_index
        index_of_item[second_item] = second_index
    indices = tuple(index_of_item[item] for item in sorted(index_of_item))
    return Draw(benchmark, table.task.name, table.split, seed, annotators, tuple(items_of_pairs), indices)


def sheet_order(drawn: Draw, annotator: int) -> list[int]:
    """The item numbers in the order of an annotator's sheet (from 1); each annotator's order differs.

    The direction that comes first is random for each pair.
    """
    rng = random.Random(f"{drawn.seed}/{annotator}")
    order = [pair if rng.random() < 0.5 else pair[::-1] for pair in drawn.pairs]
    rng.shuffle(order)
    middle = len(order) // 2
    items = []
    for direction in (0, 1):
        # A quarter of the sheet each: the second directions follow in the same two parts.
        for part in (order[:middle], order[middle:]):
            items += [pair[direction] for pair in rng.sample(part, len(part))]
    return items


class Sheet(NamedTuple):
    """The labels of one annotator."""

    name: str
    labels: tuple[int | None, ...]
    """The label code of each item, item 1 first; None if it was left blank."""


def write_sheets(folder: Path, drawn: Draw, table: Table) -> None:
    """Write a sheet for each annotator, the instructions and the draw.

    Raises DataError unless the folder is empty, since it may hold labels.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: not empty; name a new folder, so that nobody's labels are written over")
    folder.mkdir(parents=True, exist_ok=True)
    texts = {example.index: list(example.inputs.values()) for example in table}
    for name, text in files(drawn, table.task, [texts[index] for index in drawn.items]).items():
        (folder / name).write_text(text, encoding="utf-8")


def files(
    drawn: Draw,
    task: Task,
    texts: Sequence[Sequence[str]],
    labels: Mapping[int, Mapping[int, str]] | None = None,
) -> dict[str, str]:
    """The contents of a folder of sheets by name; `texts` are those of each item, item 1 first.

    `labels` are those given so far: annotator to item to label.
    """
    contents = {
        DRAWN: json.dumps(drawn.as_dict(), indent=1) + "\n",
        INSTRUCTIONS: instructions(task, len(drawn.items)),
    }
    for number in range(1, drawn.annotators + 1):
        given = (labels or {}).get(number, {})
        rows = [[ITEM, *task.columns, LABEL]]
        for item in sheet_order(drawn, number):
            cells = [" ".join(text.split()) for text in texts[item - 1]]
            rows.append([str(item), *cells, given.get(item, "")])
        contents[_sheet_name(number)] = "".join("\t".join(row) + "\n" for row in rows)
    return contents


def _sheet_name(number: int) -> str:
    return f"annotator-{number}.tsv"


def instructions(task: Task, items: int) -> str:
    """The instructions for annotators, with the manifest's label words."""
    labels = "\n".join(f"- `{label.word}`: {label.gloss}" for label in task.labels)
    text = resources.files("gluebench.analysis.human").joinpath(INSTRUCTIONS).read_text("utf-8")
    columns = {"first": task.columns[0], "second": task.columns[-1]}
    return text.format(items=items, label=LABEL, labels=labels, **columns)


def read_draw(folder: Path) -> Draw:
    """Read the draw of a folder. Raises DataError."""
    path = folder / DRAWN
    if not path.is_file():
        raise DataError(f"{path}: no such file; give the folder that gluebench annotate draw wrote")
    with parsing(path, "as annotate draw wrote it", "restore the original file"):
        values = json.loads(path.read_text(encoding="utf-8"))
        expect_schema(values, SCHEMA)
        return Draw.of(values)


def read_sheets(folder: Path, drawn: Draw, task: Task) -> list[Sheet]:
    """Read every annotator's labels. Raises DataError with the problems of all sheets."""
    problems: list[str] = []
    sheets = []
    for number in range(1, drawn.annotators + 1):
        path = folder / _sheet_name(number)
        labels = _labels(path, len(drawn.items), task, problems)
        sheets.append(Sheet(path.stem, labels))
    refuse(problems)
    return sheets


def _labels(path: Path, items: int, task: Task, problems: list[str]) -> tuple[int | None, ...]:
    """Read the labels of one sheet; append errors to `problems`."""
    code_of: dict[str, int] = {}
    for code, task_label in enumerate(task.labels):
        for word in (task_label.word, *task_label.synonyms):
            code_of[fold(word)] = code
    given: dict[int, int | None] = {}
    for line, item, label in _read_rows(path, problems):
        if not (item.isascii() and item.isdigit() and 1 <= int(item) <= items):
            problems.append(f"{path}:{line}: item {item!r}; expected a number from 1 to {items}, as it was")
        elif int(item) in given:
            problems.append(f"{path}:{line}: item {item} stands twice; keep one of them")
        elif label and fold(label) not in code_of:
            expected = ", ".join(task.words)
            problems.append(f"{path}:{line}: label {label!r} of item {item}; expected {expected}, or nothing")
            given[int(item)] = None
        else:
            given[int(item)] = code_of[fold(label)] if label else None
    lacking = [number for number in range(1, items + 1) if number not in given]
    if given and lacking:
        shown = ", ".join(map(str, lacking[:10]))
        if len(lacking) > 10:
            shown += f" and {len(lacking) - 10} more"
        problems.append(f"{path}: no row for item {shown}; bring the rows back, blank if need be")
    return tuple(given.get(number) for number in range(1, items + 1))


def _read_rows(path: Path, problems: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, item and label of every row; cells may be quoted, as spreadsheets do."""
    try:
        data = path.read_bytes()
        encoding = "utf-8-sig"
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # as a spreadsheet's "Unicode text" begins
            encoding = "utf-16"
        text = data.decode(encoding)
    except FileNotFoundError:
        problems.append(f"{path}: not there; every annotator's sheet is needed")
        return
    except UnicodeDecodeError:
        problems.append(f"{path}: not UTF-8 text; save it as UTF-8")
        return
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines.append([cell.strip().strip('"').strip() for cell in line.split("\t")])
    header = lines[0]
    if ITEM not in header or LABEL not in header:
        problems.append(f"{path}:1: the header names no columns {ITEM} and {LABEL}; save it tab-separated")
        return
    item_at = header.index(ITEM)
    label_at = header.index(LABEL)
    for number, cells in enumerate(lines[1:], 2):
        if any(cells):
            padded = cells + [""] * len(header)
            yield number, padded[item_at], padded[label_at]
