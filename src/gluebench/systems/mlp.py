"""A small neural network: one hidden layer on the words, their order and how the two texts align."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.tokens import overlap, tokens
from gluebench.systems import targets
from gluebench.systems.linear import Floats, Integers, softmax

FUNCTION_WORDS = 120
"""Number of most frequent words that are never replaced by pointers."""
REACH = 3
"""Words on each side of a pointer that form a feature with it."""


class Aligner:
    """Feature extractor; the words most frequent in training are never replaced by pointers."""

    def __init__(self, train: Sequence[Example]) -> None:
        counts: Counter[str] = Counter()
        names: set[str] = set()
        for example in train:
            for text in example.inputs.values():
                counts.update(set(tokens(text)))
                names.update(word.lower() for word in text.split()[1:] if word[:1].isupper())
        frequent = [word for word, _ in counts.most_common() if word not in names]
        self._frequent = frozenset(frequent[:FUNCTION_WORDS])

    def __call__(self, example: Example) -> Iterator[str]:
        """Yield the names of an example's features, without duplicates."""
        inputs = list(example.inputs.values())
        texts = [tokens(text) for text in inputs]
        if len(texts) == 1:
            yield from dict.fromkeys(_sequence("", texts[0]))
            return
        first, second = texts[:2]
        yield from dict.fromkeys(self._pair(first, second))
        # A feature for each step up to the value, so that more overlap has all features of less.
        shared = overlap(inputs[0], inputs[1])
        for step in range(int(20 * shared) + 1):
            yield f"overlap {step}"
        rare = {stem(word) for word in first if word not in self._frequent}
        common = rare.intersection(map(stem, second))
        for step in range(len(common) + 1):
            yield f"common {step}"

    def _pair(self, first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
        """Yield words of both texts, and n-grams of each text with pointers in place of shared words."""
        for word in first:
            yield f"1 {word}"
        for word in second:
            yield f"2 {word}"
        pointed = self._with_pointers(first, second)
        yield from _ngrams("1", pointed)
        yield from _windows(pointed)
        yield from _ngrams("2", self._with_pointers(second, first))

    def _with_pointers(self, text: Sequence[str], other: Sequence[str]) -> list[str]:
        """Replace shared rare words by @1, @2, … in the order in which the other text has them."""
        stems = {stem(word) for word in text if word not in self._frequent}
        pointers: dict[str, str] = {}
        for word in other:
            if stem(word) in stems and stem(word) not in pointers:
                pointers[stem(word)] = f"@{len(pointers) + 1}"
        return [word if word in self._frequent else pointers.get(stem(word), word) for word in text]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the word without a plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "shes", "ches")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _ngrams(side: str, text: Sequence[str]) -> Iterator[str]:
    padded = ["^", *text, "$"]
    for one, two in pairwise(padded):
        yield f"{side} {one} {two}"
    for at in range(len(padded) - 2):
        yield f"{side} {' '.join(padded[at : at + 3])}"


def _windows(text: Sequence[str]) -> Iterator[str]:
    """Yield the neighbors of each pointer, and each two successive pointers."""
    pointers = []
    for place, word in enumerate(text):
        if word.startswith("@"):
            pointers.append(word)
            for before in text[max(0, place - REACH) : place]:
                yield f"{before} < {word}"
            for after in text[place + 1 : place + 1 + REACH]:
                yield f"{word} < {after}"
    for one, two in pairwise(pointers):
        yield f"{one} << {two}"


def _sequence(side: str, text: Sequence[str]) -> Iterator[str]:
    """Yield words, n-grams up to three, pairs with a gap, and the first and last words and letters."""
    yield from text
    yield from _ngrams(side, text)
    for one, two in zip(text, text[2:], strict=False):
        yield f"{one} _ {two}"
    for place in range(min(3, len(text))):
        yield f"start {place} {text[place]}"
        yield f"start {place} -{text[place][-1]}"
        yield f"end {place} {text[-1 - place]}"


