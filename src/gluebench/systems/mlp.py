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
"""How many of the most frequent words keep their own name where both texts have them."""
REACH = 3
"""How far from a shared word its neighbours count."""


class Aligner:
    """Extracts features; knows the words that are too frequent in training to point to the other text."""

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
        """The names of an example's features, each once."""
        texts = [tokens(text) for text in example.inputs.values()]
        if len(texts) == 1:
            yield from dict.fromkeys(_sequence("", texts[0]))
            return
        first, second = texts[:2]
        yield from dict.fromkeys(self._pair(first, second))
        shared = overlap(*list(example.inputs.values())[:2])
        yield from (f"overlap {step}" for step in range(int(20 * shared) + 1))
        rare = {stem(word) for word in first if word not in self._frequent}
        common = len(rare & {stem(word) for word in second})
        yield from (f"common {step}" for step in range(common + 1))

    def _pair(self, first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
        """Words of both, and each text with pointers in the place of the words that it shares."""
        yield from (f"{side} {word}" for side, text in (("1", first), ("2", second)) for word in text)
        for side, text, other in (("1", first, second), ("2", second, first)):
            pointed = self._pointed(text, other)
            yield from _grams(side, pointed)
            if side == "1":
                yield from _windows(pointed)

    def _pointed(self, text: Sequence[str], other: Sequence[str]) -> list[str]:
        """The text with @1 for the first of the other text's rarer words that it has, and so on."""
        stems = {stem(word) for word in text if word not in self._frequent}
        pointers: dict[str, str] = {}
        for word in other:
            if stem(word) in stems and stem(word) not in pointers:
                pointers[stem(word)] = f"@{len(pointers) + 1}"
        return [word if word in self._frequent else pointers.get(stem(word), word) for word in text]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The word without the ending of a plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "shes", "ches")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _grams(side: str, text: Sequence[str]) -> Iterator[str]:
    edged = ["^", *text, "$"]
    yield from (f"{side} {one} {two}" for one, two in pairwise(edged))
    yield from (f"{side} {' '.join(edged[at : at + 3])}" for at in range(len(edged) - 2))


def _windows(text: Sequence[str]) -> Iterator[str]:
    """What stands before and after each pointer, and in what order the pointers come."""
    for place, word in enumerate(text):
        if word.startswith("@"):
            yield from (f"{before} < {word}" for before in text[max(0, place - REACH) : place])
            yield from (f"{word} < {after}" for after in text[place + 1 : place + 1 + REACH])
    pointers = [word for word in text if word.startswith("@")]
    yield from (f"{one} << {two}" for one, two in pairwise(pointers))


def _sequence(side: str, text: Sequence[str]) -> Iterator[str]:
    """Words, runs of up to three, pairs with a gap, and the words and endings at either end."""
    yield from text
    yield from _grams(side, text)
    yield from (f"{one} _ {two}" for one, two in zip(text, text[2:], strict=False))
    for place in range(min(3, len(text))):
        yield f"start {place} {text[place]}"
        yield f"start {place} -{text[place][-1]}"
        yield f"end {place} {text[-1 - place]}"


WIDTH = 2000
"""So many features at most, those of the most training examples."""
HIDDEN = 24
BATCH = 64
EPOCHS, STEPS = 25, 450
"""At most so many passes over the training split and so many steps, whichever is less."""
RATE, DECAY = 0.1, 0.1
START = 0.3
CHECKS = 10
"""How often dev is predicted; the weights that were best on it stay."""
SEED = 7


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
        return Places([self.columns[row] for row in chosen], self.values[chosen])

    def times(self, weights: Floats) -> Floats:
        """Product with weights of shape (features, hidden): (examples, hidden).

        Row by row: rows are so short that this beats a dense product, and no build of BLAS changes a digit.
        """
        sums = [weights[columns].sum(axis=0) for columns in self.columns]
        return np.array(sums).reshape(-1, weights.shape[1]) * self.values[:, None]

    def transposed_times(self, errors: Floats, width: int) -> Floats:
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
    """What a regression task's scores add to."""


