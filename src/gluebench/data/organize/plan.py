"""From an organizer's folder to everything a benchmark needs: what is to be written, and what was assumed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gluebench.data.errors import DataError, gather, gathered
from gluebench.data.organize.detect import (
    Choices,
    ColumnPlan,
    LabelPlan,
    number,
    plan_columns,
    plan_labels,
)
from gluebench.data.organize.read import RawTable, TaskFiles, find_tasks, read_table
from gluebench.data.tsv import Example

NOT_STATED = "not stated"
_BREAKS = re.compile(r"[\t\r\n]+")


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task, ready to be written."""

    name: str
    columns: ColumnPlan
    labels: LabelPlan
    licence: str
    formats: Mapping[str, str]
    """Split to how its file was read."""
    splits: Mapping[str, list[Example]]
    """Split to its examples; a label is None only in a test split without labels."""
    notes: tuple[str, ...]
    """What was assumed or changed."""
    given: frozenset[str]
    """The options that the organizer gave; the others were detected."""

    @property
    def labelled(self) -> bool:
        """Whether the test split has labels."""
        return self.splits["test"][0].label is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """A benchmark, ready to be written."""

    name: str
    title: str
    tasks: tuple[TaskPlan, ...]


def make_plan(folders: Sequence[str | os.PathLike[str]], name: str, choices: Choices) -> Plan:
    """Read an organizer's folders. Raises DataError with the problems of all tasks."""
    task_files = find_tasks(folders, name)
    tasks, problems = gather(lambda files: _task(files, choices), task_files)
    if problems := [*choices.unknown_tasks([files.name for files in task_files]), *problems]:
        raise DataError(problems)
    return Plan(name, choices.title or name, tuple(tasks))


def _task(files: TaskFiles, choices: Choices) -> TaskPlan:
    chosen = choices.of(files.name)
    tables = gathered(lambda _, path: read_table(path, encoding=choices.encoding), files.files)
    columns = plan_columns(files.name, tables, chosen)
    labels = plan_labels(files.name, tables, columns.label, chosen)
    splits: dict[str, list[Example]] = {}
    notes: list[str] = []
    problems: list[str] = []
    for split, table in tables.items():
        maker = _Examples(table, columns, labels)
        splits[split] = maker.examples(replacing=choices.replace_whitespace)
        notes += [f"{split}: {note}" for note in maker.notes]
        problems += maker.problems
    if problems:
        raise DataError(problems)
    licence = chosen.get("licence")
    declared = next((table.declared for table in tables.values() if table.declared), None)
    if declared is not None:
        notes += [declared.made] if declared.made else []
        licence = licence or declared.licence
    formats = {split: table.format for split, table in tables.items()}
    plan = TaskPlan(
        files.name, columns, labels, licence or NOT_STATED, formats, splits, (), frozenset(chosen)
    )
    return replace(plan, notes=(*notes, *_assumed(plan)))


def _assumed(task: TaskPlan) -> Iterator[str]:
    """What the manifest says without having been given, in sentences."""
    columns, labels = task.columns, task.labels
    if columns.ignored:
        yield f"Columns of the source files that were left out: {', '.join(columns.ignored)}."
    if labels.score_range and "score_range" not in task.given:
        yield "The score range {:g} to {:g} was assumed from the scores that occur.".format(
            *labels.score_range
        )
    if "metrics" not in task.given:
        yield f"The metrics were chosen for the labels at hand: {', '.join(labels.metrics)}."
    if labels.positive is not None and "positive" not in task.given:
        yield f'F1 counts "{labels.positive}" as positive because it is the rarer label.'
    if task.licence == NOT_STATED:
        yield "The licence was not stated."
    if not task.labelled:
        yield "The test labels were not given: the gold folder lacks this task."


class _Examples:
    """Turns the rows of one table into examples, and keeps what is wrong and what was changed."""

    def __init__(self, table: RawTable, columns: ColumnPlan, labels: LabelPlan) -> None:
        self.table = table
        self.columns = columns
        self.labels = labels
        self.notes: list[str] = []
        self.problems: list[str] = []

    def examples(self, *, replacing: bool) -> list[Example]:
        """The examples in file order."""
        names = self.columns.inputs
        inputs = zip(*(self._texts(name, replacing=replacing) for name in names), strict=True)
        return [
            Example(index, dict(zip(names, texts, strict=True)), label)
            for index, texts, label in zip(self._indices(), inputs, self._labels(), strict=True)
        ]

    def _texts(self, name: str, *, replacing: bool) -> list[str]:
        """One column, in which tabs and line ends cannot stand."""
        texts = self.table.column(name)
        broken = [at for at, text in enumerate(texts) if _BREAKS.search(text)]
        if broken and replacing:
            for at in broken:
                texts[at] = _BREAKS.sub(" ", texts[at])
            self.notes.append(f"tabs or line ends in {len(broken):,} texts of {name} were made spaces.")
            return texts
        for at in broken:
            self.problems.append(
                f"{self.table.path}:{self.table.lines[at]}: {name} holds a tab or a line end, which "
                "the benchmark's files cannot; fix it, or let --replace-whitespace make it a space"
            )
        return texts

    def _labels(self) -> list[str | float | None]:
        name = self.columns.label
        cells = self.table.column(name) if name in self.table.header else []
        if not any(cells):
            return [None] * len(self.table.rows)
        return list(cells) if self.labels.kind == "labels" else [float(cell) for cell in cells]

    def _indices(self) -> Sequence[int]:
        """The file's own indices where they are 0 to n - 1 in some order, else the row numbers from 0."""
        count = len(self.table.rows)
        if self.columns.row_index is None or self.columns.row_index not in self.table.header:
            return range(count)
        values = [number(cell) for cell in self.table.column(self.columns.row_index)]
        own = [int(value) for value in values if value is not None and value.is_integer()]
        if len(own) == count and set(own) == set(range(count)):
            return own
        self.notes.append(
            f'"{self.columns.row_index}" is not 0 to {count - 1}, so rows are numbered from 0 in file order.'
        )
        return range(count)


class Decision(NamedTuple):
    """One decision."""

    what: str
    value: str
    given: bool
    """Whether the organizer gave it; it was detected otherwise."""


def summary(task: TaskPlan) -> Iterator[Decision]:
    """Every decision on one task."""
    columns, labels, given = task.columns, task.labels, task.given
    for split, examples in task.splits.items():
        hidden = "" if split != "test" or task.labelled else ", no labels"
        yield Decision(split, f"{len(examples):,} rows ({task.formats[split]}){hidden}", False)
    yield Decision("input columns", ", ".join(columns.inputs), "inputs" in given)
    yield Decision("label column", columns.label, "label" in given)
    index = columns.row_index or "none: rows are numbered from 0"
    yield Decision("index column", index, "index" in given)
    yield Decision("left out", ", ".join(columns.ignored) or "nothing", "ignore" in given)
    yield Decision("kind", labels.kind, "kind" in given)
    if labels.score_range:
        yield Decision("range", "{:g} to {:g}".format(*labels.score_range), "score_range" in given)
    else:
        shares = [f"{word} {100 * labels.shares[word]:.1f} %" for word in labels.words]
        yield Decision("labels", ", ".join(shares), "words" in given)
    names = [name + (f" of {labels.positive}" if name == "f1" else "") for name in labels.metrics]
    yield Decision("metrics", ", ".join(names), "metrics" in given)
    yield Decision("licence", task.licence, task.licence != NOT_STATED)
