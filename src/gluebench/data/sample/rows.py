"""What the generators make, and how blocks of it fill a split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeVar


class Row(NamedTuple):
    """One example: the input columns in the manifest's order, the label as the files write it."""

    inputs: tuple[str, ...]
    label: str
    group: str = ""
    """What examples that are not independent share; written to the gold's metadata where the task has any."""


Splits = dict[str, list[Row]]
"""Split name to its examples, in file order."""
Generator = Callable[[Random, Mapping[str, int]], Splits]
"""Makes every split of a task, of the sizes given."""
Form = TypeVar("Form")
Block = Callable[[], Sequence[Row]]
"""Draws a few examples that belong together: the same words under every label."""


class Shelf:
    """Takes blocks of new text only: no input stands twice in a task, and a block is never divided."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._seen: set[tuple[str, ...]] = set()

    def draw(self, block: Block, at_least: int) -> list[Row]:
        """Rows of whole blocks, until there are enough. Raises ValueError when blocks repeat themselves."""
        rows: list[Row] = []
        tries = 0
        while len(rows) < at_least:
            tries += 1
            if tries > 100 * at_least + 1000:
                raise ValueError(f"only {len(rows)} of {at_least} different examples could be made")
            drawn = block()
            inputs = {row.inputs for row in drawn}
            if len(inputs) == len(drawn) and not inputs & self._seen:
                self._seen |= inputs
                rows += drawn
        return rows

    def fill(self, block: Block, size: int) -> list[Row]:
        """Exactly `size` rows of whole blocks, shuffled. Raises ValueError if blocks do not divide it."""
        rows = self.draw(block, size)
        if len(rows) != size:
            raise ValueError(f"blocks of {len(rows) - size} too many rows do not divide {size}")
        self.rng.shuffle(rows)
        return rows

    def thin(self, block: Block, wanted: Mapping[str, int]) -> list[Row]:
        """As many rows of each label as wanted, from blocks that hold every label equally often, shuffled."""
        most = max(wanted.values())
        rows = self.draw(block, most * len(wanted))
        kept: list[Row] = []
        for label, count in wanted.items():
            kept += self.rng.sample([row for row in rows if row.label == label], count)
        self.rng.shuffle(kept)
        return kept


def wordings(forms: Sequence[Form], *, fresh: bool) -> Sequence[Form]:
    """The wordings of one meaning that a split may use: about a quarter stand in test splits only."""
    return forms if fresh else forms[: len(forms) - max(1, len(forms) // 4)]


def shares(size: int, label: str, share: float, *, other: str) -> dict[str, int]:
    """How many rows of two labels make `size`, the first with that share."""
    first = round(size * share)
    return {label: first, other: size - first}
