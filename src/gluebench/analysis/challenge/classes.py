"""The label words of an inference task, told apart by what they mean."""

from __future__ import annotations

from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data import DataError

ENTAILMENT = "entailment"


class Classes(NamedTuple):
    """The three classes as words of a task; with two labels, the last two are the same word."""

    entailment: str
    neutral: str
    contradiction: str

    def word(self, name: str) -> str:
        """The task's word for a class by its name; "" for "", where nothing is known."""
        return str(getattr(self, name)) if name else ""

    def opposite(self, label: str) -> str:
        """The label once the second text is negated; "" where the old one does not say."""
        if self.neutral == self.contradiction:
            return self.contradiction if label == self.entailment else ""
        return {self.entailment: self.contradiction, self.contradiction: self.entailment}.get(label, label)

    def back(self, label: str) -> str:
        """The label of the other direction, which only a contradiction tells; "" for the others."""
        return label if label == self.contradiction != self.neutral else ""


def classes(task: Task) -> Classes:
    """The classes of a task on two texts.

    The words called so, or else the first of two or three labels is entailment and the last contradiction.
    Raises DataError for a task of another kind.
    """
    words = list(task.words)
    if len(task.columns) != 2 or len(words) not in (2, 3):
        raise DataError([f"{task.name}: expected an inference task, two texts with two or three labels"])
    if len(words) == 3:
        if set(words) == {ENTAILMENT, "neutral", "contradiction"}:
            return Classes(ENTAILMENT, "neutral", "contradiction")
        return Classes(*words)
    if ENTAILMENT not in words:
        message = f"{task.name}: no label is called {ENTAILMENT}, so it cannot be told which of two it is"
        raise DataError([message])
    other = next(word for word in words if word != ENTAILMENT)
    return Classes(ENTAILMENT, other, other)
