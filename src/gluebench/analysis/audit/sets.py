"""The sets of labelled pairs that an audit learns from and tests on: prepared splits, or tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gluebench.analysis.audit.tables import FILES, pairs_of
from gluebench.analysis.lint.read import labelled
from gluebench.benchmark import Benchmark, Split, Task, UnknownNameError
from gluebench.data import DataError, Example, load
from gluebench.data.gold import in_pairs
from gluebench.data.home import data_folder, split_file, task_folder
from gluebench.scoring import Gold

TRAIN = "train"


class PairSet(NamedTuple):
    """Pairs of texts with their labels."""

    name: str
    """As it is told of: "SNLI train", or the path of a table."""
    task: Task
    """Names the two inputs and the label words."""
    examples: Sequence[Example]

    @property
    def labels(self) -> list[str]:
        """The label word of each pair."""
        return [str(example.label) for example in self.examples]

    def texts(self, position: int) -> list[str]:
        """The first (0) or second (1) text of each pair."""
        return [example.inputs[self.task.columns[position]] for example in self.examples]

    def groups(self) -> list[int] | None:
        """A number for each pair where neighbours are one pair read in both directions; else None."""
        paired = in_pairs([tuple(example.inputs.values()) for example in self.examples])
        return [row // 2 for row in range(len(self.examples))] if paired else None


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
        """What is learnt from: a task's train split, the split of NAME:SPLIT, or a table.

        Raises DataError for wrong or missing files, UnknownNameError for an unknown task or split.
        """
        return self._from_table(name) if is_file(name) else self._from_name(name, [TRAIN])[0]

    def tests(self, name: str) -> list[PairSet]:
        """What is tested on: every split of a task but train that has labels, NAME:SPLIT, or a table.

        Raises what `train` raises, and DataError where a task has no such split.
        """
        return [self._from_table(name)] if is_file(name) else self._from_name(name, [])

    def _from_table(self, name: str) -> PairSet:
        task = _of_pairs(self.benchmark.dataset(self.like))
        return PairSet(str(Path(name)), task, pairs_of(Path(name), task))

    def _from_name(self, name: str, usual: Sequence[str]) -> list[PairSet]:
        wanted, _, split = name.partition(":")
        task = _of_pairs(self.benchmark.dataset(wanted))
        if split and split not in task.splits:
            raise UnknownNameError(split, list(task.splits), what=f"split of {task.name}")
        home = task_folder(data_folder(self.data), self.benchmark, task)
        there = [each.name for each in task.splits.values() if each.name != TRAIN and split_file(home, each)]
        asked = [split] if split else usual or there
        found = list(self._with_labels(task, asked))
        if not found:
            held = f"{', '.join(asked)} without labels" if asked else "no split to test on"
            way_out = "give the labels with --gold, or name another split (NAME:SPLIT) or a table with labels"
            raise DataError([f"{home}: has {held}; {way_out}"])
        return found

    def _with_labels(self, task: Task, splits: Sequence[str]) -> Iterator[PairSet]:
        for split in splits:
            table = load(task.name, split, self.data, benchmark=self.benchmark)
            where = f"{task.name} {split}"
            if table.labelled:
                yield PairSet(where, task, list(table))
                continue
            columns = self.gold.columns if self.gold else {}
            files = [file.name for file in task.files if _holds(file.splits.get("test"), split)]
            for file in files:
                if file in columns:
                    yield PairSet(where, task, labelled(table, columns[file], where=where))


def _holds(held: Split | None, split: str) -> bool:
    return held is not None and held.name == split


def is_file(name: str) -> bool:
    """Whether a set is named by its file."""
    return name.casefold().endswith(FILES)


def _of_pairs(task: Task) -> Task:
    if len(task.columns) != 2 or not task.words:
        raise DataError([f"{task.name}: an audit takes tasks of two texts and a label, which this is not"])
    return task
