"""The ids of a split's examples: listed in the manifest, or numbered by a pattern."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import overload

from gluebench.benchmark.reader import Section

ORDER = "order"
"""In place of ids: the order of the rows counts."""
_FIELD = r"\{(?::0?\d{1,2})?\}"
_TEXT = r"[^{}]{0,200}"
# Text with a non-digit stands between two numbers: without it, 1 and 11 would give the id of 11 and 1.
_PATTERN = re.compile(f"{_TEXT}{_FIELD}{_TEXT}|{_TEXT}{_FIELD}(?=[^{{}}]*[^{{}}0-9 ]){_TEXT}{_FIELD}{_TEXT}")
_LARGEST = 10**18
"""Of `first_id`: numbers of an id have at most 19 digits."""


@dataclass(frozen=True)
class NumberedIds(Sequence[str]):
    """Ids that a pattern numbers, each made when it is read: a short manifest may describe many rows.

    They are distinct.
    """

    pattern: str
    first: int
    counts: tuple[int, ...]
    """The number of examples of each group, or that of all where the pattern has one number."""

    @cached_property
    def _ends(self) -> list[int]:
        """For each group, the index after its last example."""
        return list(accumulate(self.counts))

    @property
    def _has_groups(self) -> bool:
        """Whether an id has the numbers of its group and of the example in it."""
        return self.pattern.count("{") == 2

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[str]:
        if not self._has_groups:
            for number in range(self.first, self.first + len(self)):
                yield self.pattern.format(number)
            return
        for group, count in enumerate(self.counts, self.first):
            for number in range(count):
                yield self.pattern.format(group, number)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(len(self))[index])
        position = range(len(self))[index]  # counts negative indices from the end, and raises IndexError
        if not self._has_groups:
            return self.pattern.format(self.first + position)
        group = bisect_right(self._ends, position)
        start = self._ends[group] - self.counts[group]
        return self.pattern.format(self.first + group, position - start)


def ids_of(split: Section) -> Sequence[str]:
    """The ids of a split: listed, or numbered by a pattern such as "ts_test_{:05}" or "P_{}_Q_{}"."""
    pattern = split.values.get("ids")
    if isinstance(pattern, list) and all(type(name) is int for name in pattern):
        return tuple(map(str, pattern))
    if not isinstance(pattern, str):
        return split.texts("ids")
    if pattern == ORDER:
        return ()
    counts = split.values.get("counts")
    if counts is None:
        numbers = 1
        expected = "a number"
    else:
        numbers = 2
        expected = "two numbers, with letters or signs between them,"
    if not _PATTERN.fullmatch(pattern) or pattern.count("{") != numbers:
        split.reject(
            "ids",
            f'"{pattern}" is not a pattern of {expected} in texts of up to 200 characters; '
            f'expected a list, "{ORDER}" or as "test_{{:05}}"',
        )
        return ()
    first = split.values.get("first_id", 0)
    if type(first) is not int or abs(first) > _LARGEST:
        split.reject("first_id", "expected an integer of at most 18 digits")
        return ()
    if counts is None:
        return NumberedIds(pattern, first, (split.count("size"),))
    if not isinstance(counts, list) or not all(type(count) is int and count >= 0 for count in counts):
        split.reject("counts", "expected the number of examples of each group: [2, 0, 3]")
        return ()
    return NumberedIds(pattern, first, tuple(counts))
