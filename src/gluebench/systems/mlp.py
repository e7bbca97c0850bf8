"""A small neural network: one hidden layer on the words, their order and how the two texts align."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.aligned import Aligner
from gluebench.systems.features import Floats
from gluebench.systems.linear import softmax

WIDTH = 2000
"""So many features at most, those of the most training examples."""
HIDDEN = 24
BATCH = 64
EPOCHS, STEPS = 25, 450
"""At most so many passes over the training split and so many steps, whichever is less."""
RATE, DECAY = 0.1, 0.1
START = 0.3
CHECKS = 10
"""How often the dev split is asked; the weights that were best on it stay."""
SEED = 7
Integers = npt.NDArray[np.intp]


class Weights(NamedTuple):
    """The parameters of the network."""

    hidden: Floats
    """Shape (features, hidden)."""
    bias: Floats
    out: Floats
    """Shape (hidden, classes); one class for a regression task."""
    shift: Floats


class Places(NamedTuple):
    """Which features each example has, and the value that makes the example's length 1."""

    columns: list[Integers]
    values: Floats

    def of(self, chosen: Integers) -> Places:
        """Those of some examples."""
        return Places([self.columns[each] for each in chosen], self.values[chosen])

    def times(self, weights: Floats) -> Floats:
        """Product with weights of shape (features, hidden): (examples, hidden).

        Row by row: rows are so short that this beats a dense product, and no build of BLAS changes a digit.
        """
        sums = [weights[each].sum(axis=0) for each in self.columns]
        return np.array(sums).reshape(-1, weights.shape[1]) * self.values[:, None]

    def transposed_times(self, errors: Floats, width: int) -> Floats:
        """Product of the transposed matrix with errors of shape (examples, hidden): (features, hidden)."""
        sums = np.zeros((width, errors.shape[1]))
        for each, error in zip(self.columns, errors * self.values[:, None], strict=True):
            sums[each] += error
        return sums


class Model(NamedTuple):
    """The fitted model of one task."""

    extract: Aligner
    known: dict[str, int]
    weights: Weights
    mean: float
    """What a regression task's scores add to."""


class Perceptron:
    """A multilayer perceptron with one hidden layer, trained by Adam, stopped by the dev split."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train from fixed random weights; of those seen on the way, keep what predicts dev best."""
        mean = 0.0 if task.labels else float(np.mean(targets.numbers(task, train)))
        wanted = _wanted(task, train, mean)
        extract = Aligner(train)
        known, places = _learnt(extract, train)
        dev_places = _places(extract, dev, known)
        best, quality = None, -np.inf
        for weights in _trained(places, wanted, max(1, len(known))):
            found = _quality(_scores(dev_places, weights), _wanted(task, dev, mean)) if dev else quality
            if best is None or found >= quality:
                best, quality = weights, found
        assert best is not None  # at least one step is made
        self._models[task.name] = Model(extract, known, best, mean)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the score cut to the task's range."""
        extract, known, weights, mean = self._models[task.name]
        scores = _scores(_places(extract, examples, known), weights)
        if task.labels:
            return [task.words[code] for code in scores.argmax(axis=1)]
        low, high = task.score_range or (-np.inf, np.inf)
        return [float(value) for value in np.clip(scores[:, 0] + mean, low, high)]

    def parameters(self) -> int:
        """The weights of all tasks."""
        return sum(part.size for model in self._models.values() for part in model.weights)


def _wanted(task: Task, examples: Sequence[Example], mean: float) -> Floats:
    """Rows of 0 and a 1 for the label, or the score relative to the mean."""
    if not examples:
        return np.zeros((0, max(1, len(task.words))))
    if task.labels:
        return np.eye(len(task.words))[[task.words.index(word) for word in targets.labels(task, examples)]]
    return np.array(targets.numbers(task, examples))[:, None] - mean