WIDTH = 2000
"""Maximum number of features; those in the most training examples are kept."""
HIDDEN = 24
BATCH = 64
EPOCHS = 25
STEPS = 450
"""Maximum passes over the training split and maximum steps; the smaller limit applies."""
RATE = 0.1
DECAY = 0.1
START = 0.3
CHECKS = 10
"""Number of times dev is predicted; the weights that were best on it are kept."""
SEED = 7


class Weights(NamedTuple):
    """The parameters of the network."""

    hidden: Floats
    """Shape (features, hidden)."""
    bias: Floats
    out: Floats
    """Shape (hidden, classes); one class for a regression task."""
    shift: Floats


class SparseBinaryMatrix(NamedTuple):
    """A sparse binary matrix of examples by features, each row scaled to length 1."""

    columns: list[Integers]
    values: Floats

    def of(self, chosen: Integers) -> SparseBinaryMatrix:
        """Select some examples."""
        return SparseBinaryMatrix([self.columns[row] for row in chosen], self.values[chosen])

    def times(self, weights: Floats) -> Floats:
        """Product with weights of shape (features, hidden): (examples, hidden).

        Row by row: rows are so short that this beats a dense product, and no build of BLAS changes a digit.
        """
        sums = [weights[columns].sum(axis=0) for columns in self.columns]
        return np.array(sums).reshape(-1, weights.shape[1]) * self.values[:, None]

    def multiply_transposed(self, errors: Floats, width: int) -> Floats:
        """Product of the transposed matrix with errors of shape (examples, hidden): (features, hidden)."""
        sums = np.zeros((width, errors.shape[1]))
        for columns, error in zip(self.columns, errors * self.values[:, None], strict=True):
            sums[columns] += error
        return sums


class Model(NamedTuple):
    """The fitted model of one task."""

    extract: Aligner
    known: dict[str, int]
    weights: Weights
    mean: float
    """Mean training score of a regression task, added to the outputs; 0 for a task of labels."""


class Perceptron:
    """A multilayer perceptron with one hidden layer, trained by Adam, stopped by the dev split."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train from fixed random weights; keep those that predict dev best among the checks."""
        mean = 0.0 if task.labels else float(np.mean(targets.numbers(task, train)))
        expected = _targets(task, train, mean)
        extract = Aligner(train)
        known, places = _select_features(extract, train)
        dev_places = _matrix(extract, dev, known)
        best = None
        quality = -np.inf
        for weights in _train(places, expected, max(1, len(known))):
            score = quality  # without dev examples the last weights are the best
            if dev:
                score = _quality(_scores(dev_places, weights), _targets(task, dev, mean))
            if best is None or score >= quality:
                best = weights
                quality = score
        assert best is not None  # at least one step is made
        self._models[task.name] = Model(extract, known, best, mean)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the score cut to the task's range."""
        extract, known, weights, mean = self._models[task.name]
        return targets.answers(task, _scores(_matrix(extract, examples, known), weights) + mean)

    def parameters(self) -> int:
        """Count the weights of all tasks' models."""
        return sum(sum(part.size for part in model.weights) for model in self._models.values())


def _targets(task: Task, examples: Sequence[Example], mean: float) -> Floats:
    """Rows of 0 and a 1 for the label, or the score relative to the mean."""
    if not examples:
        return np.zeros((0, max(1, len(task.words))))
    if task.labels:
        return np.eye(len(task.words))[targets.codes(task, examples)]
    return np.array(targets.numbers(task, examples))[:, None] - mean


