"""What a system offers: predictions, a way to fit it if it learns, and calls that report its progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gluebench.benchmark import Task
from gluebench.data import Example

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Predictor(Protocol):
    """Anything that answers the examples of a task."""

    def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
        """One label word (or a number, for a regression task) for each example, in order."""
        ...


@runtime_checkable
class TrainablePredictor(Predictor, Protocol):
    """A predictor that learns each task from its training split before it predicts."""

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn the task afresh; `dev` is for choosing between settings and may be empty."""
        ...


@runtime_checkable
class SentenceEncoder(Protocol):
    """Anything that turns a sentence into a vector, learning nothing from the task; a probe goes on top."""

    name: str
    """What it is called, parameters that change its vectors included: stored vectors are known by it."""
    dim: int
    """Length of its vectors."""

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (sentences, dim), rows in order; any number of sentences, empty ones too."""
        ...


class SimpleSystem(TrainablePredictor, Protocol):
    """A trainable predictor that can say how large it is."""

    def parameters(self) -> int:
        """Number of fitted values, over all tasks fitted so far."""
        ...


Advance = Callable[[int, int], None]
"""Called with the number done and the number of all."""
Counting = Callable[[str, str], Advance]
"""Makes one: what was done ("encoded"), of what ("sentences")."""


def silent(what: str, unit: str) -> Advance:
    """Reports nothing."""
    return lambda done, of: None