class Perceptron:
    """A multilayer perceptron with one hidden layer, trained by Adam, stopped by the dev split."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train from fixed random weights; of those seen on the way, keep what predicts dev best."""
        mean = 0.0 if task.labels else float(np.mean(targets.numbers(task, train)))
        expected = _targets(task, train, mean)
        extract = Aligner(train)
        known, places = _learnt(extract, train)
        dev_places = _places(extract, dev, known)
        best, quality = None, -np.inf
        for weights in _trained(places, expected, max(1, len(known))):
            score = _quality(_scores(dev_places, weights), _targets(task, dev, mean)) if dev else quality
            if best is None or score >= quality:
                best, quality = weights, score
        assert best is not None  # at least one step is made
        self._models[task.name] = Model(extract, known, best, mean)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label, or the score cut to the task's range."""
        extract, known, weights, mean = self._models[task.name]
        return targets.answers(task, _scores(_places(extract, examples, known), weights) + mean)

    def parameters(self) -> int:
        """The weights of all tasks."""
        return sum(part.size for model in self._models.values() for part in model.weights)


def _targets(task: Task, examples: Sequence[Example], mean: float) -> Floats:
    """Rows of 0 and a 1 for the label, or the score relative to the mean."""
    if not examples:
        return np.zeros((0, max(1, len(task.words))))
    if task.labels:
        return np.eye(len(task.words))[[task.words.index(word) for word in targets.labels(task, examples)]]
    return np.array(targets.numbers(task, examples))[:, None] - mean


def _learnt(extract: Aligner, train: Sequence[Example]) -> tuple[dict[str, int], Places]:
    """The features that most training examples have, two at least, as columns, and where they are."""
    met: dict[str, int] = {}
    rows = [np.array([met.setdefault(name, len(met)) for name in extract(item)], np.intp) for item in train]
    counts = np.bincount(np.concatenate(rows), minlength=len(met))
    chosen = np.argsort(-counts, kind="stable")[:WIDTH]
    chosen = chosen[counts[chosen] > 1]
    column = np.full(len(met), -1)
    column[chosen] = np.arange(len(chosen))
    names = list(met)
    kept = [column[row] for row in rows]
    return {names[at]: place for place, at in enumerate(chosen)}, _joined([row[row >= 0] for row in kept])


def _places(extract: Aligner, examples: Sequence[Example], known: dict[str, int]) -> Places:
    rows = [[known[name] for name in extract(example) if name in known] for example in examples]
    return _joined([np.array(row, np.intp) for row in rows])


def _joined(columns: list[Integers]) -> Places:
    return Places(columns, np.array([max(1, len(row)) for row in columns], dtype=float) ** -0.5)


def _trained(places: Places, expected: Floats, width: int) -> Iterator[Weights]:
    """The weights at several times of the training, the last ones included."""
    random = np.random.default_rng(SEED)
    count, classes = expected.shape
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
        gradients = _gradients(weights, places.of(chosen), expected[chosen])
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


def _gradients(weights: Weights, rows: Places, expected: Floats) -> Weights:
    """Of the mean cross-entropy, or of half the mean squared error."""
    inner = np.tanh(rows.times(weights.hidden) + weights.bias)
    scores = inner @ weights.out + weights.shift
    wrong = ((softmax(scores) if expected.shape[1] > 1 else scores) - expected) / len(expected)
    back = (wrong @ weights.out.T) * (1 - inner * inner)
    hidden = rows.transposed_times(back, len(weights.hidden))
    return Weights(hidden, back.sum(axis=0), inner.T @ wrong, wrong.sum(axis=0))


def _scores(places: Places, weights: Weights) -> Floats:
    """Shape (examples, classes)."""
    return np.tanh(places.times(weights.hidden) + weights.bias) @ weights.out + weights.shift


def _quality(scores: Floats, expected: Floats) -> float:
    """Minus the mean cross-entropy, or minus the mean squared error."""
    if expected.shape[1] == 1:
        return -float(np.mean((scores - expected) ** 2))
    return float(np.mean(np.log(np.maximum(softmax(scores)[expected > 0], 1e-12))))
