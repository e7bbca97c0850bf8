"""Shallow classifiers of text pairs: n-grams, nearest neighbors, and boosted trees on both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from sys import intern

import numpy as np

from gluebench.analysis.audit.learners import Ints, NGrams, Trees
from gluebench.analysis.lint.shortcuts import drawn
from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.tokens import words
from gluebench.systems import targets
from gluebench.systems.bag import Extractor, learned, matrix, whole
from gluebench.systems.linear import Floats, fit_logistic

NEIGHBORS = (1, 5, 15, 40)
"""Numbers of neighbors to choose from, ascending."""
TINY = 1e-9
FOLDS = 3
"""Folds of the training set; a stacked classifier predicts each fold after learning from the others."""
PENALTY = 1e-3
NEGATIONS = frozenset(
    ["cannot", "hardly", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without"]
)
QUANTIFIERS = frozenset(
    ["all", "any", "both", "each", "every", "few", "half", "less", "many", "more", "most", "only", "some"]
)


class Attacker(ABC):
    """A classifier that scores each label of a task."""

    limited = True
    """Whether it learns from a random sample of a large training set."""

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn which examples go with which label; no setting is chosen on dev."""
        train = drawn(train) if self.limited else train
        codes = {word: code for code, word in enumerate(task.words)}
        self.learn(train, [codes[label] for label in targets.labels(task, train)], len(task.words))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The label of the highest score, the first among ties."""
        return [task.words[code] for code in self.scores(examples).argmax(axis=1)]

    @abstractmethod
    def learn(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> None:
        """Learn from examples and their classes, numbered from 0."""

    @abstractmethod
    def scores(self, examples: Sequence[Example]) -> Floats:
        """Higher for a more probable class, shape (examples, classes)."""


class TextAlone(Attacker):
    """Words and word pairs of one text of each example."""

    limited = False

    def __init__(self, place: int, *, epochs: int, seed: int) -> None:
        self._place = place
        self._model = NGrams(epochs=epochs, seed=seed)

    def learn(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> None:
        """Fit softmax regression."""
        self._model.fit(self._texts(examples), codes, classes)

    def scores(self, examples: Sequence[Example]) -> Floats:
        """Logits."""
        return self._model.scores(self._texts(examples)).T

    def _texts(self, examples: Sequence[Example]) -> list[str]:
        return [list(example.inputs.values())[self._place] for example in examples]


class CrossedWords(Attacker):
    """Logistic regression on words and word pairs, marked by the text and by whether the other has them."""

    def learn(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> None:
        """Fit the weights."""
        self._known, rows = learned(marked, examples)
        (self._weights,) = fit_logistic(rows, list(codes), classes, penalties=[PENALTY])

    def scores(self, examples: Sequence[Example]) -> Floats:
        """Logits."""
        return matrix(marked, examples, self._known) @ self._weights


class Neighbors(Attacker):
    """The labels of the nearest training examples, by the cosine of their features weighted by rarity."""

    def __init__(self, extract: Extractor) -> None:
        self._extract = extract

    def learn(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> None:
        """Index the examples by feature; choose the number of neighbors on a held-out fold."""
        held = _folds(examples) == 0
        labels = np.eye(classes)[codes]
        self._index([examples[row] for row in np.flatnonzero(~held).tolist()], labels[~held])
        votes = self._votes([examples[row] for row in np.flatnonzero(held).tolist()])
        self._choice = int((votes.argmax(axis=2) == labels[held].argmax(axis=1)).sum(axis=1).argmax())
        self._index(examples, labels)

    def scores(self, examples: Sequence[Example]) -> Floats:
        """The share of each label among the neighbors, weighted by cosine."""
        shares: Floats = self._votes(examples)[self._choice]
        return shares

    def _index(self, examples: Sequence[Example], labels: Floats) -> None:
        names = dict.fromkeys(name for example in examples for name in self._extract(example))
        self._known = {name: column for column, name in enumerate(names, 1)}
        rows = matrix(self._extract, examples, self._known)
        self._squares = np.log(len(examples) / np.bincount(rows.columns)) ** 2
        self._norms = np.add.reduceat(self._squares[rows.columns], rows.starts[:-1]) ** 0.5 + TINY
        self._holders = np.split(rows.by_column.rows, rows.by_column.starts[1:])
        self._labels = labels

    def _votes(self, examples: Sequence[Example]) -> Floats:
        """Label shares, shape (choices, examples, classes)."""
        rows = matrix(self._extract, examples, self._known)
        votes = [self._nearest(rows.columns[start:end]) for start, end in pairwise(rows.starts)]
        return np.stack(votes, axis=1)

    def _nearest(self, columns: Ints) -> Floats:
        """Label shares, shape (choices, classes). The example's own norm cancels, so it is left out."""
        holders = [self._holders[column] for column in columns]
        products = np.bincount(
            np.concatenate(holders), np.repeat(self._squares[columns], list(map(len, holders)))
        )
        # TINY avoids 0/0 where no training example shares a feature
        cosines = products / self._norms + TINY
        nearest = np.argpartition(-cosines, min(NEIGHBORS[-1], len(cosines)) - 1)[: NEIGHBORS[-1]]
        nearest = nearest[np.argsort(-cosines[nearest], kind="stable")]
        votes = np.cumsum(cosines[nearest, None] * self._labels[nearest], axis=0)
        votes = votes[np.minimum(NEIGHBORS, len(votes)) - 1]
        shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        return shares


