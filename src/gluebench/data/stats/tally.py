"""Counting through a split once: what is kept grows with its different words, not with its rows."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gluebench.benchmark import Task
from gluebench.data.tokens import tokens, words
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
        coded = [self._words.coded([example.inputs[column] for example in batch]) for column in self._lengths]
        for counts, texts in zip(self._lengths.values(), coded, strict=True):
            counts.update(self._words.lengths(texts).tolist())
        if len(coded) == 2:
            self._overlap += float(self._words.overlaps(*coded).sum())
        for label in (example.label for example in batch):
            if isinstance(label, str):
                self._labels[label] += 1
            elif label is not None:
                self._scores += label
                self._labels[interval_of(label, self._edges)] += 1

    def vocabulary(self) -> Counter[str]:
        """How often each token stands in the texts so far."""
        return self._words.vocabulary()

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
        names = {
            -1: f"below {self._edges[0]:g}",
            **dict(enumerate(f"{low:g} to {high:g}" for low, high in pairwise(self._edges))),
        }
        names[len(self._edges) - 1] = f"above {self._edges[-1]:g}"
        kept = [at for at in sorted(names) if 0 <= at < len(self._edges) - 1 or self._labels[at]]
        parts = tuple(Part(names[at], self._labels[at], self._labels[at] / total) for at in kept)
        return Labels(parts, self._scores / total)


def score_edges(score_range: tuple[float, float]) -> tuple[float, ...]:
    """Bounds of the intervals that scores are counted in: one for each unit of 0 to 5, else five in all."""
    low, high = score_range
    width = high - low
    count = int(width) if width == int(width) and width <= 10 else 5
    return tuple(low + width * step / count for step in range(count + 1))


def interval_of(score: float, edges: Sequence[float]) -> int:
    """Position of the interval a score is in; -1 below the first, the number of intervals above the last."""
    return bisect_right(edges, score) - 1 if score != edges[-1] else len(edges) - 2


def lengths(counts: Mapping[int, int]) -> Lengths:
    """Figures of the lengths, given how many texts have each; there is at least one."""
    values = sorted(counts)
    ends = np.cumsum([counts[value] for value in values])
    total = int(ends[-1])

    def at(rank: int) -> int:
        """The length of the text at a rank, counted from 1, in order of length."""
        return values[int(np.searchsorted(ends, rank))]

    mean = sum(length * count for length, count in counts.items()) / total
    median = (at((total + 1) // 2) + at(total // 2 + 1)) / 2
    return Lengths(mean, median, at(-(-total * 95 // 100)), values[-1])


def vocabulary(counts: Mapping[str, int], seen: Set[str] | None = None) -> Vocabulary:
    """Size of a vocabulary, and how much of it is not among the words seen."""
    total = sum(counts.values())
    if seen is None or not total:
        return Vocabulary(total, len(counts))
    new = [count for token, count in counts.items() if token not in seen]
    return Vocabulary(total, len(counts), len(new) / len(counts), sum(new) / total)


Numbers = npt.NDArray[np.int64]


class _Stretches(dict[str, int]):
    """Numbers stretches as they appear, and keeps how many tokens and which words each has."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths = array("q")
        self.words = array("q")
        """Numbers of the words of all stretches, one stretch after the other."""
        self.ends = array("q")
        self.numbers: dict[str, int] = {}
        """Different words so far."""

    def __missing__(self, stretch: str) -> int:
        number = self[stretch] = len(self)
        self.lengths.append(len(tokens(stretch)))
        self.words.extend(self.numbers.setdefault(word, len(self.numbers)) for word in words(stretch))
        self.ends.append(len(self.words))
        return number


class Coded:
    """The texts of a column as numbers: one for each stretch, and the text it stands in."""

    def __init__(self, texts: Sequence[str], known: _Stretches) -> None:
        cut = [text.split() for text in texts]
        self.size = len(cut)
        self.stretches = np.fromiter(map(known.__getitem__, chain.from_iterable(cut)), np.int64)
        self.texts = np.repeat(np.arange(self.size), [len(stretches) for stretches in cut])


class Words:
    """Counts the words of texts, column by column.

    No token has white space in it. So texts are cut there, which is fast, each different stretch between is
    tokenised once and has a number, and the rest is arithmetic on these numbers.
    """

    def __init__(self) -> None:
        self._known = _Stretches()
        self._counts = np.zeros(0, np.int64)

    def coded(self, texts: Sequence[str]) -> Coded:
        """The texts as numbers; their words count from now on."""
        coded = Coded(texts, self._known)
        counts = np.bincount(coded.stretches, minlength=len(self._known))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        return coded

    def lengths(self, coded: Coded) -> Numbers:
        """Tokens of each text."""
        lengths = np.array(self._known.lengths)
        counts = np.bincount(coded.texts, lengths[coded.stretches], minlength=coded.size)
        return counts.astype(np.int64)

    def overlaps(self, one: Coded, two: Coded) -> npt.NDArray[np.float64]:
        """`gluebench.data.tokens.overlap` of each text of one column with that of the other."""
        first, second = self._different(one), self._different(two)
        both = self._by_text(np.intersect1d(first, second, assume_unique=True), one.size)
        either = self._by_text(first, one.size) + self._by_text(second, one.size) - both
        shares: npt.NDArray[np.float64] = both / np.maximum(either, 1)
        return shares

    def _different(self, coded: Coded) -> Numbers:
        """The different words of each text, as text * number of all words + word, in order."""
        ends = np.array(self._known.ends)
        starts = np.concatenate(([0], ends))[coded.stretches]
        counts = ends[coded.stretches] - starts
        before = np.cumsum(counts) - counts
        at = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        of_text = np.repeat(coded.texts, counts)
        keys = of_text * len(self._known.numbers) + np.array(self._known.words)[at]
        keys.sort()  # np.unique puts them in a hash table, which takes longer
        different: Numbers = keys[np.diff(keys, prepend=-1) > 0]
        return different

    def _by_text(self, keys: Numbers, size: int) -> Numbers:
        return np.bincount(keys // max(len(self._known.numbers), 1), minlength=size)

    def vocabulary(self) -> Counter[str]:
        """How often each token stands in all the texts."""
        counts: Counter[str] = Counter()
        for stretch, count in zip(self._known, self._counts.tolist(), strict=True):
            for token in tokens(stretch):
                counts[token] += count
        return counts
