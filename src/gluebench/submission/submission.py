"""A submission as it was read: its predictions, its verdict and what was found."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from gluebench.benchmark import Benchmark, Role
from gluebench.submission.problems import Problem, Verdict


class Bits(NamedTuple):
    """A column of the codes 0 and 1 as one integer: counted and compared faster than bytes."""

    number: int
    """A set bit for each 1."""
    ones: int


@lru_cache(maxsize=16)
def bits(codes: bytes) -> Bits:
    """The codes 0 and 1 as bits; kept, since a file is looked at twice, and gold by every submission."""
    number = int.from_bytes(codes, "little")
    return Bits(number, number.bit_count())


Values: TypeAlias = "bytes | array[float] | tuple[Any, ...]"


@dataclass(frozen=True)
class Column:
    """One value per example: a label code, a number, or a cell of another form (`submission.forms`).

    Codes are bytes, 0 to len(labels) - 1, because the standard library counts and compares bytes at
    the speed of memory; `numpy.frombuffer` views codes and numbers without a copy.
    """

    labels: tuple[str, ...]
    """Label words in the order of their codes; empty for numbers and cells."""
    values: Values
    """Label codes, numbers, or hashable cells: a text, or a tuple of labels, tokens, numbers."""
    indices: array[int] | None = None
    """Index of each value, ascending; None when they are 0 to n - 1."""

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        form = "cells"
        if self.labels:
            form = f"labels: {', '.join(self.labels)}"
        elif isinstance(self.values, array):
            form = "numbers"
        return f"<Column of {len(self):,} {form}>"

    @property
    def row_indices(self) -> Sequence[int]:
        """The index of each value, ascending."""
        if self.indices is None:
            return range(len(self))
        return self.indices

    @property
    def codes(self) -> bytes:
        """The label codes. Raises TypeError for a column of another form."""
        values = self.values
        if not isinstance(values, bytes):
            raise TypeError(f"{self!r} has no label codes")
        return values

    @property
    def numbers(self) -> array[float]:
        """The numbers. Raises TypeError for a column of another form."""
        if not isinstance(self.values, array):
            raise TypeError(f"{self!r} has no numbers")
        return self.values

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells. Raises TypeError for a column of labels or numbers."""
        if not isinstance(self.values, tuple):
            raise TypeError(f"{self!r} has no cells")
        return self.values

    @property
    def constant(self) -> bool:
        """Whether all values are the same."""
        values = self.values
        if isinstance(values, bytes):
            return not values.strip(values[:1])
        return not len(values) or not any(map(values[0].__ne__, values))

    def within(self, low: float, high: float) -> bool:
        """Whether all numbers are from `low` to `high`."""
        numbers: Any = self.numbers
        if "numpy" in sys.modules:  # twenty times as fast, and slow to import
            numbers = sys.modules["numpy"].array(numbers)
            return bool(low <= numbers.min() and numbers.max() <= high)
        return bool(low <= min(numbers) and max(numbers) <= high)

    def words(self) -> list[str]:
        """The label words, in index order."""
        return [self.labels[code] for code in self.codes]

    def counts(self) -> tuple[int, ...]:
        """How often each label occurs, in the order of their codes."""
        codes = self.codes
        last = len(self.labels) - 1
        if last == 1:
            ones = bits(codes).ones
            return len(codes) - ones, ones
        counts = [len(codes) - len(codes.translate(None, bytes([code]))) for code in range(last)]
        counts.append(len(codes) - sum(counts))
        return tuple(counts)

    def take(self, indices: Sequence[int]) -> Column:
        """The values of these indices, of a column whose own indices are 0 to n - 1."""
        taken = map(self.values.__getitem__, indices)
        values: Values
        if isinstance(self.values, array):
            values = array("d", taken)
        elif isinstance(self.values, bytes):
            values = bytes(taken)
        else:
            values = tuple(taken)
        return Column(self.labels, values, array("q", indices))


def missing_files(benchmark: Benchmark, role: Role, there: Container[str]) -> tuple[str, ...]:
    """The test files of tasks of the macro-average that are not among those that are there."""
    return tuple(
        file.name
        for file in benchmark.files(role)
        if benchmark.task(file.task).averaged and file.name not in there
    )


@dataclass(frozen=True, slots=True)
class Submission:
    """Read, validated and never scored: nothing here has seen a label."""

    benchmark: Benchmark
    role: Role
    """The split that was predicted: "test" or "dev"."""
    source: str
    """What was read, as its author named it."""
    verdict: Verdict
    problems: tuple[Problem, ...]
    """All kinds of findings, at most `SHOWN_PER_FILE` errors for each file."""
    predictions: Mapping[str, Column]
    """Test-file name to its values, for the files without an error."""
    missing: tuple[str, ...] = ()
    """Test files of scored tasks that are absent."""
    unshown: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """File to the number of its findings beyond those in `problems`, by code."""
    tables: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Test-file name to the `tables.Table` of a file without errors, or none but those that were repaired."""

    def __repr__(self) -> str:
        count = len(self.predictions)
        files = "1 test file" if count == 1 else f"{count} test files"
        return f"<Submission {self.source} to {self.benchmark.name} {self.role}: {self.verdict}, {files}>"

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The findings that make it invalid."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    def as_dict(self) -> dict[str, Any]:
        """The verdict and findings as JSON-ready values; predictions are left out."""
        return {
            "benchmark": self.benchmark.name,
            "split": self.role,
            "source": self.source,
            "verdict": self.verdict,
            "missing": list(self.missing),
            "problems": [problem.as_dict() for problem in self.problems],
            "unshown": {name: dict(counts) for name, counts in self.unshown.items()},
        }
