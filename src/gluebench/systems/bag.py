"""Bags of words: linear models on which words and word pairs stand in the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.features import Extractor, Floats, last_only, learned, matrix, whole
from gluebench.systems.linear import fit_logistic, fit_ridge

PENALTIES = (1e-4, 1e-3, 1e-2)
"""Weights of the L2 penalty that are tried; the dev split chooses."""


class Model(NamedTuple):
    """The fitted model of one task."""

    known: dict[str, int]
    weights: Floats
    """Shape (features + 1, classes); one class for a regression task."""
    mean: float
    """What a regression task's weights add to."""


class BagOfWords:
    """Multinomial logistic regression, or ridge regression, on words and word pairs of both texts."""

    extract: Extractor = staticmethod(whole)

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Fit with each penalty, keep what predicts dev best (with no dev split: the middle one)."""
        penalties = PENALTIES if dev else PENALTIES[1:2]
        models = self._fitted(task, train, penalties=penalties)
        self._models[task.name] = max(models, key=lambda model: self._quality(task, dev, model))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the fitted score cut to the task's range."""
        return self._predicted(task, examples, self._models[task.name])

    def parameters(self) -> int:
        """The weights of all tasks."""
        return sum(model.weights.size for model in self._models.values())

    def _fitted(self, task: Task, train: Sequence[Example], *, penalties: Sequence[float]) -> list[Model]:
        """One model for each penalty."""
        known, rows = learned(self.extract, train)
        if task.labels:
            codes = [task.words.index(word) for word in targets.labels(task, train)]
            fitted = fit_logistic(rows, codes, len(task.words), penalties=penalties)
            return [Model(known, weights, 0.0) for weights in fitted]
        scores = targets.numbers(task, train)
        mean = sum(scores) / len(scores)
        fitted = fit_ridge(rows, [score - mean for score in scores], penalties=penalties)
        return [Model(known, weights, mean) for weights in fitted]

    def _predicted(self, task: Task, examples: Sequence[Example], model: Model) -> list[str | float]:
        scores = matrix(self.extract, examples, model.known) @ model.weights
        if task.labels:
            return [task.words[code] for code in scores.argmax(axis=1)]
        low, high = task.score_range or (-np.inf, np.inf)
        return [float(value) for value in np.clip(scores[:, 0] + model.mean, low, high)]

    def _quality(self, task: Task, dev: Sequence[Example], model: Model) -> float:
        """Share of right labels, or minus the mean squared error."""
        if not dev:
            return 0.0
        predicted = self._predicted(task, dev, model)
        if task.labels:
            return sum(word == example.label for word, example in zip(predicted, dev, strict=True)) / len(dev)
        expected = targets.numbers(task, dev)
        return -sum(
            (float(value) - score) ** 2 for value, score in zip(predicted, expected, strict=True)
        ) / len(dev)


class HypothesisOnly(BagOfWords):
    """The bag of words of the last text alone: what it scores above chance is an artefact of the data.

    A task of single sentences has one text only, and is answered as by the whole bag of words.
    """

    extract: Extractor = staticmethod(last_only)
