"""What a classifier of the audit sees of a pair: one text alone, its length, or the share of common words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluebench.analysis.audit.ngrams import EPOCHS, NGrams
from gluebench.analysis.audit.sets import PairSet
from gluebench.benchmark import Task
from gluebench.benchmark.lookup import find
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.overlap import WordOverlap
from gluebench.systems.protocols import SimpleSystem


class View(NamedTuple):
    """A part of a pair, and the system that learns from it."""

    name: str
    positions: tuple[int, ...]
    """The texts it sees: 0 for the first, 1 for the second."""
    make: Callable[[], SimpleSystem]
    aliases: tuple[str, ...] = ()


class TextAlone:
    """Words and word pairs of one text of each example."""

    def __init__(self, *, epochs: int = EPOCHS, seed: int = 0) -> None:
        self._model = NGrams(epochs=epochs, seed=seed)

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn which words go with which label; no setting is chosen on dev."""
        codes = {word: code for code, word in enumerate(task.words)}
        labels = targets.labels(task, train)
        self._model.fit(_texts(train), [codes[label] for label in labels], len(task.words))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label."""
        return [task.words[code] for code in self._model.predict(_texts(examples))]

    def parameters(self) -> int:
        """The numbers that are learnt."""
        return self._model.parameters()


def _texts(examples: Sequence[Example]) -> list[str]:
    return [next(iter(example.inputs.values())) for example in examples]


def views(task: Task, names: Sequence[str] = (), *, epochs: int = EPOCHS, seed: int = 0) -> list[View]:
    """The views of those names, or all: each of a task's two columns, "length" (of the second), "overlap".

    Raises UnknownNameError.
    """
    first, second = task.columns

    def alone() -> SimpleSystem:
        return TextAlone(epochs=epochs, seed=seed)

    known = (
        View(second, (1,), alone),
        View(first, (0,), alone),
        View("length", (1,), WordOverlap),
        View("overlap", (0, 1), WordOverlap),
    )
    if not names:
        return list(known)
    return list(dict.fromkeys(find(name, known, what=f"part of {task.name} to see") for name in names))


def seen(pairs: PairSet, view: View, task: Task) -> list[Example]:
    """The pairs with no more than the view lets through, under the column names of the task learnt from."""
    names = [task.columns[position] for position in view.positions]
    columns = [pairs.texts(position) for position in view.positions]
    return [
        Example(example.index, dict(zip(names, texts, strict=True)), example.label)
        for example, texts in zip(pairs.examples, zip(*columns, strict=True), strict=True)
    ]
