"""What a system has to offer: predictions for the examples of a task and, if it learns, a way to fit it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gluebench.benchmark import Task
from gluebench.data import Example


@runtime_checkable
class Predictor(Protocol):
    """Anything that answers the examples of a task."""

    def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
        """One label word (or a number, for a regression task) for each example, in order."""
        ...


@runtime_checkable
class TrainablePredictor(Predictor, Protocol):
    """A predictor that learns each task from its training split before it is asked."""

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn the task afresh; `dev` is for choosing between settings and may be empty."""
        ...


class SimpleSystem(TrainablePredictor, Protocol):
    """A trainable predictor that can say how large it is."""

    def parameters(self) -> int:
        """Number of fitted values, over all tasks fitted so far."""
        ...