def marked(example: Example) -> Iterator[str]:
    """The features of `bag.whole`, cached."""
    return iter(_marked(tuple(example.inputs.values())))


@lru_cache(maxsize=1 << 14)  # several classifiers and folds use the same example
def _marked(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(intern, whole(Example(0, dict(zip("12", texts, strict=False)), None))))


def by_side(example: Example) -> Iterator[str]:
    """Words and word pairs of each text of a pair, marked by the text."""
    return (name for name in marked(example) if name.startswith(("1 ", "2 ")))


def unshared(example: Example) -> Iterator[str]:
    """Words and word pairs that only one text of a pair has, marked by the text."""
    return (name for name in marked(example) if name.startswith("only "))


class Stacked(Attacker):
    """Boosted trees on the shallow features of each pair and on the scores of other classifiers, if any."""

    def __init__(self, make: Callable[[], Sequence[Attacker]] = tuple) -> None:
        self._make = make
        self._trees = Trees()

    def learn(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> None:
        """Fit the classifiers, and the trees to their predictions for held-out pairs."""
        rows = shallow(examples)
        folds = _folds(examples)
        scores = np.zeros((len(examples), classes * len(self._make())))
        for fold in np.unique(folds) if scores.size else ():
            others, held = np.flatnonzero(folds != fold).tolist(), np.flatnonzero(folds == fold).tolist()
            estimators = self._fitted(
                [examples[row] for row in others], [codes[row] for row in others], classes
            )
            scores[held] = _scores(estimators, [examples[row] for row in held])
        self._estimators = self._fitted(examples, codes, classes)
        self._trees.fit(np.hstack([rows, scores]), codes, classes)

    def scores(self, examples: Sequence[Example]) -> Floats:
        """Log-probabilities, up to a constant."""
        return self._trees.scores(np.hstack([shallow(examples), _scores(self._estimators, examples)]))

    def _fitted(self, examples: Sequence[Example], codes: Sequence[int], classes: int) -> Sequence[Attacker]:
        estimators = self._make()
        for estimator in estimators:
            estimator.learn(examples, codes, classes)
        return estimators


def _scores(estimators: Sequence[Attacker], examples: Sequence[Example]) -> Floats:
    return np.hstack(
        [np.zeros((len(examples), 0)), *(estimator.scores(examples) for estimator in estimators)]
    )


def _folds(examples: Sequence[Example]) -> Ints:
    """A fold for each pair; pairs that share a text share the fold, unless it would hold most of them."""
    folds = np.unique(_groups(examples), return_inverse=True)[1] % FOLDS
    return folds if np.bincount(folds).max() < len(folds) / 2 else np.arange(len(folds)) % FOLDS


def _groups(examples: Sequence[Example]) -> Ints:
    """The connected component of each pair, as its first pair; pairs with a text in common are connected."""
    numbers: dict[str, int] = {}
    texts = np.array(
        [[numbers.setdefault(text, len(numbers)) for text in example.inputs.values()] for example in examples]
    )
    groups, before = np.arange(len(examples)), None
    while before is None or (groups != before).any():
        before, least = groups, np.full(len(numbers), len(examples))
        np.minimum.at(least, texts, groups[:, None])
        groups = least[texts].min(axis=1)
    return groups


def shallow(examples: Sequence[Example]) -> Floats:
    """The features of each pair, shape (examples, features)."""
    pairs = ([words(text) for text in list(example.inputs.values())[:2]] for example in examples)
    return np.array([list(_features(first, second)) for first, second in pairs], dtype=np.float64)


def _features(first: Sequence[str], second: Sequence[str]) -> Iterator[float]:
    yield from (len(first), len(second), len(first) - len(second))
    yield from (first[:1] == second[:1], first[-1:] == second[-1:])
    for size in (1, 2, 3):
        yield from _compared(_grams(first, size), _grams(second, size))
    for length in longest(first, second):
        yield from (length, length / (len(second) or 1))
    one, two = set(first), set(second)
    negations = [{word for word in text if word in NEGATIONS or word.endswith("n't")} for text in (one, two)]
    numbers = [{word for word in text if word[0].isdigit()} for text in (one, two)]
    for kinds in (negations, [one & QUANTIFIERS, two & QUANTIFIERS], numbers):
        yield from (len(kinds[0] - kinds[1]), len(kinds[1] - kinds[0]))


def _compared(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> Iterator[float]:
    """N-grams in both, in the first only, in the second only; share in both of all, and of the second's."""
    common = len(one & two)
    yield from (common, len(one) - common, len(two) - common)
    yield from (common / (len(one | two) or 1), common / (len(two) or 1))


def _grams(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return set(zip(*(text[start:] for start in range(size)), strict=False))


def longest(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """The lengths of the longest common substring and of the longest common subsequence, in words."""
    substring, runs, lengths = 0, [0] * (len(second) + 1), [0] * (len(second) + 1)
    for word in first:
        previous_runs, previous_lengths = runs, lengths
        runs, lengths = [0], [0]
        for place, other in enumerate(second):
            same = word == other
            runs.append(previous_runs[place] + 1 if same else 0)
            lengths.append(
                previous_lengths[place] + 1 if same else max(previous_lengths[place + 1], lengths[place])
            )
        substring = max(substring, *runs)
    return substring, lengths[-1]
