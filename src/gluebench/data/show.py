"""Selecting examples to read, and joining the two directions of a diagnostic pair."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.benchmark import Phenomenon, Task, UnknownNameError
from gluebench.benchmark.lookup import find, fold
from gluebench.data.dataset import TAGS
from gluebench.data.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """An example with the other columns of its file."""

    index: int
    inputs: Mapping[str, str]
    label: str | float | None
    extras: Mapping[str, Any]


Entry = tuple[Row, ...]
"""An example; or the two directions of a pair, where the second has the texts of the first in reverse."""


class Query(NamedTuple):
    """Conditions on entries; one row of an entry must meet all."""

    pattern: re.Pattern[str] | None = None
    """Matches in one of the texts."""
    label: str | None = None
    phenomena: frozenset[str] = frozenset()
    """One of these is among the tags."""
    indices: frozenset[int] = frozenset()
    limit: int | None = None
    """Largest number of entries."""


def label_word(task: Task, name: str) -> str:
    """The label word of that name, synonym or gloss. Raises UnknownNameError."""
    valid = []
    for label in task.labels:
        if fold(name) in map(fold, (label.word, label.gloss) + label.synonyms):
            return label.word
        valid += [word for word in (label.word, label.gloss) if word]
    raise UnknownNameError(name, valid, what=f"label of {task.name}")


def phenomena_called(task: Task, name: str) -> frozenset[str]:
    """The phenomenon of that name or alias, or all of a coarse category. Raises UnknownNameError."""
    coarse = [Phenomenon(category, category) for category in task.coarse()]
    match = find(name, list(task.phenomena) + coarse, what=f"phenomenon or category of {task.name}")
    if match in task.phenomena:
        return frozenset({match.name})
    return frozenset(phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == match.name)


def default_splits(task: Task) -> tuple[str, ...]:
    """The split to read by default: dev, or the only one; several if that is ambiguous."""
    if "dev" in task.splits:
        return ("dev",)
    dev = tuple(name for name in task.splits if name.startswith("dev"))
    return dev or tuple(task.splits)


def rows(table: Table, extras: Sequence[str] = ()) -> Iterator[Row]:
    """Every example in file order, with the named extra columns."""
    for example, *values in zip(table, *map(table.column, extras), strict=True):
        yield Row(example.index, example.inputs, example.label, dict(zip(extras, values, strict=True)))


def entries(examples: Iterable[Row], *, paired: bool) -> Iterator[Entry]:
    """One entry per row; if `paired`, adjacent rows with the same texts in reverse order are one entry."""
    waiting: Entry = ()
    for row in examples:
        if paired and waiting and _is_reverse(row, waiting[0]):
            yield waiting[0], row
            waiting = ()
            continue
        if waiting:
            yield waiting
        waiting = (row,)
    if waiting:
        yield waiting


def _is_reverse(row: Row, other: Row) -> bool:
    """Whether a row has the two texts of another in reverse order."""
    texts = list(row.inputs.values())
    return len(texts) == 2 and list(other.inputs.values()) == texts[::-1]


def pick(candidates: Iterable[Entry], query: Query) -> Iterator[Entry]:
    """The entries that match, in file order; stops reading as soon as possible."""
    missing = set(query.indices)
    number = 0
    for entry in candidates:
        if any(_matches(row, query) for row in entry):
            yield entry
            number += 1
        missing -= {row.index for row in entry}
        if number == query.limit or (query.indices and not missing):
            return


def _matches(row: Row, query: Query) -> bool:
    if query.indices and row.index not in query.indices:
        return False
    if query.label is not None and row.label != query.label:
        return False
    if query.phenomena and query.phenomena.isdisjoint(row.extras.get(TAGS) or ()):
        return False
    return query.pattern is None or any(map(query.pattern.search, row.inputs.values()))
