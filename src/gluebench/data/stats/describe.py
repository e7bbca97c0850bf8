"""Statistics of a task's splits on disk, compared with the paper's Tables 1 and 7.

A split is counted in one pass; what is kept of it grows with its distinct words, not with its rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import TAGS
from gluebench.data.errors import DataError
from gluebench.data.home import split_file, task_folder
from gluebench.data.table import Table, load
from gluebench.data.tokens import tokens, words
from gluebench.data.tsv import Example

_TOGETHER = 8192
"""Examples counted at a time."""
_MOST_WORDS = 10
"""Labels of an open set that are shown."""


class LabelShare(NamedTuple):
    """A label word, or an interval of scores, and its number of examples."""

    name: str
    examples: int
    share: float


class Labels(NamedTuple):
    """Distribution of the labels of a split."""

    parts: tuple[LabelShare, ...]
    """Label words in the manifest's order, or the most frequent of an open set; for scores, intervals of
    equal width, the last one closed; none for texts, spans and the like.

    Shares are of the labeled examples, so that those of sets may sum to more than 1; of tags, of all tags."""
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
    """None if they are hidden."""
    lengths: Mapping[str, Lengths]
    """Input column to its lengths."""
    overlap: float | None
    """Mean Jaccard similarity of the words of two texts; None unless there are two texts."""
    vocabulary: Vocabulary


class SplitCounts:
    """Running counts of a split."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._edges = score_edges(task.score_range) if task.score_range else ()
        self._labels: Counter[str | int] = Counter()
        self._labeled = 0
        self._scores = 0.0
        self._lengths: dict[str, Counter[int]] = {column: Counter() for column in task.columns}
        self._overlap = 0.0
        self._stretches: Counter[str] = Counter()
        # No token contains white space, so each distinct stretch between spaces is tokenized once.
        self._size = cache(lambda stretch: len(tokens(stretch)))
        self._words = cache(words)
        self.examples = 0

    def add(self, examples: Iterable[Example]) -> SplitCounts:
        """Add examples to the counts."""
        stream = iter(examples)
        while batch := list(islice(stream, _TOGETHER)):
            self._add(batch)
        return self

    def _add(self, batch: Sequence[Example]) -> None:
        self.examples += len(batch)
        words_of_columns = []
        for column, counts in self._lengths.items():
            texts = [example.inputs[column].split() for example in batch]  # of each text its stretches
            self._stretches.update(chain.from_iterable(texts))
            counts.update(sum(map(self._size, text)) for text in texts)
            if len(self._lengths) == 2:
                words_of_columns.append([set(chain.from_iterable(map(self._words, text))) for text in texts])
        if words_of_columns:
            first, second = words_of_columns
            shares = []
            for first_words, second_words in zip(first, second, strict=True):
                either = max(len(first_words | second_words), 1)
                shares.append(len(first_words & second_words) / either)
            self._overlap += float(np.sum(shares))
        for example in batch:
            label = example.label
            if isinstance(label, str):
                self._labels.update(self._words_of(label))
            elif label is not None:
                self._scores += label
                if self._edges:
                    self._labels[interval_of(label, self._edges)] += 1
            self._labeled += label is not None

    def _words_of(self, label: str) -> list[str]:
        """The label words of an answer."""
        if self._task.form == "tokens":
            return label.split()
        if self._task.form == "sets":
            parts = map(str.strip, label.split(self._task.separator.strip() or None))
            return list(filter(None, parts))
        return [label] if self._task.form in ("labels", "probabilities") else []

    def vocabulary(self) -> Counter[str]:
        """Frequency of each token in the texts so far."""
        counts: Counter[str] = Counter()
        for stretch, count in self._stretches.items():
            for token in tokens(stretch):
                counts[token] += count
        return counts

    def stats(self, split: str, *, seen: Set[str] | None = None) -> SplitStats:
        """The statistics; `seen` is the vocabulary of the train split."""
        overlap = None
        if len(self._lengths) == 2 and self.examples:
            overlap = self._overlap / self.examples
        return SplitStats(
            split,
            self.examples,
            self._label_stats(),
            {column: lengths(counts) for column, counts in self._lengths.items() if counts},
            overlap,
            vocabulary(self.vocabulary(), seen),
        )

    def _label_stats(self) -> Labels | None:
        if not self._labeled:
            return None
        if not self._edges:
            return Labels(self._word_parts())
        total = self._labeled
        parts = []
        below = self._labels[-1]
        if below:
            parts.append(LabelShare(f"below {self._edges[0]:g}", below, below / total))
        for interval, (low, high) in enumerate(pairwise(self._edges)):
            count = self._labels[interval]
            parts.append(LabelShare(f"{low:g} to {high:g}", count, count / total))
        above = self._labels[len(self._edges) - 1]
        if above:
            parts.append(LabelShare(f"above {self._edges[-1]:g}", above, above / total))
        return Labels(tuple(parts), self._scores / total)

    def _word_parts(self) -> tuple[LabelShare, ...]:
        """The share of each label word; of an open set, of its most frequent ones."""
        total = self._labeled
        if self._task.form == "tokens":  # shares of all tags
            total = self._labels.total()
        words: Sequence[str | int] = self._task.words or self._task.vocabulary
        if not words:
            words = [word for word, _ in self._labels.most_common(_MOST_WORDS)]
        parts = []
        for word in words:
            if isinstance(word, str):  # an integer would be the interval of a score
                parts.append(LabelShare(word, self._labels[word], self._labels[word] / total))
        return tuple(parts)


