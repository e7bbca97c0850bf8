"""Labels of training examples as what a model fits, and what it gives as answers."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric, Task
from gluebench.data import Example
from gluebench.scoring.metrics import point, task_score
from gluebench.scoring.pairs import Pairs
from gluebench.systems.run import column

Value = TypeVar("Value")


def labels(task: Task, examples: Sequence[Example]) -> list[str]:
    """The label words. Raises ValueError for an example without one."""
    values = [example.label for example in examples if isinstance(example.label, str)]
    return _expect_labels(task, examples, values)


def codes(task: Task, examples: Sequence[Example]) -> list[int]:
    """The positions of the labels among the task's words. Raises ValueError for an example without one."""
    return [task.words.index(word) for word in labels(task, examples)]


def numbers(task: Task, examples: Sequence[Example]) -> list[float]:
    """The scores of a regression task. Raises ValueError for an example without one."""
    values = [example.label for example in examples if isinstance(example.label, float)]
    return _expect_labels(task, examples, values)


def typical(task: Task, examples: Sequence[Example]) -> str | float:
    """The most frequent label (of those that tie, the manifest's first), or the mean score."""
    if task.labels:
        counts = Counter(labels(task, examples))
        return max(task.words, key=lambda word: counts[word])
    scores = numbers(task, examples)
    return sum(scores) / len(scores)


def answers(task: Task, scores: NDArray[np.float64]) -> list[str | float]:
    """The label of the highest score in each row (examples, classes), or the one score cut to the range."""
    if task.labels:
        return [task.words[code] for code in scores.argmax(axis=1)]
    low, high = task.score_range or (-math.inf, math.inf)
    return [float(score) for score in scores[:, 0].clip(low, high)]


def score(task: Task, examples: Sequence[Example], predicted: Sequence[str | float]) -> float:
    """The mean of the task's metrics, as fractions; of several test files, the examples are pooled.

    A task without metrics has accuracy, or Pearson's correlation.
    """
    return task_score([metric_value(task, metric, examples, predicted) for metric in metrics_of(task)])


def metric_value(
    task: Task, metric: Metric, examples: Sequence[Example], predicted: Sequence[str | float]
) -> float:
    """The value of one metric, as a fraction."""
    gold = column(task, labels(task, examples) if task.labels else numbers(task, examples))
    return point(metric, Pairs(gold, column(task, predicted))).value


def metrics_of(task: Task) -> list[Metric]:
    """The task's metrics, each function once; a task without any has accuracy, or Pearson's correlation."""
    standard = "accuracy" if task.labels else "pearson"
    metrics = task.metrics or (Metric(standard, standard, standard, task.name),)
    return list({metric.function: metric for metric in metrics}.values())


def _expect_labels(task: Task, examples: Sequence[Example], known: list[Value]) -> list[Value]:
    if len(known) != len(examples) or not known:
        raise ValueError(f"{task.name}: {len(examples)} training examples, {len(known)} of them with a label")
    return known
