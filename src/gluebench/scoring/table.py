"""A scored table: items x systems, already scored, in place of a benchmark, gold labels and submissions."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from gluebench.benchmark import Benchmark, Task, UnknownNameError
from gluebench.benchmark.metrics import Form
from gluebench.benchmark.records import Label, Metric, Source, Split, TestFile
from gluebench.scoring.gold import Gold
from gluebench.scoring.metrics import MEAN
from gluebench.scoring.tags import Metadata, places_of
from gluebench.submission.submission import Column, Submission

Unit = Literal["items", "tasks"]
WORDS = ("wrong", "right")
SCOPES: Mapping[str, str] = {
    "one": (
        "The uncertainty is over items: how the result would vary with other items of the same task, not "
        "with other tasks."
    ),
    "items": (
        "The uncertainty is over the items of these tasks; the tasks are fixed. For how the mean would vary "
        "with other tasks, make a table over tasks (gluebench read TABLE --over tasks --out FILE)."
    ),
    "tasks": (
        "The uncertainty is over tasks: how the mean would vary with other tasks like these. The items "
        "within a task are not resampled."
    ),
}
"""What the intervals and tests of a table allow for."""


@dataclass(frozen=True)
class TableGold(Gold):
    """The labels of a scored table, which also holds the systems."""

    systems: Mapping[str, Submission] = field(default_factory=dict, repr=False)
    unit: Unit = "items"
    """Of what the rows are."""

    def system(self, name: str) -> Submission:
        """The system of that name. Raises UnknownNameError."""
        if name not in self.systems:
            raise UnknownNameError(name, list(self.systems), what=f"system of {self.folder}")
        return self.systems[name]


@dataclass(frozen=True, repr=False)
class ScoredTable:
    """Scores of several systems on the same items; takes the place of gold in `compare` and the like.

    There systems are given by their names: `compare("bert", "esim", table)`.
    """

    name: str
    items: Sequence[str]
    """Names of the items, unique within a task, shape (n,); those of the tasks if `unit` is "tasks"."""
    scores: Mapping[str, Sequence[float]]
    """System to the score of each item, shape (n,); higher is better. Right or wrong is 1.0 or 0.0."""
    tasks: Sequence[str] | None = None
    """The task of each item; None if all are of one task without a name."""
    clusters: Sequence[str] | None = None
    """The cluster of each item; items of a cluster are dependent. None if all are independent."""
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column to the category of each item."""
    unit: Unit = "items"
    """Of what the rows are: items of a task, or tasks."""
    notes: tuple[str, ...] = ()
    """What was left out when the files were read and joined."""

    def __post_init__(self) -> None:
        if not self.scores or not self.items:
            raise ValueError("a scored table needs at least one system and one item")
        columns: list[Sequence[object] | None] = [self.tasks, self.clusters]
        columns += self.scores.values()
        columns += self.categories.values()
        for column in columns:
            if column is not None and len(column) != len(self.items):
                raise ValueError(
                    f"each column of a scored table needs a value for each of {len(self.items)} items"
                )

    def __repr__(self) -> str:
        number = f"{len(self.items):,} {self.unit}"
        if self.tasks:
            number += f" of {len(set(self.tasks))} tasks"
        return f"<ScoredTable {self.name}: {number}, {len(self.scores)} systems>"

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.scores)

    def over_tasks(self) -> ScoredTable:
        """The table whose rows are the tasks, with mean scores. Raises ValueError without names of tasks."""
        if self.tasks is None:
            raise ValueError(f"the tasks of {self.name} are not known; expected a task for each item")
        rows_of_tasks = places_of(self.tasks)
        means = {}
        for system, scores in self.scores.items():
            means[system] = tuple(_mean(scores, rows) for rows in rows_of_tasks.values())
        return ScoredTable(self.name, tuple(rows_of_tasks), means, unit="tasks", notes=self.notes)

    @cached_property
    def gold(self) -> TableGold:
        """The table as labels that hold its systems, one task for each of its tasks."""
        rows_of_tasks = places_of(self.tasks or [f"all {self.unit}"] * len(self.items))
        tasks = tuple(self._task(name, len(rows)) for name, rows in rows_of_tasks.items())
        benchmark = Benchmark(self.name, self.name, "scores that were read from files", tasks)
        systems = {}
        for system, scores in self.scores.items():
            columns = self._columns(scores, rows_of_tasks)
            systems[system] = Submission(benchmark, "test", system, "valid", (), columns)
        all_right = [1.0] * len(self.items)
        metadata = {}
        for task, rows in rows_of_tasks.items():
            metadata[task] = Metadata.of(self.clusters, self.categories, rows)
        scope = SCOPES[self.unit]
        if self.unit == "items" and len(tasks) == 1:
            scope = SCOPES["one"]
        return TableGold(
            benchmark,
            "test",
            self.name,
            columns=self._columns(all_right, rows_of_tasks),
            phenomena={},
            metadata=metadata,
            partial=False,
            warnings=self.notes,
            scope=scope,
            systems=systems,
            unit=self.unit,
        )

    @cached_property
    def _binary(self) -> bool:
        return self.unit == "items" and all(set(scores) <= {0.0, 1.0} for scores in self.scores.values())

    def _columns(
        self, scores: Sequence[float], rows_of_tasks: Mapping[str, Sequence[int]]
    ) -> dict[str, Column]:
        """The scores of each task, as codes of right and wrong if they are nothing else."""
        columns = {}
        for task, rows in rows_of_tasks.items():
            if self._binary:
                columns[task] = Column(WORDS, bytes(int(scores[row]) for row in rows))
            else:
                columns[task] = Column((), array("d", (scores[row] for row in rows)))
        return columns

    def _task(self, name: str, size: int) -> Task:
        metric = Metric("mean", MEAN.name, "mean", name)
        labels: tuple[Label, ...] = ()
        form: Form = "numbers"
        if self._binary:
            metric = Metric("accuracy", "accuracy", "acc.", name)
            labels = tuple(Label(word, "") for word in WORDS)
            form = "labels"
        split = Split("test", "", size)
        return Task(
            name=name,
            title=name,
            summary="scores of items",
            section="",
            domain="",
            columns=(),
            labels=labels,
            score_range=None,
            form=form,
            metrics=(metric,),
            splits={"test": split},
            files=(TestFile(name, name, {"test": split}),),
            source=Source("", "", ""),
            private=False,
            metadata=tuple(self.categories),
        )


def _mean(scores: Sequence[float], rows: Sequence[int]) -> float:
    return sum(scores[row] for row in rows) / len(rows)
