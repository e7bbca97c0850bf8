"""Sentences as sparse rows of word counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gluebench.data import Example
from gluebench.data.tokens import tokens

Floats = npt.NDArray[np.float64]
Extractor = Callable[[Example], Iterator[str]]
"""The names of an example's features, each once."""
Item = TypeVar("Item")
FEWEST = 2
"""A feature has to stand in so many training examples to count."""


class ByColumn(NamedTuple):
    """The places of a sparse matrix in the order of their columns."""

    rows: npt.NDArray[np.intp]
    """Row of each place."""
    starts: npt.NDArray[np.intp]
    """Where each of the columns begins."""
    columns: npt.NDArray[np.intp]
    """The columns that have any place, ascending."""


@dataclass(frozen=True)
class Sparse:
    """Rows of equal values: row i has `values[i]` in the columns `columns[starts[i]:starts[i + 1]]`."""

    starts: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]
    values: Floats
    width: int

    def __matmul__(self, weights: Floats) -> Floats:
        """Product with weights of shape (width, classes): (rows, classes)."""
        # column by column: adding up runs of a flat array is several times faster than runs of rows
        columns = np.array(weights.T, order="C")
        sums = [np.add.reduceat(column[self.columns], self.starts[:-1]) for column in columns]
        return np.stack(sums, axis=1) * self.values[:, None]

    def transposed_times(self, errors: Floats) -> Floats:
        """Product of the transposed matrix with errors of shape (rows, classes): (width, classes)."""
        rows, starts, columns = self.by_column
        sums = np.zeros((errors.shape[1], self.width))
        for place, error in enumerate(errors.T * self.values):
            sums[place, columns] = np.add.reduceat(error[rows], starts)
        return sums.T

    @cached_property
    def by_column(self) -> ByColumn:
        """The same places by column: what the transposed product adds up."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self.values)), np.diff(self.starts))[order]
        columns, starts = np.unique(self.columns[order], return_index=True)
        return ByColumn(rows, starts, columns)


def whole(example: Example) -> Iterator[str]:
    """Words and word pairs of one text, or of two: those of each, those in both, those in one alone."""
    texts = list(example.inputs.values())
    if len(texts) == 1:
        yield from _grams(texts[0])
        return
    first, second = (dict.fromkeys(_grams(text)) for text in texts[:2])
    for gram in first:
        yield f"1 {gram}"
        yield f"{'both' if gram in second else 'only 1'} {gram}"
    for gram in second:
        yield f"2 {gram}"
        if gram not in first:
            yield f"only 2 {gram}"
    shared = sum(gram in second for gram in first)
    yield f"overlap {10 * shared // max(1, len(first | second))}"


def last_only(example: Example) -> Iterator[str]:
    """Words and word pairs of the last text alone: the hypothesis, the second sentence or question."""
    yield from dict.fromkeys(_grams(list(example.inputs.values())[-1]))


def _grams(text: str) -> Iterator[str]:
    words = tokens(text)
    yield from dict.fromkeys(words)
    yield from dict.fromkeys(f"{one} {two}" for one, two in pairwise(["^", *words]))


def vocabulary(extract: Callable[[Item], Iterable[str]], examples: Sequence[Item]) -> dict[str, int]:
    """Column of every feature that stands in enough of the examples; column 0 is the constant."""
    counts = Counter(name for example in examples for name in extract(example))
    kept = [name for name, count in counts.items() if count >= FEWEST]
    return {name: column for column, name in enumerate(kept, 1)}


def learned(extract: Extractor, examples: Sequence[Example]) -> tuple[dict[str, int], Sparse]:
    """The vocabulary of training examples, and their matrix."""
    names = [list(extract(example)) for example in examples]
    known = vocabulary(iter, names)
    return known, matrix(iter, names, known)


def matrix(
    extract: Callable[[Item], Iterable[str]], examples: Sequence[Item], known: Mapping[str, int]
) -> Sparse:
    """The known features of each example, as rows of length 1 (Euclid)."""
    columns: list[int] = []
    starts = [0]
    for example in examples:
        columns.append(0)
        columns += [known[name] for name in extract(example) if name in known]
        starts.append(len(columns))
    bounds = np.array(starts, dtype=np.intp)
    return Sparse(bounds, np.array(columns, dtype=np.intp), np.diff(bounds) ** -0.5, len(known) + 1)