def _learnt(extract: Aligner, train: Sequence[Example]) -> tuple[dict[str, int], Places]:
    """The features that most training examples have, two at least, as columns, and where they are."""
    met: dict[str, int] = {}
    found = [np.array([met.setdefault(name, len(met)) for name in extract(each)], np.intp) for each in train]
    counts = np.bincount(np.concatenate(found), minlength=len(met))
    chosen = np.argsort(-counts, kind="stable")[:WIDTH]
    chosen = chosen[counts[chosen] > 1]
    column = np.full(len(met), -1)
    column[chosen] = np.arange(len(chosen))
    names = list(met)
    kept = [column[each] for each in found]
    return {names[at]: place for place, at in enumerate(chosen)}, _joined([each[each >= 0] for each in kept])


def _places(extract: Aligner, examples: Sequence[Example], known: dict[str, int]) -> Places:
    found = [[known[name] for name in extract(example) if name in known] for example in examples]
    return _joined([np.array(each, np.intp) for each in found])


def _joined(found: list[Integers]) -> Places:
    return Places(found, np.array([max(1, len(each)) for each in found], dtype=float) ** -0.5)


def _trained(places: Places, wanted: Floats, width: int) -> Iterator[Weights]:
    """The weights at several times of the training, the last ones included."""
    random = np.random.default_rng(SEED)
    count, classes = wanted.shape
    weights = Weights(
        random.normal(scale=START, size=(width, HIDDEN)),
        np.zeros(HIDDEN),
        random.normal(scale=HIDDEN**-0.5, size=(HIDDEN, classes)),
        np.zeros(classes),
    )
    first = tuple(np.zeros_like(part) for part in weights)
    second = tuple(np.zeros_like(part) for part in weights)
    steps = min(STEPS, EPOCHS * -(-count // BATCH))
    for step, chosen in enumerate(_batches(random, count, steps), 1):
        gradients = _gradients(weights, places.of(chosen), wanted[chosen])
        rate = RATE * (1 - (step - 1) / steps)
        for part, gradient, one, two in zip(weights, gradients, first, second, strict=True):
            one += 0.1 * (gradient - one)
            two += 0.01 * (gradient * gradient - two)
            moved = (one / (1 - 0.9**step)) / (np.sqrt(two / (1 - 0.99**step)) + 1e-8)
            part -= rate * (moved + DECAY * part)
        if step % -(-steps // CHECKS) == 0 or step == steps:
            yield Weights(*(part.copy() for part in weights))


def _batches(random: np.random.Generator, count: int, steps: int) -> Iterator[Integers]:
    order = np.zeros(0, dtype=np.intp)
    for _ in range(steps):
        if len(order) < min(BATCH, count):
            order = np.concatenate([order, random.permutation(count)])
        yield order[:BATCH]
        order = order[BATCH:]


def _gradients(weights: Weights, rows: Places, wanted: Floats) -> Weights:
    """Of the mean cross-entropy, or of half the mean squared error."""
    inner = np.tanh(rows.times(weights.hidden) + weights.bias)
    scores = inner @ weights.out + weights.shift
    wrong = ((softmax(scores) if wanted.shape[1] > 1 else scores) - wanted) / len(wanted)
    back = (wrong @ weights.out.T) * (1 - inner * inner)
    hidden = rows.transposed_times(back, len(weights.hidden))
    return Weights(hidden, back.sum(axis=0), inner.T @ wrong, wrong.sum(axis=0))


def _scores(places: Places, weights: Weights) -> Floats:
    """Shape (examples, classes)."""
    return np.tanh(places.times(weights.hidden) + weights.bias) @ weights.out + weights.shift


def _quality(scores: Floats, wanted: Floats) -> float:
    """Minus the mean cross-entropy, or minus the mean squared error."""
    if wanted.shape[1] == 1:
        return -float(np.mean((scores - wanted) ** 2))
    return float(np.mean(np.log(np.maximum(softmax(scores)[wanted > 0], 1e-12))))
