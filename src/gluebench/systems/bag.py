"""Bags of words: linear models on the words and word pairs of the texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.tokens import tokens
from gluebench.systems import targets
from gluebench.systems.linear import Floats, Sparse, fit_logistic, fit_ridge

Extractor = Callable[[Example], Iterator[str]]
"""Yields the names of an example's features, without duplicates."""
FEWEST = 2
"""Minimum number of training examples that a feature must be in."""
PENALTIES = (1e-4, 1e-3, 1e-2)
"""Weights of the L2 penalty that are tried; the best on the dev split is used."""


def whole(example: Example) -> Iterator[str]:
    """Yield words and word pairs of one text, or of two: in each, in both, and in only one."""
    texts = list(example.inputs.values())
    if len(texts) == 1:
        yield from _grams(texts[0])
        return
    first, second = (dict.fromkeys(_grams(text)) for text in texts[:2])
    for gram in first:
        yield f"1 {gram}"
        yield f"{'both' if gram in second else 'only 1'} {gram}"
    for gram in second:
        yield f"2 {gram}"
        if gram not in first:
            yield f"only 2 {gram}"
    shared = sum(gram in second for gram in first)
    yield f"overlap {10 * shared // max(1, len(first | second))}"


def last_only(example: Example) -> Iterator[str]:
    """Yield words and word pairs of the last text alone: the hypothesis, second sentence or question."""
    yield from dict.fromkeys(_grams(list(example.inputs.values())[-1]))


def _grams(text: str) -> Iterator[str]:
    words = tokens(text)
    yield from dict.fromkeys(words)
    bigrams = [f"{one} {two}" for one, two in pairwise(["^", *words])]
    yield from dict.fromkeys(bigrams)


def vocabulary(features: Sequence[Sequence[str]]) -> dict[str, int]:
    """Map every feature that enough of the examples have to a column; column 0 is the constant."""
    counts = Counter(chain.from_iterable(features))
    kept = [name for name, count in counts.items() if count >= FEWEST]
    return {name: column for column, name in enumerate(kept, 1)}


def matrix(features: Iterable[Iterable[str]], known: Mapping[str, int]) -> Sparse:
    """Return the known features of each example, as rows of Euclidean length 1."""
    columns: list[int] = []
    starts = [0]
    for names in features:
        columns.append(0)
        columns += [known[name] for name in names if name in known]
        starts.append(len(columns))
    bounds = np.array(starts, dtype=np.intp)
    return Sparse(bounds, np.array(columns, dtype=np.intp), np.diff(bounds) ** -0.5, len(known) + 1)


class Model(NamedTuple):
    """The fitted model of one task."""

    known: dict[str, int]
    weights: Floats
    """Shape (features + 1, classes); one class for a regression task."""
    mean: float
    """Mean training score of a regression task, added to the products; 0 for a task of labels."""


class BagOfWords:
    """Multinomial logistic regression, or ridge regression, on words and word pairs of both texts."""

    extract: Extractor = staticmethod(whole)

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Fit with each penalty, keep the model that predicts dev best (without dev, the middle penalty)."""
        penalties = PENALTIES if dev else PENALTIES[1:2]
        models = self._fit(task, train, penalties=penalties)
        self._models[task.name] = max(models, key=lambda model: self._quality(task, dev, model))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """Return the most probable label, or the fitted score clipped to the task's range."""
        return self._predict(task, examples, self._models[task.name])

    def parameters(self) -> int:
        """Count the weights of all tasks' models."""
        return sum(model.weights.size for model in self._models.values())

    def _fit(self, task: Task, train: Sequence[Example], *, penalties: Sequence[float]) -> list[Model]:
        """Fit one model for each penalty."""
        features = [list(self.extract(example)) for example in train]
        known = vocabulary(features)
        rows = matrix(features, known)
        if task.labels:
            fitted = fit_logistic(rows, targets.codes(task, train), len(task.words), penalties=penalties)
            return [Model(known, weights, 0.0) for weights in fitted]
        scores = targets.numbers(task, train)
        mean = sum(scores) / len(scores)
        fitted = fit_ridge(rows, [score - mean for score in scores], penalties=penalties)
        return [Model(known, weights, mean) for weights in fitted]

    def _predict(self, task: Task, examples: Sequence[Example], model: Model) -> list[str | float]:
        scores = matrix(map(self.extract, examples), model.known) @ model.weights
        return targets.answers(task, scores + model.mean)

    def _quality(self, task: Task, dev: Sequence[Example], model: Model) -> float:
        """Return the accuracy, or minus the mean squared error."""
        if not dev:
            return 0.0
        predicted = self._predict(task, dev, model)
        if task.labels:
            return sum(word == example.label for word, example in zip(predicted, dev, strict=True)) / len(dev)
        expected = targets.numbers(task, dev)
        errors = [float(value) - score for value, score in zip(predicted, expected, strict=True)]
        return -sum(error**2 for error in errors) / len(dev)


class HypothesisOnly(BagOfWords):
    """The bag of words of the last text alone; a score above chance shows an artifact of the data.

    A task of single sentences has one text only and uses the whole bag of words.
    """

    extract: Extractor = staticmethod(last_only)
