"""The sets of labeled pairs that an audit learns from and tests on: prepared splits, or tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gluebench.analysis.lint import with_labels
from gluebench.benchmark import Benchmark, Task, UnknownNameError
from gluebench.data import DataError, Example, load
from gluebench.data.errors import refuse
from gluebench.data.home import data_folder, split_file, task_folder
from gluebench.data.organize.read import RawTable, read_table
from gluebench.scoring import Gold

FILES = (".tsv", ".csv", ".parquet")
UNDECIDED = "-"
"""The gold label of pairs on which the annotators of SNLI and MultiNLI did not agree; they are left out."""
_INPUTS = (("sentence1", "text_a"), ("sentence2", "text_b"))
_LABELS = ("gold_label", "label")
"""The first that a header has: tables of MultiNLI have single annotators' labels too."""
TRAIN = "train"
FOLDS = 3
"""Folds of a training set; a stacked classifier predicts each fold after learning from the others."""


def pairs_of(path: Path, task: Task) -> list[Example]:
    """The pairs of a table, under the columns and label words of a task; those without agreed label left out.

    Raises DataError for a missing file or column, and for every row whose label is not one of the task's.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected a table of sentence pairs with labels")
    table = read_table(path)
    columns = _columns(table, task)
    label_of: dict[str, str] = {}
    for task_label in task.labels:
        label_of[task_label.word] = task_label.word
        for synonym in task_label.synonyms:
            label_of[synonym] = task_label.word
    examples: list[Example] = []
    problems: list[str] = []
    for index, (cells, line) in enumerate(zip(table.rows, table.lines, strict=True)):
        *texts, label = [cells[place] for place in columns]
        if label == UNDECIDED:
            continue
        if label not in label_of:
            words = ", ".join(task.words)
            problems.append(f'{table.path}:{line}: the label is "{label}", expected one of {words}')
            continue
        inputs = dict(zip(task.columns, texts, strict=True))
        examples.append(Example(index, inputs, label_of[label]))
    if not problems and not examples:
        problems.append(f"{path}: no row has a label")
    refuse(problems)
    return examples


def _columns(table: RawTable, task: Task) -> list[int]:
    """Where the texts and the label stand. Raises DataError for those that are absent."""
    header = [name.casefold() for name in table.header]
    accepted: list[tuple[str, ...]] = []
    for column, others in zip(task.columns, _INPUTS, strict=False):
        accepted.append((column.casefold(), *others))
    accepted.append(_LABELS)
    places = []
    problems = []
    for names in accepted:
        present = [name for name in names if name in header]
        if present:
            places.append(header.index(present[0]))
        else:
            expected = " or ".join(names)
            problems.append(f"{table.path}:1: no column {expected}, but {', '.join(table.header)}")
    if problems:
        raise DataError(problems)
    return places


class PairSet(NamedTuple):
    """Pairs of texts, or single texts, with their labels."""

    name: str
    """The name to show: "SNLI train", or the path of a table."""
    task: Task
    """Names the inputs and the label words."""
    examples: Sequence[Example]

    @property
    def labels(self) -> list[str]:
        """The label word of each pair."""
        return [str(example.label) for example in self.examples]

    def texts(self, position: int) -> list[str]:
        """The first (0), second (1) or last (-1) text of each example."""
        return [example.inputs[self.task.columns[position]] for example in self.examples]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where sets come from when they are named."""

    benchmark: Benchmark
    data: str | os.PathLike[str] | None = None
    """The folder of prepared data; by default $GLUEBENCH_DATA."""
    gold: Gold | None = None
    """Labels of test splits that have none in the data."""
    like: str = "MNLI"
    """The task whose columns and label words a table has."""

    def train(self, name: str) -> PairSet:
        """What is learned from: a task's train split, the split of NAME:SPLIT, or a table.

        Raises DataError for wrong or missing files, UnknownNameError for an unknown task or split.
        """
        if is_file(name):
            return self._from_table(name)
        return self._from_name(name, [TRAIN])[0]

    def tests(self, name: str) -> list[PairSet]:
        """What is tested on: every split of a task but train that has labels, NAME:SPLIT, or a table.

        Raises what `train` raises, and DataError where a task has no such split.
        """
        if is_file(name):
            return [self._from_table(name)]
        return self._from_name(name, [])

    def own(self) -> Iterator[tuple[PairSet, list[PairSet]]]:
        """For every task with labels and a train split what to learn from, and what to test on: its own.

        A diagnostic set is tested on by the task that answers it, if its labels are at hand (`gold`).
        """
        for task in self.benchmark.tasks:
            if not _has_labels(task) or TRAIN not in task.splits:
                continue
            train = self.train(task.name)
            tests = self.tests(task.name)
            if self.gold:
                for other in self.benchmark.tasks:
                    if other.predict_with == task.name:
                        tests += self.tests(other.name)
            yield train, tests

    def _from_table(self, name: str) -> PairSet:
        task = _auditable(self.benchmark.dataset(self.like))
        return PairSet(str(Path(name)), task, pairs_of(Path(name), task))

    def _from_name(self, name: str, usual: Sequence[str]) -> list[PairSet]:
        task_name, _, split = name.partition(":")
        task = _auditable(self.benchmark.dataset(task_name))
        if split and split not in task.splits:
            raise UnknownNameError(split, list(task.splits), what=f"split of {task.name}")
        home = task_folder(data_folder(self.data), self.benchmark, task)
        splits = list(usual)
        if split:
            splits = [split]
        elif not usual:
            for part in task.splits.values():
                if part.name != TRAIN and split_file(home, part):
                    splits.append(part.name)
        sets = list(self._with_labels(task, splits))
        if not sets:
            held = "no split to test on"
            if splits:
                held = f"{', '.join(splits)} without labels"
            way_out = "give the labels with --gold, or name another split (NAME:SPLIT) or a table with labels"
            raise DataError(f"{home}: has {held}; {way_out}")
        return sets

    def _with_labels(self, task: Task, splits: Sequence[str]) -> Iterator[PairSet]:
        for split in splits:
            table = load(task.name, split, self.data, benchmark=self.benchmark)
            where = f"{task.name} {split}"
            if table.labeled:
                yield PairSet(where, task, list(table))
                continue
            columns = self.gold.columns if self.gold else {}
            for file in task.files:
                test = file.splits.get("test")
                if test is not None and test.name == split and file.name in columns:
                    yield PairSet(where, task, with_labels(table, columns[file.name], task=task, where=where))


def is_file(name: str) -> bool:
    """Whether a set is named by its file."""
    return name.casefold().endswith(FILES)


def _auditable(task: Task) -> Task:
    if not _has_labels(task):
        raise DataError(
            f"{task.name}: an audit takes tasks of one or two texts and a label, which this is not; "
            "for scores, gluebench benchmark lint prints how far word overlap correlates with them"
        )
    return task


def _has_labels(task: Task) -> bool:
    return bool(task.words) and len(task.columns) <= 2
