"""What a benchmark is, at a glance: its facts, and its tasks with what is asked in each."""

from __future__ import annotations

from typing import NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.leaderboard.common.formats import percent

PRIVACY = {True: "private", False: "public", None: "not stated"}
"""How a task's test labels are marked."""


class TaskLine(NamedTuple):
    """One task as a table lists it."""

    task: Task
    asks: str
    metrics: str
    examples: int
    labels: str


class Fact(NamedTuple):
    """Something to know at a glance."""

    title: str
    text: str


def task_lines(record: Benchmark) -> tuple[TaskLine, ...]:
    """Every task of the average, then the diagnostic sets."""
    return tuple(map(task_line, (*record.scored, *record.diagnostics)))


def task_line(task: Task) -> TaskLine:
    """What is asked, how it is scored, how much there is and who knows the labels."""
    metrics = ", ".join(dict.fromkeys(metric.title for metric in task.metrics))
    examples = sum(file.size() for file in task.files if "test" in file.splits)
    return TaskLine(task, task.summary or task.title, metrics, examples, PRIVACY[task.private])


def facts(record: Benchmark, *, systems: int, best: float | None) -> tuple[Fact, ...]:
    """What somebody wants to know in the first ten seconds; what is not known is left out."""
    human = next((each for each in record.references if "score" in each.scores), None)
    private = sum(task.private is True for task in record.scored)
    number = len(record.scored)
    found = [
        Fact("Tasks", f"{number}"),
        Fact("Systems", f"{systems:,}"),
        Fact("Best score", percent(best) if best is not None else ""),
        Fact(human.name if human else "", percent(human.scores["score"]) if human else ""),
        Fact("Private test labels", f"{private} of {number} tasks" if private else ""),
    ]
    return tuple(fact for fact in found if fact.text)
