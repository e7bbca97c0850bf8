"""Counting through a split once: what is kept grows with its different words, not with its rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice, pairwise
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data.stats.words import Words
from gluebench.data.tsv import Example

_TOGETHER = 8192
"""Examples that are counted at once."""


class Part(NamedTuple):
    """A label word, or an interval of scores, and how many have it."""

    name: str
    examples: int
    share: float


class Labels(NamedTuple):
    """How the labels of a split are divided."""

    parts: tuple[Part, ...]
    """Label words in the manifest's order; for scores, intervals of equal width, the last one closed."""
    mean: float | None = None
    """Of scores."""


class Lengths(NamedTuple):
    """Tokens of the texts of one column."""

    mean: float
    median: float
    p95: int
    """The smallest length that at least 95 of 100 texts do not exceed."""
    longest: int


class Vocabulary(NamedTuple):
    """The words and marks of all input columns, letter case aside."""

    tokens: int
    types: int
    unseen_types: float | None = None
    """Share of the types that the train split does not have; None for train, and where it is not there."""
    unseen_tokens: float | None = None


class SplitStats(NamedTuple):
    """What one split holds."""

    split: str
    examples: int
    labels: Labels | None
    """None where they are hidden."""
    lengths: Mapping[str, Lengths]
    """Input column to its lengths."""
    overlap: float | None
    """Mean share of the words of two texts that both have (Jaccard); None unless there are two texts."""
    vocabulary: Vocabulary


class Tally:
    """Counts of a split, added to as its examples are read."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._edges = score_edges(task.score_range) if task.score_range else ()
        self._labels: Counter[str | int] = Counter()
        self._scores = 0.0
        self._lengths: dict[str, Counter[int]] = {column: Counter() for column in task.columns}
        self._overlap = 0.0
        self._words = Words()
        self.examples = 0

    def add(self, examples: Iterable[Example]) -> Tally:
        """Count these too."""
        stream = iter(examples)
        while batch := list(islice(stream, _TOGETHER)):
            self._add(batch)
        return self

    def _add(self, batch: Sequence[Example]) -> None:
        self.examples += len(batch)
        coded = [self._words.coded([each.inputs[column] for each in batch]) for column in self._lengths]
        for counts, texts in zip(self._lengths.values(), coded, strict=True):
            counts.update(self._words.lengths(texts).tolist())
        if len(coded) == 2:
            self._overlap += float(self._words.overlaps(*coded).sum())
        for each in batch:
            if each.label is not None:
                self._label(each.label)

    def vocabulary(self) -> Counter[str]:
        """How often each token stands in the texts so far."""
        return self._words.vocabulary()

    def _label(self, label: str | float) -> None:
        if isinstance(label, str):
            self._labels[label] += 1
        else:
            self._scores += label
            self._labels[interval_of(label, self._edges)] += 1

    def stats(self, split: str, *, seen: Set[str] | None = None) -> SplitStats:
        """The counts as figures; `seen` is the vocabulary of the train split."""
        return SplitStats(
            split,
            self.examples,
            self._label_stats(),
            {column: lengths(counts) for column, counts in self._lengths.items() if counts},
            self._overlap / self.examples if len(self._lengths) == 2 and self.examples else None,
            vocabulary(self.vocabulary(), seen),
        )

    def _label_stats(self) -> Labels | None:
        total = self._labels.total()
        if not total:
            return None
        if self._task.labels:
            return Labels(
                tuple(Part(word, self._labels[word], self._labels[word] / total) for word in self._task.words)
            )
        names = {-1: f"below {self._edges[0]:g}", **dict(enumerate(_interval_names(self._edges)))}
        names[len(self._edges) - 1] = f"above {self._edges[-1]:g}"
        kept = [at for at in sorted(names) if 0 <= at < len(self._edges) - 1 or self._labels[at]]
        parts = tuple(Part(names[at], self._labels[at], self._labels[at] / total) for at in kept)
        return Labels(parts, self._scores / total)


def score_edges(score_range: tuple[float, float]) -> tuple[float, ...]:
    """Bounds of the intervals that scores are counted in: one for each unit of 0 to 5, else five in all."""
    low, high = score_range
    width = high - low
    count = int(width) if width == int(width) and width <= 10 else 5
    return tuple(low + width * each / count for each in range(count + 1))


def interval_of(score: float, edges: Sequence[float]) -> int:
    """Position of the interval a score is in; -1 below the first, the number of intervals above the last."""
    return bisect_right(edges, score) - 1 if score != edges[-1] else len(edges) - 2


def _interval_names(edges: Sequence[float]) -> list[str]:
    return [f"{low:g} to {high:g}" for low, high in pairwise(edges)]


def lengths(counts: Mapping[int, int]) -> Lengths:
    """Figures of the lengths, given how many texts have each; there is at least one."""
    total = sum(counts.values())
    ordered = sorted(counts)
    middle = (_at(counts, ordered, (total + 1) // 2) + _at(counts, ordered, total // 2 + 1)) / 2
    mean = sum(length * count for length, count in counts.items()) / total
    return Lengths(mean, middle, _at(counts, ordered, -(-total * 95 // 100)), ordered[-1])


def _at(counts: Mapping[int, int], ordered: Sequence[int], rank: int) -> int:
    """The length of the text at a rank, counted from 1, when all are put in order."""
    passed = 0
    for length in ordered:
        passed += counts[length]
        if passed >= rank:
            return length
    return ordered[-1]


def vocabulary(counts: Mapping[str, int], seen: Set[str] | None = None) -> Vocabulary:
    """Size of a vocabulary, and how much of it is not among the words seen."""
    total = sum(counts.values())
    if seen is None or not total:
        return Vocabulary(total, len(counts))
    new = [count for token, count in counts.items() if token not in seen]
    return Vocabulary(total, len(counts), len(new) / len(counts), sum(new) / total)
