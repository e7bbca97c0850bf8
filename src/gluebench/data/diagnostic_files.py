"""Reading a labelled diagnostic set: a row for each pair, or GLUE's release with a row for each direction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.data.errors import DataError
from gluebench.data.tsv import text_lines

PAIR_COLUMNS = ("domain", "phenomena", "sentence1", "sentence2", "forward", "backward")
"""Columns of the form with a row for each pair; `set` may follow."""
RELEASED_COLUMNS = ("domain", "premise", "hypothesis", "label")
"""Columns of the released form, in any letter case; every other column holds tags of one coarse category."""


class Tag(NamedTuple):
    """A phenomenon as the file spells it."""

    text: str
    category: str | None = None
    """The coarse category whose column it stands in; None where there are no such columns."""


class Reading(NamedTuple):
    """One direction of a pair."""

    line: int
    premise: str
    hypothesis: str
    label: str
    domain: str
    tags: tuple[Tag, ...]


class LabelledPair(NamedTuple):
    """Two sentences, read in both directions, or in one where the other is missing."""

    forward: Reading
    backward: Reading | None
    set: str | None = None
    """The minimal set it belongs to, "" where its cell is empty; None if the file does not name them."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The directions that there are."""
        return (self.forward, self.backward) if self.backward else (self.forward,)


def read_diagnostic(path: str | os.PathLike[str], task: Task) -> list[LabelledPair]:
    """The pairs of a tab-separated file of either form; quotation marks are text like any other.

    Raises DataError for a file that cannot be read, a header of neither form, and rows of another width.
    """
    lines = text_lines(Path(path), Path(path).read_bytes())
    header = lines[0].split("\t")
    names = [fold(name) for name in header]
    pairwise = set(PAIR_COLUMNS) <= set(names)
    if not pairwise and not set(RELEASED_COLUMNS) <= set(names):
        raise DataError(f"{path}:1: {_wrong_header(task)}")
    rows = _rows(path, lines, width=len(header))
    if pairwise:
        return [_pair(line, dict(zip(names, cells, strict=True))) for line, cells in rows]
    return _paired([_reading(line, header, names, cells) for line, cells in rows])


def _wrong_header(task: Task) -> str:
    categories = ", ".join(task.coarse())
    return (
        f"the header names neither the columns {', '.join(PAIR_COLUMNS)} (and set), a row for each pair, "
        f"nor Domain, Premise, Hypothesis, Label and the categories ({categories}), a row for each direction"
    )


def _rows(path: str | os.PathLike[str], lines: Sequence[str], *, width: int) -> list[tuple[int, list[str]]]:
    rows = [(number, line.split("\t")) for number, line in enumerate(lines[1:], 2)]
    wrong = [
        f"{path}:{number}: {len(cells)} columns, expected {width} as in the header; a row is one line, "
        "its columns parted by tabs"
        for number, cells in rows
        if len(cells) != width
    ]
    if wrong or not rows:
        raise DataError(wrong or [f"{path}: no pairs: the file has a header alone"])
    return rows


def _pair(line: int, cells: Mapping[str, str]) -> LabelledPair:
    tags = tuple(Tag(tag) for tag in _split(cells["phenomena"]))
    shared = (cells["domain"].strip(), tags)
    first, second = cells["sentence1"], cells["sentence2"]
    forward = Reading(line, first, second, cells["forward"], *shared)
    backward = Reading(line, second, first, cells["backward"], *shared) if cells["backward"] else None
    return LabelledPair(forward, backward, cells["set"].strip() if "set" in cells else None)


def _reading(line: int, header: Sequence[str], names: Sequence[str], cells: Sequence[str]) -> Reading:
    by_name = dict(zip(names, cells, strict=True))
    tags = tuple(
        Tag(tag, category)
        for category, name, cell in zip(header, names, cells, strict=True)
        if name not in RELEASED_COLUMNS
        for tag in _split(cell)
    )
    texts = (by_name["premise"], by_name["hypothesis"], by_name["label"])
    return Reading(line, *texts, by_name["domain"].strip(), tags)


def _split(cell: str) -> Iterable[str]:
    return filter(None, (tag.strip() for tag in cell.split(";")))


def _paired(readings: Sequence[Reading]) -> list[LabelledPair]:
    """Each row with the next one if that is its reverse."""
    pairs: list[LabelledPair] = []
    at = 0
    while at < len(readings):
        ahead = readings[at]
        back = readings[at + 1] if at + 1 < len(readings) else None
        if back and (back.premise, back.hypothesis) != (ahead.hypothesis, ahead.premise):
            back = None
        pairs.append(LabelledPair(ahead, back))
        at += 2 if back else 1
    return pairs