def score_edges(score_range: tuple[float, float]) -> tuple[float, ...]:
    """Edges of the score intervals: of width 1 if the range is whole and at most 10 wide, else five."""
    low, high = score_range
    width = high - low
    count = int(width) if width == int(width) and width <= 10 else 5
    return tuple(low + width * step / count for step in range(count + 1))


def interval_of(score: float, edges: Sequence[float]) -> int:
    """Index of the interval of a score; -1 below the first, the number of intervals above the last."""
    if score == edges[-1]:  # the last interval is closed
        return len(edges) - 2
    return bisect_right(edges, score) - 1


def lengths(counts: Mapping[int, int]) -> Lengths:
    """Statistics of lengths, from length to number of texts; there is at least one."""
    ordered = np.sort(np.repeat(np.array(list(counts)), list(counts.values())))
    p95 = ordered[-(-len(ordered) * 95 // 100) - 1]
    return Lengths(float(ordered.mean()), float(np.median(ordered)), int(p95), int(ordered[-1]))


def vocabulary(counts: Mapping[str, int], seen: Set[str] | None = None) -> Vocabulary:
    """Size of a vocabulary, and the shares of it that are not in `seen`."""
    total = sum(counts.values())
    if seen is None or not total:
        return Vocabulary(total, len(counts))
    new = [count for token, count in counts.items() if token not in seen]
    return Vocabulary(total, len(counts), len(new) / len(counts), sum(new) / total)


TRAIN = "train"


class TaskStats(NamedTuple):
    """Statistics of a task's splits, and the figures that the paper prints."""

    task: str
    splits: Mapping[str, SplitStats | None]
    """In the manifest's order; None for one that is not on disk."""
    sizes: tuple[PrintedSize, ...] = ()
    categories: Mapping[str, tuple[Category, ...]] = {}
    """Split of a diagnostic set, if its data have tags, to its coarse categories (Table 7)."""


def on_disk(folder: Path, benchmark: Benchmark, task: Task) -> dict[str, Table | None]:
    """Open the splits of a task; None for one without a file.

    Raises DataError if the task has no folder or a file is invalid.
    """
    home = task_folder(folder, benchmark, task)
    tables: dict[str, Table | None] = {}
    for name, split in task.splits.items():
        tables[name] = None
        if split_file(home, split):
            tables[name] = load(task.name, name, folder, benchmark=benchmark)
    return tables


def describe(task: Task, tables: Mapping[str, Table | None]) -> TaskStats:
    """The statistics of a task; each split is read once, one row group at a time."""
    tallies = {name: SplitCounts(task).add(table) for name, table in tables.items() if table is not None}
    seen = tallies[TRAIN].vocabulary().keys() if TRAIN in tallies else None
    splits: dict[str, SplitStats | None] = dict.fromkeys(tables)
    for name, tally in tallies.items():
        splits[name] = tally.stats(name, seen=None if name == TRAIN else seen)
    sizes: dict[str, int | None] = dict.fromkeys(tables)
    categories_of_splits = {}
    for name, table in tables.items():
        if table is None:
            continue
        sizes[name] = len(table)
        if task.phenomena and TAGS in table.columns:
            categories_of_splits[name] = _categories(task, table)
    return TaskStats(task.name, splits, sizes_beside(task, sizes), categories_of_splits)


def _categories(task: Task, table: Table) -> tuple[Category, ...]:
    labels = [example.label for example in table]
    words = [label for label in labels if isinstance(label, str)]
    if table.labeled and len(words) != len(labels):
        raise DataError(f"{task.name} {table.split}: {len(labels) - len(words)} rows have no label")
    return categories(task, [tags or [] for tags in table.column(TAGS)], words if table.labeled else None)


class Category(NamedTuple):
    """One coarse category of phenomena."""

    name: str
    examples: int
    """Rows with at least one of its phenomena; one with several counts once."""
    labels: Mapping[str, int] | None
    """Label word to its number of these rows, in the manifest's order; None if labels are hidden."""
    printed: Mapping[str, float] = {}
    """Figures of the paper: `count`, and the percentage of each label word."""

    def percentage(self, word: str) -> float | None:
        """Percentage of the category with the label, to one decimal as in Table 7."""
        if not self.labels or not self.examples:
            return None
        return round(100 * self.labels[word] / self.examples, 1)

    @property
    def agrees(self) -> bool | None:
        """Whether count and percentages equal those printed; None if there is nothing to compare."""
        if not self.printed or self.labels is None:
            return None
        measured: dict[str, float | None] = {word: self.percentage(word) for word in self.labels}
        measured.setdefault("count", self.examples)
        return all(measured.get(name) == figure for name, figure in self.printed.items())


def categories(
    task: Task, tags: Sequence[Sequence[str]], labels: Sequence[str] | None
) -> tuple[Category, ...]:
    """The coarse categories in the manifest's order, from each row's tags and label word.

    Raises DataError for tags that the manifest does not have.
    """
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    unknown: Counter[str] = Counter()
    for tags_of_row in tags:
        unknown.update(tag for tag in tags_of_row if tag not in coarse)
    if unknown:
        fault = "is not a phenomenon of the manifest"
        raise DataError([f"{task.name}: the tag {tag!r} ({n} rows) {fault}" for tag, n in unknown.items()])
    coarse_categories = []
    for name in task.coarse():
        rows = []
        for row, tags_of_row in enumerate(tags):
            if any(coarse[tag] == name for tag in tags_of_row):
                rows.append(row)
        by_word = None
        if labels is not None:
            counts = Counter(labels[row] for row in rows)
            by_word = {word: counts[word] for word in task.words}
        printed = task.printed.categories.get(name, {})
        coarse_categories.append(Category(name, len(rows), by_word, printed))
    return tuple(coarse_categories)


Agreement = Literal["exact", "rounded", "cut", "differs"]
"""How a printed figure compares with a size, at the figure's precision."""
_FIGURE = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?) ?([kKM]?)", re.ASCII)
_UNITS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}


