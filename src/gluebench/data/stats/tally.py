"""Counts of a split in one pass; memory grows with its distinct words, not with its rows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from gluebench.benchmark import Task
from gluebench.data.tokens import tokens, words
from gluebench.data.tsv import Example

_TOGETHER = 8192
"""Examples counted at a time."""


class Part(NamedTuple):
    """A label word, or an interval of scores, and its number of examples."""

    name: str
    examples: int
    share: float


class Labels(NamedTuple):
    """Distribution of the labels of a split."""

    parts: tuple[Part, ...]
    """Label words in the manifest's order; for scores, intervals of equal width, the last one closed."""
    mean: float | None = None
    """Mean score; None for label words."""


class Lengths(NamedTuple):
    """Numbers of tokens in the texts of one column."""

    mean: float
    median: float
    p95: int
    """The smallest length that at least 95 of 100 texts do not exceed."""
    longest: int


class Vocabulary(NamedTuple):
    """Tokens (words and punctuation marks) of all input columns, ignoring case."""

    tokens: int
    types: int
    unseen_types: float | None = None
    """Share of the types that are not in train; None for train, or if train is not on disk."""
    unseen_tokens: float | None = None


class SplitStats(NamedTuple):
    """Statistics of one split."""

    split: str
    examples: int
    labels: Labels | None
    """None if they are hidden, or neither label words nor numbers."""
    lengths: Mapping[str, Lengths]
    """Input column to its lengths."""
    overlap: float | None
    """Mean Jaccard similarity of the words of two texts; None unless there are two texts."""
    vocabulary: Vocabulary


class Tally:
    """Running counts of a split."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._edges = score_edges(task.score_range) if task.score_range else ()
        self._labels: Counter[str | int] = Counter()
        self._scores = 0.0
        self._lengths: dict[str, Counter[int]] = {column: Counter() for column in task.columns}
        self._overlap = 0.0
        self._stretches: Counter[str] = Counter()
        # No token contains white space, so each distinct stretch between spaces is tokenized once.
        self._size = cache(lambda stretch: len(tokens(stretch)))
        self._words = cache(words)
        self.examples = 0

    def add(self, examples: Iterable[Example]) -> Tally:
        """Add examples to the counts."""
        stream = iter(examples)
        while batch := list(islice(stream, _TOGETHER)):
            self._add(batch)
        return self

    def _add(self, batch: Sequence[Example]) -> None:
        self.examples += len(batch)
        columns = [[example.inputs[column].split() for example in batch] for column in self._lengths]
        for counts, texts in zip(self._lengths.values(), columns, strict=True):
            self._stretches.update(chain.from_iterable(texts))
            counts.update(sum(map(self._size, text)) for text in texts)
        if len(columns) == 2:
            sets = ([set(chain.from_iterable(map(self._words, text))) for text in texts] for texts in columns)
            shares = [len(a & b) / max(len(a | b), 1) for a, b in zip(*sets, strict=True)]
            self._overlap += float(np.sum(shares))
        for label in (example.label for example in batch):
            if isinstance(label, str):
                self._labels[label] += 1
            elif label is not None:
                self._scores += label
                self._labels[interval_of(label, self._edges)] += 1

    def vocabulary(self) -> Counter[str]:
        """Frequency of each token in the texts so far."""
        counts: Counter[str] = Counter()
        for stretch, count in self._stretches.items():
            for token in tokens(stretch):
                counts[token] += count
        return counts

    def stats(self, split: str, *, seen: Set[str] | None = None) -> SplitStats:
        """The statistics; `seen` is the vocabulary of the train split."""
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
        words = self._task.words
        if self._task.form == "probabilities":
            words = self._task.vocabulary
        if not total or not (words or self._edges):
            return None
        if words:
            return Labels(tuple(Part(word, self._labels[word], self._labels[word] / total) for word in words))
        names = {
            -1: f"below {self._edges[0]:g}",
            **dict(enumerate(f"{low:g} to {high:g}" for low, high in pairwise(self._edges))),
        }
        names[len(self._edges) - 1] = f"above {self._edges[-1]:g}"
        kept = [at for at in sorted(names) if 0 <= at < len(self._edges) - 1 or self._labels[at]]
        parts = tuple(Part(names[at], self._labels[at], self._labels[at] / total) for at in kept)
        return Labels(parts, self._scores / total)


def score_edges(score_range: tuple[float, float]) -> tuple[float, ...]:
    """Edges of the score intervals: of width 1 if the range is whole and at most 10 wide, else five."""
    low, high = score_range
    width = high - low
    count = int(width) if width == int(width) and width <= 10 else 5
    return tuple(low + width * step / count for step in range(count + 1))


def interval_of(score: float, edges: Sequence[float]) -> int:
    """Index of the interval of a score; -1 below the first, the number of intervals above the last."""
    return bisect_right(edges, score) - 1 if score != edges[-1] else len(edges) - 2


def lengths(counts: Mapping[int, int]) -> Lengths:
    """Statistics of lengths, from length to number of texts; there is at least one."""
    values = sorted(counts)
    ends = np.cumsum([counts[value] for value in values])
    total = int(ends[-1])

    def at(rank: int) -> int:
        """The length at a rank, from 1, in increasing order."""
        return values[int(np.searchsorted(ends, rank))]

    mean = sum(length * count for length, count in counts.items()) / total
    median = (at((total + 1) // 2) + at(total // 2 + 1)) / 2
    return Lengths(mean, median, at(-(-total * 95 // 100)), values[-1])


def vocabulary(counts: Mapping[str, int], seen: Set[str] | None = None) -> Vocabulary:
    """Size of a vocabulary, and the shares of it that are not in `seen`."""
    total = sum(counts.values())
    if seen is None or not total:
        return Vocabulary(total, len(counts))
    new = [count for token, count in counts.items() if token not in seen]
    return Vocabulary(total, len(counts), len(new) / len(counts), sum(new) / total)
