"""Labelled pairs out of a table: TSV, CSV or Parquet with a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gluebench.benchmark import Task
from gluebench.data import DataError, Example
from gluebench.data.organise.read import RawTable, read_table

FILES = (".tsv", ".csv", ".parquet")
UNDECIDED = "-"
"""The gold label of pairs on which the annotators of SNLI and MultiNLI did not agree; they are left out."""
_INPUTS = (("sentence1", "text_a"), ("sentence2", "text_b"))
_LABELS = ("gold_label", "label")
"""The first that a header has: tables of MultiNLI have single annotators' labels too."""


def pairs_of(path: Path, task: Task) -> list[Example]:
    """The pairs of a table, under the columns and label words of a task; those without agreed label left out.

    Raises DataError for a missing file or column, and for every row whose label is not one of the task's.
    """
    if not path.is_file():
        raise DataError([f"{path}: is no file"])
    table = read_table(path)
    problems: list[str] = []
    examples = list(_examples(table, _columns(table, task), task=task, problems=problems))
    if not problems and not examples:
        problems.append(f"{path}: no row has a label")
    if problems:
        raise DataError(problems)
    return examples


def _columns(table: RawTable, task: Task) -> list[int]:
    """Where the two texts and the label stand. Raises DataError for those that are absent."""
    header = [name.casefold() for name in table.header]
    wanted = [
        *((name.casefold(), *others) for name, others in zip(task.columns, _INPUTS, strict=True)),
        _LABELS,
    ]
    places = [next((header.index(name) for name in names if name in header), -1) for names in wanted]
    absent = [" or ".join(names) for names, place in zip(wanted, places, strict=True) if place < 0]
    if absent:
        raise DataError(
            [f"{table.path}:1: no column {name}, but {', '.join(table.header)}" for name in absent]
        )
    return places


def _examples(
    table: RawTable, columns: Sequence[int], *, task: Task, problems: list[str]
) -> Iterator[Example]:
    known = {word: label.word for label in task.labels for word in (label.word, *label.synonyms)}
    for index, (cells, line) in enumerate(zip(table.rows, table.lines, strict=True)):
        one, other, label = (cells[place] for place in columns)
        if label == UNDECIDED:
            continue
        if label not in known:
            words = ", ".join(task.words)
            problems.append(f'{table.path}:{line}: the label is "{label}", expected one of {words}')
            continue
        yield Example(index, dict(zip(task.columns, (one, other), strict=True)), known[label])
