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
from gluebench.analysis.lint.shortcuts import sample_of
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
        self._model = make()
        self._limited = limited

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Learn which examples go with which label; no setting is chosen on dev."""
        if self._limited:
            train = sample_of(train)
        code_of = {word: code for code, word in enumerate(task.words)}
        codes = [code_of[label] for label in targets.labels(task, train)]
        self._model.fit(train, np.array(codes))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable label of each example."""
        return [task.words[code] for code in self._model.predict(examples)]


def text_alone(extract: Extractor = whole, *, epochs: int, seed: int) -> Any:
    """Logistic regression on the hashed words and word pairs of one text, by averaged gradient steps."""
    return make_pipeline(
        HashingVectorizer(analyzer=extract, n_features=FEATURES, alternate_sign=False),
        _logistic(1e-6, epochs=epochs, seed=seed),
    )


def cross_features(*, epochs: int, seed: int) -> Any:
    """Logistic regression on words and word pairs, marked by the text and by whether the other has them."""
    return make_pipeline(
        CountVectorizer(analyzer=marked_features, min_df=FEWEST),
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


def marked_features(example: Example, marks: tuple[str, ...] = ("",)) -> list[str]:
    """The features of `bag.whole` whose name begins with one of these marks."""
    return [name for name in _all_features(tuple(example.inputs.values())) if name.startswith(marks)]


@lru_cache(maxsize=1 << 14)  # several classifiers and folds use the same example
def _all_features(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(intern, whole(Example(0, dict(zip("12", texts, strict=False)), None))))


# Words and word pairs, marked by the text:
of_first = partial(marked_features, marks=("1 ",))
of_second = partial(marked_features, marks=("2 ",))
by_side = partial(marked_features, marks=("1 ", "2 "))
unshared = partial(marked_features, marks=("only ",))  # of only one text


class StackedTrees(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees on the shallow features of each pair and on the probabilities from other classifiers."""

    def __init__(self, estimators: Sequence[Any]) -> None:
        self.estimators = estimators

    def fit(self, examples: Sequence[Example], codes: Ints) -> StackedTrees:
        """Fit the classifiers, and the trees to their predictions for held-out pairs."""
        splits = folds(examples, codes)
        features = [shallow(examples)]
        self._fitted = []
        for estimator in self.estimators:
            # What a classifier says of pairs that it was not fitted to.
            held_out = cross_val_predict(estimator, examples, codes, cv=splits, method="predict_proba")
            features.append(held_out)
            self._fitted.append(clone(estimator).fit(examples, codes))
        self._trees = trees().fit(np.hstack(features), codes)
        return self

    def predict(self, examples: Sequence[Example]) -> Ints:
        """The most probable label of each pair."""
        features = [shallow(examples)]
        features += [estimator.predict_proba(examples) for estimator in self._fitted]
        codes: Ints = self._trees.predict(np.hstack(features))
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
    rows = []
    for example in examples:
        first, second = list(example.inputs.values())[:2]
        rows.append(list(_features(words(first), words(second))))
    return np.array(rows, dtype=np.float64)


def _features(first: Sequence[str], second: Sequence[str]) -> Iterator[float]:
    """Yield the features of one pair: lengths, ends, common words and runs, negations, numbers."""
    yield len(first)
    yield len(second)
    yield len(first) - len(second)
    yield first[:1] == second[:1]
    yield first[-1:] == second[-1:]
    for size in (1, 2, 3):
        yield from _overlap_features(_ngrams(first, size), _ngrams(second, size))
    for length in longest(first, second):
        yield length
        yield length / (len(second) or 1)
    for kind in (_negations, QUANTIFIERS.intersection, _numbers):
        of_first = kind(first)
        of_second = kind(second)
        yield len(of_first - of_second)
        yield len(of_second - of_first)


def _negations(text: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in text if word in NEGATIONS or word.endswith("n't"))


def _numbers(text: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in text if word[0].isdigit())


def _overlap_features(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> Iterator[float]:
    """N-grams in both, in the first only, in the second only; share in both of all, and of the second's."""
    common = len(one & two)
    yield common
    yield len(one) - common
    yield len(two) - common
    yield common / (len(one | two) or 1)
    yield common / (len(two) or 1)


def _ngrams(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[start : start + size]) for start in range(len(text) - size + 1)}


def longest(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """The lengths of the longest common substring and of the longest common subsequence, in words."""
    substring = 0
    # Up to the words before, for each end in `second`: the common run that ends there, and the subsequence.
    runs = [0] * (len(second) + 1)
    lengths = [0] * (len(second) + 1)
    for word in first:
        next_runs = [0]
        next_lengths = [0]
        for place, other in enumerate(second):
            if word == other:
                next_runs.append(runs[place] + 1)
                next_lengths.append(lengths[place] + 1)
            else:
                next_runs.append(0)
                next_lengths.append(max(lengths[place + 1], next_lengths[place]))
        runs = next_runs
        lengths = next_lengths
        substring = max(substring, max(runs))
    return substring, lengths[-1]
