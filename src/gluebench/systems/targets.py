"""Labels of training examples, as what a model fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from gluebench.benchmark import Task
from gluebench.data import Example

Value = TypeVar("Value")


def labels(task: Task, examples: Sequence[Example]) -> list[str]:
    """The label words. Raises ValueError for an example without one."""
    values = [example.label for example in examples if isinstance(example.label, str)]
    return _all(task, examples, values)


def numbers(task: Task, examples: Sequence[Example]) -> list[float]:
    """The scores of a regression task. Raises ValueError for an example without one."""
    values = [example.label for example in examples if isinstance(example.label, float)]
    return _all(task, examples, values)


def typical(task: Task, examples: Sequence[Example]) -> str | float:
    """The most frequent label (of those that tie, the manifest's first), or the mean score."""
    if task.labels:
        counts = Counter(labels(task, examples))
        return max(task.words, key=lambda word: counts[word])
    scores = numbers(task, examples)
    return sum(scores) / len(scores)


def _all(task: Task, examples: Sequence[Example], known: list[Value]) -> list[Value]:
    if len(known) != len(examples) or not known:
        raise ValueError(f"{task.name}: {len(examples)} training examples, {len(known)} of them with a label")
    return known