def _select_features(extract: Aligner, train: Sequence[Example]) -> tuple[dict[str, int], SparseBinaryMatrix]:
    """Select the features that most training examples have, at least two; return columns and matrix."""
    ids: dict[str, int] = {}
    rows = []
    for example in train:
        of_example = [ids.setdefault(name, len(ids)) for name in extract(example)]
        rows.append(np.array(of_example, np.intp))
    counts = np.bincount(np.concatenate(rows), minlength=len(ids))
    chosen = np.argsort(-counts, kind="stable")[:WIDTH]
    chosen = chosen[counts[chosen] > 1]
    column_of = np.full(len(ids), -1)
    column_of[chosen] = np.arange(len(chosen))
    names = list(ids)
    known = {names[at]: place for place, at in enumerate(chosen)}
    columns = []
    for row in rows:
        places = column_of[row]
        columns.append(places[places >= 0])
    return known, _scale_rows(columns)


def _matrix(extract: Aligner, examples: Sequence[Example], known: dict[str, int]) -> SparseBinaryMatrix:
    rows = []
    for example in examples:
        columns = [known[name] for name in extract(example) if name in known]
        rows.append(np.array(columns, np.intp))
    return _scale_rows(rows)


def _scale_rows(columns: list[Integers]) -> SparseBinaryMatrix:
    sizes = np.array([max(1, len(row)) for row in columns], dtype=float)
    return SparseBinaryMatrix(columns, sizes**-0.5)


def _train(places: SparseBinaryMatrix, expected: Floats, width: int) -> Iterator[Weights]:
    """Train by Adam; yield the weights at each check, the last step included."""
    random = np.random.default_rng(SEED)
    count, classes = expected.shape
    weights = Weights(
        random.normal(scale=START, size=(width, HIDDEN)),
        np.zeros(HIDDEN),
        random.normal(scale=HIDDEN**-0.5, size=(HIDDEN, classes)),
        np.zeros(classes),
    )
    means = tuple(np.zeros_like(part) for part in weights)
    squares = tuple(np.zeros_like(part) for part in weights)
    steps = min(STEPS, EPOCHS * -(-count // BATCH))
    for step, chosen in enumerate(_batches(random, count, steps), 1):
        gradients = _gradients(weights, places.of(chosen), expected[chosen])
        rate = RATE * (1 - (step - 1) / steps)
        for part, gradient, mean, square in zip(weights, gradients, means, squares, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient * gradient - square)
            update = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
            part -= rate * (update + DECAY * part)
        if step % -(-steps // CHECKS) == 0 or step == steps:
            yield Weights(*map(np.copy, weights))


def _batches(random: np.random.Generator, count: int, steps: int) -> Iterator[Integers]:
    order = np.zeros(0, dtype=np.intp)
    for _ in range(steps):
        if len(order) < min(BATCH, count):
            order = np.concatenate([order, random.permutation(count)])
        yield order[:BATCH]
        order = order[BATCH:]


def _gradients(weights: Weights, rows: SparseBinaryMatrix, expected: Floats) -> Weights:
    """Return the gradients of the mean cross-entropy, or of half the mean squared error."""
    inner = np.tanh(rows.times(weights.hidden) + weights.bias)
    scores = inner @ weights.out + weights.shift
    predicted = softmax(scores) if expected.shape[1] > 1 else scores
    wrong = (predicted - expected) / len(expected)
    back = (wrong @ weights.out.T) * (1 - inner * inner)
    hidden = rows.multiply_transposed(back, len(weights.hidden))
    return Weights(hidden, back.sum(axis=0), inner.T @ wrong, wrong.sum(axis=0))


def _scores(places: SparseBinaryMatrix, weights: Weights) -> Floats:
    """Return the network's outputs (examples, classes)."""
    return np.tanh(places.times(weights.hidden) + weights.bias) @ weights.out + weights.shift


def _quality(scores: Floats, expected: Floats) -> float:
    """Return minus the mean cross-entropy, or minus the mean squared error."""
    if expected.shape[1] == 1:
        return -float(np.mean((scores - expected) ** 2))
    return float(np.mean(np.log(np.maximum(softmax(scores)[expected > 0], 1e-12))))
