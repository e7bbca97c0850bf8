"""The sizes that a paper prints, beside those of the files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from gluebench.benchmark import Role, Task

Agreement = Literal["exact", "rounded", "cut", "differs"]
"""How a printed figure stands to a size, at the figure's own precision."""
_FIGURE = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?) ?([kKM]?)", re.ASCII)
_UNITS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}


class SizeBeside(NamedTuple):
    """A printed size, and that of the split or splits it speaks of."""

    name: str
    """As the table calls it: "train", "test"."""
    printed: str
    splits: tuple[str, ...]
    size: int | None
    """Their rows together; None unless all of them are there."""
    agreement: Agreement | None
    """None without a size, or for a figure that is no number."""
    notes: tuple[str, ...] = ()
    """Where they differ, what the manifest says of that figure."""


def agreement(size: int, printed: str) -> Agreement | None:
    """How a printed figure such as "8.5k" stands to the exact size; None if it is no number.

    Its precision is its last digit: 100 for "8.5k", 1,000 for "67k", 1 for "634". It is "rounded" if no
    figure of that precision is nearer, "cut" if the digits after it were dropped, and else "differs".
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
    """Each size that is printed of a task beside its splits' `rows`, None for a split that is not there."""
    return tuple(_beside(task, name, printed, rows) for name, printed in task.printed.sizes.items())


def _beside(task: Task, name: str, printed: str, rows: Mapping[str, int | None]) -> SizeBeside:
    splits = splits_called(task, name)
    there = [size for split in splits if (size := rows.get(split)) is not None]
    size = sum(there) if there and len(there) == len(splits) else None
    how = None if size is None else agreement(size, printed)
    mention = re.compile(rf"(?<![\w.]){re.escape(printed)}(?![\w.]*\w)")
    notes = tuple(note for note in task.notes if mention.search(note)) if how == "differs" else ()
    return SizeBeside(name, printed, splits, size, how, notes)


def splits_called(task: Task, name: str) -> tuple[str, ...]:
    """The split of that name, or all that play that part: "test" of MNLI is both its sections."""
    if name in task.splits:
        return (name,)
    roles: tuple[Role, ...] = ("test", "dev")
    return tuple(
        file.splits[role].name for role in roles if role == name for file in task.files if role in file.splits
    )
