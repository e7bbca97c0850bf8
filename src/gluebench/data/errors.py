"""Errors in files of examples, with all problems together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

SHOWN = 20
"""Problems of one file that a message shows in full; the rest are counted."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class DataError(ValueError):
    """Examples that cannot be used; the message has a line for each problem."""

    def __init__(self, problems: str | Sequence[str], *, shown: int | None = SHOWN) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        """Each names the file, the line or value, and what was expected."""
        lines = self.problems[:shown]
        more = len(self.problems) - len(lines)
        super().__init__("\n".join([*lines, f"... and {more} more"] if more else lines))


def gather(function: Callable[[Item], Result], items: Iterable[Item]) -> tuple[list[Result], list[str]]:
    """The results for the items, and the problems of every DataError."""
    results, problems = [], []
    for item in items:
        try:
            results.append(function(item))
        except DataError as error:
            problems += error.problems
    return results, problems


def gathered(function: Callable[[str, Item], Result], items: Mapping[str, Item]) -> dict[str, Result]:
    """The result for each named item. Raises DataError with the problems of all of them."""
    results, problems = gather(lambda name: function(name, items[name]), items)
    if problems:
        raise DataError(problems)
    return dict(zip(items, results, strict=True))
