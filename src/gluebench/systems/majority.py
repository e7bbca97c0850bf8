"""The majority-class system: what the label frequencies alone are worth."""

from __future__ import annotations

from collections.abc import Sequence

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets


class Majority:
    """Answers every example of a task alike: with its most frequent training label, or the mean score."""

    def __init__(self) -> None:
        self._answers: dict[str, str | float] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Count the training labels."""
        self._answers[task.name] = targets.typical(task, train)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The same answer for each."""
        return [self._answers[task.name]] * len(examples)

    def parameters(self) -> int:
        """One answer for each task."""
        return len(self._answers)
