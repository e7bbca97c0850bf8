"""Statistics of a task's splits on disk, compared with the paper's Tables 1 and 7."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import TAGS
from gluebench.data.errors import DataError
from gluebench.data.home import split_file, task_folder
from gluebench.data.stats.tally import SplitStats, Tally
from gluebench.data.table import Table, load

TRAIN = "train"


class TaskStats(NamedTuple):
    """Statistics of a task's splits, and the figures that the paper prints."""

    task: str
    splits: Mapping[str, SplitStats | None]
    """In the manifest's order; None for one that is not on disk."""
    sizes: tuple[SizeBeside, ...] = ()
    categories: Mapping[str, tuple[Category, ...]] = {}
    """Split of a diagnostic set, if its data have tags, to its coarse categories (Table 7)."""


def on_disk(folder: Path, benchmark: Benchmark, task: Task) -> dict[str, Table | None]:
    """Open the splits of a task; None for one without a file.

    Raises DataError if the task has no folder or a file is invalid.
    """
    home = task_folder(folder, benchmark, task)
    return {
        name: load(task.name, name, folder, benchmark=benchmark) if split_file(home, split) else None
        for name, split in task.splits.items()
    }


def describe(task: Task, tables: Mapping[str, Table | None]) -> TaskStats:
    """The statistics of a task; each split is read once, one row group at a time."""
    tallies = {name: Tally(task).add(table) for name, table in tables.items() if table is not None}
    seen = tallies[TRAIN].vocabulary().keys() if TRAIN in tallies else None
    splits: dict[str, SplitStats | None] = dict.fromkeys(tables)
    for name, tally in tallies.items():
        splits[name] = tally.stats(name, seen=None if name == TRAIN else seen)
    rows = {name: None if table is None else len(table) for name, table in tables.items()}
    tagged = {
        name: _categories(task, table)
        for name, table in tables.items()
        if table is not None and task.phenomena and TAGS in table.columns
    }
    return TaskStats(task.name, splits, sizes_beside(task, rows), tagged)


def _categories(task: Task, table: Table) -> tuple[Category, ...]:
    labels = [example.label for example in table]
    words = [label for label in labels if isinstance(label, str)]
    if table.labeled and len(words) != len(labels):
        raise DataError(f"{task.name} {table.split}: {len(labels) - len(words)} rows have no label")
    return categories(task, [tags or [] for tags in table.column(TAGS)], words if table.labeled else None)


class Category(NamedTuple):
    """One coarse category of phenomena."""

    name: str
    examples: int
    """Rows with at least one of its phenomena; one with several counts once."""
    labels: Mapping[str, int] | None
    """Label word to its number of these rows, in the manifest's order; None if labels are hidden."""
    printed: Mapping[str, float] = {}
    """Figures of the paper: `count`, and the percentage of each label word."""

    def percentage(self, word: str) -> float | None:
        """Percentage of the category with the label, to one decimal as in Table 7."""
        if not self.labels or not self.examples:
            return None
        return round(100 * self.labels[word] / self.examples, 1)

    @property
    def agrees(self) -> bool | None:
        """Whether count and percentages equal those printed; None if there is nothing to compare."""
        if not self.printed or self.labels is None:
            return None
        measured = {"count": self.examples, **{word: self.percentage(word) for word in self.labels}}
        return all(measured.get(name) == figure for name, figure in self.printed.items())


def categories(
    task: Task, tags: Sequence[Sequence[str]], labels: Sequence[str] | None
) -> tuple[Category, ...]:
    """The coarse categories in the manifest's order, from each row's tags and label word.

    Raises DataError for tags that the manifest does not have.
    """
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    unknown = Counter(tag for row in tags for tag in row if tag not in coarse)
    if unknown:
        fault = "is not a phenomenon of the manifest"
        raise DataError([f"{task.name}: the tag {tag!r} ({n} rows) {fault}" for tag, n in unknown.items()])
    described = []
    for name in task.coarse():
        rows = [at for at, row in enumerate(tags) if any(coarse[tag] == name for tag in row)]
        counts = None if labels is None else Counter(labels[at] for at in rows)
        by_word = None if counts is None else {word: counts[word] for word in task.words}
        described.append(Category(name, len(rows), by_word, task.printed.categories.get(name, {})))
    return tuple(described)


Agreement = Literal["exact", "rounded", "cut", "differs"]
"""How a printed figure compares with a size, at the figure's precision."""
_FIGURE = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?) ?([kKM]?)", re.ASCII)
_UNITS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}


class SizeBeside(NamedTuple):
    """A printed size, and the size of the split or splits that it refers to."""

    name: str
    """Its name in the table: "train", "test"."""
    printed: str
    splits: tuple[str, ...]
    size: int | None
    """Total number of their rows; None unless all are on disk."""
    agreement: Agreement | None
    """None without a size, or for a figure that is not a number."""
    notes: tuple[str, ...] = ()
    """If they differ, the manifest's notes that mention the figure."""


def agreement(size: int, printed: str) -> Agreement | None:
    """Compare a printed figure such as "8.5k" with the exact size; None if it is not a number.

    Its precision is that of its last digit: 100 for "8.5k", 1,000 for "67k", 1 for "634". It is "rounded" if
    it is the nearest figure of that precision, "cut" if it is truncated, and else "differs".
    """
    match = _FIGURE.fullmatch(printed.strip())
    if match is None:
        return None
    digits, unit = match[1].replace(",", ""), _UNITS[match[2]]
    figure = Decimal(digits) * unit
    step = Decimal(unit).scaleb(-len(digits.partition(".")[2]))
    if size == figure:
        return "exact"
    if 2 * abs(size - figure) <= step:
        return "rounded"
    return "cut" if figure < size < figure + step else "differs"


def sizes_beside(task: Task, rows: Mapping[str, int | None]) -> tuple[SizeBeside, ...]:
    """Compare each printed size of a task with its splits' `rows`, None for a split not on disk."""
    sizes = []
    for name, printed in task.printed.sizes.items():
        splits = splits_called(task, name)
        known = [size for split in splits if (size := rows.get(split)) is not None]
        size = sum(known) if known and len(known) == len(splits) else None
        how = None if size is None else agreement(size, printed)
        mention = re.compile(rf"(?<![\w.]){re.escape(printed)}(?![\w.]*\w)")
        notes = tuple(note for note in task.notes if mention.search(note)) if how == "differs" else ()
        sizes.append(SizeBeside(name, printed, splits, size, how, notes))
    return tuple(sizes)


def splits_called(task: Task, name: str) -> tuple[str, ...]:
    """The split of that name, or all splits with that role: "test" of MNLI is both its sections."""
    if name in task.splits:
        return (name,)
    parts = [(role, split) for file in task.files for role, split in file.splits.items()]
    return tuple(split.name for role, split in parts if role == name)
