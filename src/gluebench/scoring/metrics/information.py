"""The information contrast of labels in a hierarchy, ICM, and of weighted labels, ICM-Soft.

ICM of an example is 2 I(P) + 2 I(G) - 3 I(P and G together), in bits (Amigó and Delgado 2022). In a tree, the
information I of a set is the sum over its labels and their ancestors of I(label) - I(parent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from math import erfc, sqrt
from typing import Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sums import SumMetric
from gluebench.scoring.numeric import Floats, np
from gluebench.scoring.pairs import Pairs

CONSTANT = 1e-12
"""Smallest mean deviation of a label's weights."""


class _Tree:
    """The words and their ancestors, each at its place, before its parent."""

    def __init__(self, words: Iterable[str], metric: Metric) -> None:
        """Raises ValueError if a word is its own ancestor."""
        parents, depths = dict(metric.parents), dict[str, int]()
        for word in words:
            path = [word]
            while path[-1] in parents and len(path) <= len(parents):
                path.append(parents[path[-1]])
            if path[-1] in parents:
                raise ValueError(f"{word!r} is its own ancestor; expected parents that make a tree")
            depths |= {each: -len(path) + at for at, each in enumerate(path)}
        self.places = {
            word: at for at, word in enumerate(sorted(depths, key=lambda word: (depths[word], word)))
        }
        edges = [(at, self.places[parents[word]]) for word, at in self.places.items() if word in parents]
        self.children, self.parents = map(list, zip(*edges, strict=True)) if edges else ([], [])

    def raised(self, weights: Floats) -> Floats:
        """Weights, shape (n, words), where a parent has at least the weight of its children."""
        for child, parent in zip(self.children, self.parents, strict=True):
            weights[:, parent] = weights[:, [child, parent]].max(axis=1)
        return weights


def _contrast(
    information: Callable[[Floats], Floats], gold: Floats, predicted: Floats
) -> tuple[Floats, Floats]:
    """ICM, and the gold's own information, which is its ICM with itself."""
    own = information(gold)
    return 2 * information(predicted) + 2 * own - 3 * information(np.maximum(gold, predicted)), own


def _rows(pairs: Pairs, metric: Metric) -> Floats:
    """How often I of each word counts in ICM, and in the gold's information; gold's sets; a 1."""
    sides = [
        [(word,) for word in column.words()] if column.labels else column.cells
        for column in (pairs.gold, pairs.predicted)
    ]
    occurring = sorted({word for side in sides for cell in {*side} for word in cell})
    tree = _Tree([*metric.labels, *pairs.gold.labels, *occurring], metric)
    sets = np.zeros((2, len(pairs), len(tree.places)))
    for rows, cells in zip(sets, sides, strict=True):
        examples = np.repeat(np.arange(len(cells)), [*map(len, cells)])
        rows[examples, [*map(tree.places.__getitem__, chain.from_iterable(cells))]] = 1.0

    def times(sets: Floats) -> Floats:
        counts = sets.copy()
        np.subtract.at(counts.T, tree.parents, sets.T[tree.children])
        return counts

    gold, predicted = map(tree.raised, sets)
    return np.column_stack([*_contrast(times, gold, predicted), gold, np.ones(len(pairs))])


def _of_counts(sums: Any) -> tuple[Any, Any, Any]:
    """Sums of ICM and of gold's information, and n. A word that is not in gold counts as if it were once."""
    n, (*times, counts) = sums[-1], sums[:-1].reshape(3, -1, *sums.shape[1:])
    bits = np.log2(np.maximum(n, 1.0) / np.maximum(counts, 1.0))
    contrast, own = ((each * bits).sum(axis=0) for each in times)
    return contrast, own, n


def _soft_rows(pairs: Pairs, metric: Metric) -> Floats:
    """ICM-Soft, the gold's information, and a 1."""
    words = metric.labels or tuple(map(str, range(len(pairs.gold.cells[0]))))
    tree = _Tree(words, metric)

    def raised(cells: Any) -> Floats:
        weights = np.zeros((len(cells), len(tree.places)))
        weights[:, [tree.places[word] for word in words]] = cells
        return tree.raised(weights)

    of_gold = raised(pairs.gold.cells)
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
        contrast = _contrast(information, *map(raised, zip(*cells, strict=True)))
        return np.column_stack([*contrast, np.ones(len(cells))])

    different, places = pairs.different
    of_different: Floats = different.table((_soft_rows, metric), of_cells)[places]
    return of_different


def _metrics(name: str, rows: Any, parts: Callable[[Any], Any] = tuple) -> tuple[SumMetric, SumMetric]:
    """ICM, and ICM-norm, which is (ICM + gold's own) / twice gold's own, at least 0."""

    def norm(sums: Any) -> Any:
        contrast, own, _ = parts(sums)
        return np.maximum(ratio(contrast + own, 2 * own), 0.0)

    def undefined(sums: Any) -> str | None:
        return None if parts(sums)[1] else "all gold labels are the same"

    icm = SumMetric(name, rows, lambda sums: ratio(*parts(sums)[::2]))
    return icm, SumMetric(f"{name}_norm", rows, norm, undefined)


INFORMATION_METRICS = (
    *_metrics("icm", _rows, _of_counts),
    *_metrics("sets_icm", _rows, _of_counts),
    *_metrics("icm_soft", _soft_rows),
)
"""Metrics of the information that labels carry."""
