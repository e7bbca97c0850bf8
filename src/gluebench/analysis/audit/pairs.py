"""Shallow classifiers of text pairs, made of scikit-learn's: words, nearest neighbors, and boosted trees.

Install gluebench[audit]. A classifier is fitted to examples and the codes of their labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from sys import intern
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import bmat
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: TID251
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: TID251
from sklearn.feature_extraction.text import (  # noqa: TID251
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
)
from sklearn.linear_model import SGDClassifier  # noqa: TID251
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_predict  # noqa: TID251
from sklearn.neighbors import KNeighborsClassifier  # noqa: TID251
from sklearn.pipeline import make_pipeline  # noqa: TID251
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer  # noqa: TID251

from gluebench.analysis.audit.sets import FOLDS
from gluebench.analysis.lint.shortcuts import drawn
from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.data.tokens import words
from gluebench.systems import targets
from gluebench.systems.bag import FEWEST, whole

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Extractor = Callable[[Example], Iterable[str]]
"""Gives the names of an example's features, without duplicates."""
FEATURES = 2**20
"""Number of columns that the words and word pairs of one text are hashed into."""
NEIGHBORS = 15
NEGATIONS = frozenset(
    ["cannot", "hardly", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "without"]
)
QUANTIFIERS = frozenset(
    ["all", "any", "both", "each", "every", "few", "half", "less", "many", "more", "most", "only", "some"]
)


class Classifier:
    """A classifier of scikit-learn as a system for one task."""

    def __init__(self, make: Callable[[], Any], *, limited: bool = True) -> None:
        """`limited` classifiers learn from a random sample of a large training set."""
        self._model, self._limited = make(), limited

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn which examples go with which label; no setting is chosen on dev."""
        train = drawn(train) if self._limited else train
        codes = {word: code for code, word in enumerate(task.words)}
        self._model.fit(train, np.array([codes[label] for label in targets.labels(task, train)]))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label of each example."""
        return [task.words[code] for code in self._model.predict(examples)]


def text_alone(extract: Extractor = whole, *, epochs: int, seed: int) -> Any:
    """Logistic regression on the hashed words and word pairs of one text, by averaged gradient steps."""
    return make_pipeline(
        HashingVectorizer(analyzer=extract, n_features=FEATURES, alternate_sign=False),
        _logistic(1e-6, epochs=epochs, seed=seed),
    )


def crossed_words(*, epochs: int, seed: int) -> Any:
    """Logistic regression on words and word pairs, marked by the text and by whether the other has them."""
    return make_pipeline(
        CountVectorizer(analyzer=marked, min_df=FEWEST),
        TfidfTransformer(use_idf=False),
        _logistic(1e-3, epochs=epochs, seed=seed),
    )


def _logistic(penalty: float, *, epochs: int, seed: int) -> SGDClassifier:
    return SGDClassifier(
        loss="log_loss", alpha=penalty, average=True, max_iter=epochs, tol=None, random_state=seed
    )


def neighbors(extract: Extractor) -> Any:
    """The labels of the nearest training examples, by the cosine of their features weighted by rarity."""
    return make_pipeline(
        CountVectorizer(analyzer=extract),
        TfidfTransformer(),
        KNeighborsClassifier(NEIGHBORS, metric="cosine", weights="distance"),
    )


def trees() -> HistGradientBoostingClassifier:
    """100 boosted trees of depth 3."""
    return HistGradientBoostingClassifier(max_depth=3, early_stopping=False, random_state=0)


def shallow_trees() -> Any:
    """Boosted trees on the shallow features of each pair."""
    return make_pipeline(FunctionTransformer(shallow), trees())


def marked(example: Example, marks: tuple[str, ...] = ("",)) -> list[str]:
    """The features of `bag.whole` whose name begins with one of these marks."""
    return [name for name in _marked(tuple(example.inputs.values())) if name.startswith(marks)]


@lru_cache(maxsize=1 << 14)  # several classifiers and folds use the same example
def _marked(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(intern, whole(Example(0, dict(zip("12", texts, strict=False)), None))))


of_first, of_second, by_side, unshared = (
    partial(marked, marks=marks) for marks in (("1 ",), ("2 ",), ("1 ", "2 "), ("only ",))
)
"""Words and word pairs of the first text, of the second, of both, and of only one, marked by the text."""


class Stacked(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees on the shallow features of each pair and on the probabilities from other classifiers."""

    def __init__(self, estimators: Sequence[Any]) -> None:
        self.estimators = estimators

    def fit(self, examples: Sequence[Example], codes: Ints) -> Stacked:
        """Fit the classifiers, and the trees to their predictions for held-out pairs."""
        splits = folds(examples, codes)
        held_out = [
            cross_val_predict(estimator, examples, codes, cv=splits, method="predict_proba")
            for estimator in self.estimators
        ]
        self._fitted = [clone(estimator).fit(examples, codes) for estimator in self.estimators]
        self._trees = trees().fit(np.hstack([shallow(examples), *held_out]), codes)
        return self

    def predict(self, examples: Sequence[Example]) -> Ints:
        """The most probable label of each pair."""
        probabilities = [estimator.predict_proba(examples) for estimator in self._fitted]
        codes: Ints = self._trees.predict(np.hstack([shallow(examples), *probabilities]))
        return codes


def folds(examples: Sequence[Example], codes: Ints) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows to predict, for each fold; pairs that share a text share the fold.

    The folds are only stratified if one would hold most of the pairs, or leave one label to learn from.
    """
    splits = list(PredefinedSplit(_groups(examples) % FOLDS).split())
    if all(len(held) < len(codes) / 2 and len(set(codes[rest])) > 1 for rest, held in splits):
        return splits
    return list(StratifiedKFold(FOLDS).split(codes, codes))


def _groups(examples: Sequence[Example]) -> Ints:
    """The connected component of each pair, numbered from 0; pairs with a text in common are connected."""
    texts = [list(example.inputs.values()) for example in examples]
    has_text = MultiLabelBinarizer(sparse_output=True).fit_transform(texts)
    graph = bmat([[None, has_text], [has_text.T, None]])  # of pairs and texts
    groups: Ints = connected_components(graph, directed=False)[1][: len(texts)]
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
