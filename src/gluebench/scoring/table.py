"""A scored table: items x systems, already scored, in place of a benchmark, gold labels and submissions."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from gluebench.benchmark import Benchmark, Task, UnknownNameError
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
        columns = [*self.scores.values(), *self.categories.values(), self.tasks, self.clusters]
        if not self.scores or not self.items:
            raise ValueError("a scored table needs at least one system and one item")
        if any(column is not None and len(column) != len(self.items) for column in columns):
            raise ValueError(
                f"each column of a scored table needs a value for each of {len(self.items)} items"
            )

    def __repr__(self) -> str:
        number = f"{len(self.items):,} {self.unit}"
        tasks = f" of {len(set(self.tasks))} tasks" if self.tasks else ""
        return f"<ScoredTable {self.name}: {number}{tasks}, {len(self.scores)} systems>"

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.scores)

    def over_tasks(self) -> ScoredTable:
        """The table whose rows are the tasks, with mean scores. Raises ValueError without names of tasks."""
        if self.tasks is None:
            raise ValueError(f"the tasks of {self.name} are not known; expected a task for each item")
        places = places_of(self.tasks)
        means = {
            system: tuple(sum(scores[at] for at in of_task) / len(of_task) for of_task in places.values())
            for system, scores in self.scores.items()
        }
        return ScoredTable(self.name, tuple(places), means, unit="tasks", notes=self.notes)

    @cached_property
    def gold(self) -> TableGold:
        """The table as labels that hold its systems, one task for each of its tasks."""
        places = places_of(self.tasks or [f"all {self.unit}"] * len(self.items))
        tasks = tuple(self._task(name, of_task) for name, of_task in places.items())
        benchmark = Benchmark(self.name, self.name, "scores that were read from files", tasks)
        systems = {
            system: Submission(
                benchmark,
                "test",
                system,
                "valid",
                (),
                {task: self._column(scores, of_task) for task, of_task in places.items()},
            )
            for system, scores in self.scores.items()
        }
        return TableGold(
            benchmark,
            "test",
            self.name,
            {task: self._column([1.0] * len(self.items), of_task) for task, of_task in places.items()},
            {},
            {task: Metadata.of(self.clusters, self.categories, of_task) for task, of_task in places.items()},
            False,
            warnings=self.notes,
            scope=SCOPES["one" if self.unit == "items" and len(tasks) == 1 else self.unit],
            systems=systems,
            unit=self.unit,
        )

    @cached_property
    def _binary(self) -> bool:
        return self.unit == "items" and all({*scores} <= {0.0, 1.0} for scores in self.scores.values())

    def _column(self, scores: Sequence[float], places: Sequence[int]) -> Column:
        if self._binary:
            return Column(WORDS, bytes(int(scores[at]) for at in places))
        return Column((), array("d", (scores[at] for at in places)))

    def _task(self, name: str, places: Sequence[int]) -> Task:
        name_of, function, title = (
            ("accuracy", "accuracy", "acc.") if self._binary else ("mean", MEAN.name, "mean")
        )
        splits = {"test": Split("test", "", len(places))}
        return Task(
            name=name,
            title=name,
            summary="scores of items",
            section="",
            domain="",
            columns=(),
            labels=tuple(Label(word, "") for word in WORDS) if self._binary else (),
            score_range=None,
            form="labels" if self._binary else "numbers",
            metrics=(Metric(name_of, function, title, name),),
            splits=splits,
            files=(TestFile(name, name, {"test": splits["test"]}),),
            source=Source("", "", ""),
            private=False,
            metadata=tuple(self.categories),
        )
