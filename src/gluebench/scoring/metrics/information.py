"""The information contrast of labels in a hierarchy, ICM, and of weighted labels, ICM-Soft.

ICM of an example is 2 I(P) + 2 I(G) - 3 I(P and G together), in bits (Amigó and Delgado 2022). In a tree, the
information I of a set is the sum over its labels and their ancestors of I(label) - I(parent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from math import erfc, sqrt
from typing import Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sums import SumMetric
from gluebench.scoring.numeric import Floats, np
from gluebench.scoring.pairs import Pairs
from gluebench.submission.submission import Column

CONSTANT = 1e-12
"""Smallest mean deviation of a label's weights."""


class _Tree:
    """The words and their ancestors, each at its place, before its parent."""

    def __init__(self, words: Iterable[str], metric: Metric) -> None:
        """Raises ValueError if a word is its own ancestor."""
        parents = dict(metric.parents)
        heights: dict[str, int] = {}  # the number of words on the way to the root
        for word in words:
            path = [word]
            while path[-1] in parents and len(path) <= len(parents):
                path.append(parents[path[-1]])
            if path[-1] in parents:
                raise ValueError(f"{word!r} is its own ancestor; expected parents that make a tree")
            for steps, ancestor in enumerate(path):
                heights[ancestor] = len(path) - steps
        deepest_first = sorted(heights, key=lambda word: (-heights[word], word))
        self.places = {word: place for place, word in enumerate(deepest_first)}
        self.children: list[int] = []
        self.parents: list[int] = []
        for word, place in self.places.items():
            if word in parents:
                self.children.append(place)
                self.parents.append(self.places[parents[word]])

    def add_ancestors(self, weights: Floats) -> Floats:
        """Weights, shape (n, words), where a parent has at least the weight of its children."""
        for child, parent in zip(self.children, self.parents, strict=True):
            weights[:, parent] = weights[:, [child, parent]].max(axis=1)
        return weights


def _contrast(
    information: Callable[[Floats], Floats], gold: Floats, predicted: Floats
) -> tuple[Floats, Floats]:
    """ICM, and the gold's own information, which is its ICM with itself."""
    of_gold = information(gold)
    of_predicted = information(predicted)
    of_both = information(np.maximum(gold, predicted))
    return 2 * of_predicted + 2 * of_gold - 3 * of_both, of_gold


def _label_cells(column: Column) -> Sequence[Sequence[str]]:
    """The labels of each example, also where it has one."""
    if column.labels:
        return [(word,) for word in column.words()]
    return column.cells


def _label_rows(pairs: Pairs, metric: Metric) -> Floats:
    """How often I of each word counts in ICM, and in the gold's information; gold's sets; a 1."""
    gold_cells = _label_cells(pairs.gold)
    predicted_cells = _label_cells(pairs.predicted)
    occurring = set(chain.from_iterable(set(gold_cells) | set(predicted_cells)))
    tree = _Tree(chain(metric.labels, pairs.gold.labels, sorted(occurring)), metric)

    def indicators(cells: Sequence[Sequence[str]]) -> Floats:
        """1.0 for each word that an example has, and for its ancestors, shape (n, words)."""
        sets = np.zeros((len(cells), len(tree.places)))
        examples = np.repeat(np.arange(len(cells)), list(map(len, cells)))
        places = list(map(tree.places.__getitem__, chain.from_iterable(cells)))
        sets[examples, places] = 1.0
        return tree.add_ancestors(sets)

    def times(sets: Floats) -> Floats:
        """How often I of each word counts in the information of the sets."""
        counts = sets.copy()
        np.subtract.at(counts.T, tree.parents, sets.T[tree.children])
        return counts

    gold = indicators(gold_cells)
    contrast, of_gold = _contrast(times, gold, indicators(predicted_cells))
    return np.column_stack([contrast, of_gold, gold, np.ones(len(pairs))])


def _of_counts(sums: Any) -> tuple[Any, Any, Any]:
    """Sums of ICM and of gold's information, and n. A word that is not in gold counts as if it were once."""
    n = sums[-1]
    contrast_times, gold_times, counts = sums[:-1].reshape(3, -1, *sums.shape[1:])
    bits = np.log2(np.maximum(n, 1.0) / np.maximum(counts, 1.0))
    contrast = (contrast_times * bits).sum(axis=0)
    of_gold = (gold_times * bits).sum(axis=0)
    return contrast, of_gold, n


def _soft_rows(pairs: Pairs, metric: Metric) -> Floats:
    """ICM-Soft, the gold's information, and a 1."""
    words = metric.labels or tuple(map(str, range(len(pairs.gold.cells[0]))))
    tree = _Tree(words, metric)

    def weights_of(cells: Any) -> Floats:
        weights = np.zeros((len(cells), len(tree.places)))
        weights[:, [tree.places[word] for word in words]] = cells
        return tree.add_ancestors(weights)

    of_gold = weights_of(pairs.gold.cells)
    mean = of_gold.mean(axis=0)
    deviation = np.abs(of_gold - mean).mean(axis=0).clip(CONSTANT)

    def bits(weights: Floats, places: Any) -> Floats:
        """-log2 of the normal probability of a larger weight, log2(n) if it is 0; 0 for the weight 0."""
        z = (weights - mean[places]) / deviation[places]
        below = np.frompyfunc(lambda z: erfc(-z / sqrt(2)) / 2, 1, 1)(z).astype(np.float64)
        bits = -np.log2(np.where(below < 1, 1 - below, 1 / len(pairs)))
        total: Floats = np.where(weights > 0, bits, 0.0).sum(axis=1)
        return total

    def information(weights: Floats) -> Floats:
        return bits(weights, slice(None)) - bits(weights[:, tree.children], tree.parents)

    def of_cells(cells: Cells) -> Floats:
        gold, predicted = zip(*cells, strict=True)
        contrast, information_of_gold = _contrast(information, weights_of(gold), weights_of(predicted))
        return np.column_stack([contrast, information_of_gold, np.ones(len(cells))])

    different, places = pairs.different
    of_different: Floats = different.table((_soft_rows, metric), of_cells)[places]
    return of_different


def _metrics(name: str, rows: Any, parts: Callable[[Any], Any] = tuple) -> tuple[SumMetric, SumMetric]:
    """ICM, and ICM-norm, which is (ICM + gold's own) / twice gold's own, at least 0."""

    def norm(sums: Any) -> Any:
        contrast, own, _ = parts(sums)
        return np.maximum(ratio(contrast + own, 2 * own), 0.0)

    def undefined(sums: Any) -> str | None:
        if parts(sums)[1]:
            return None
        return "all gold labels are the same"

    def mean(sums: Any) -> Any:
        contrast, _, n = parts(sums)
        return ratio(contrast, n)

    return SumMetric(name, rows, mean), SumMetric(f"{name}_norm", rows, norm, undefined)


INFORMATION_METRICS = (
    _metrics("icm", _label_rows, _of_counts)
    + _metrics("sets_icm", _label_rows, _of_counts)
    + _metrics("icm_soft", _soft_rows)
)
"""Metrics of the information that labels carry."""