class PrintedSize(NamedTuple):
    """A printed size, and the size of the split or splits that it refers to."""

    name: str
    """Its name in the table: "train", "test"."""
    printed: str
    splits: tuple[str, ...]
    size: int | None
    """Total number of their rows; None unless all are on disk."""
    agreement: Agreement | None
    """None without a size, or for a figure that is not a number."""
    notes: tuple[str, ...] = ()
    """If they differ, the manifest's notes that mention the figure."""


def agreement(size: int, printed: str) -> Agreement | None:
    """Compare a printed figure such as "8.5k" with the exact size; None if it is not a number.

    Its precision is that of its last digit: 100 for "8.5k", 1,000 for "67k", 1 for "634". It is "rounded" if
    it is the nearest figure of that precision, "cut" if it is truncated, and else "differs".
    """
    match = _FIGURE.fullmatch(printed.strip())
    if match is None:
        return None
    digits = match[1].replace(",", "")
    unit = _UNITS[match[2]]
    figure = Decimal(digits) * unit
    step = Decimal(unit).scaleb(-len(digits.partition(".")[2]))
    if size == figure:
        return "exact"
    if 2 * abs(size - figure) <= step:
        return "rounded"
    if figure < size < figure + step:
        return "cut"
    return "differs"


def sizes_beside(task: Task, rows: Mapping[str, int | None]) -> tuple[PrintedSize, ...]:
    """Compare each printed size of a task with its splits' `rows`, None for a split not on disk."""
    sizes = []
    for name, printed in task.printed.sizes.items():
        splits = splits_called(task, name)
        known = [rows[split] for split in splits if rows.get(split) is not None]
        size = None
        how = None
        if known and len(known) == len(splits):
            size = sum(number for number in known if number is not None)
            how = agreement(size, printed)
        notes: tuple[str, ...] = ()
        if how == "differs":
            mention = re.compile(rf"(?<![\w.]){re.escape(printed)}(?![\w.]*\w)")
            notes = tuple(note for note in task.notes if mention.search(note))
        sizes.append(PrintedSize(name, printed, splits, size, how, notes))
    return tuple(sizes)


def splits_called(task: Task, name: str) -> tuple[str, ...]:
    """The split of that name, or all splits with that role: "test" of MNLI is both its sections."""
    if name in task.splits:
        return (name,)
    names = []
    for file in task.files:
        for role, split in file.splits.items():
            if role == name:
                names.append(split.name)
    return tuple(names)
