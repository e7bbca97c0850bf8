"""What the generators make, and how blocks of it fill a split.

A block is a list of rows that are drawn together and hold every label equally often. A `Shelf` puts whole
blocks into splits; no example stands twice.
"""

from __future__ import annotations

import re
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
Block = Callable[[], Sequence[Row]]
"""Draws a few examples that belong together. No rows mean that a label was missing: another draw is made."""
Form = TypeVar("Form")
_LONG, _FEW = 12, 8
"""From this length on, a list is dealt like a pack of cards, where so few are drawn."""
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def words(text: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def normalized(inputs: Sequence[str]) -> tuple[str, ...]:
    """The inputs without case and punctuation: two rows that agree in it are duplicates."""
    return tuple(" ".join(words(text)) for text in inputs)


class Dealer(Random):
    """Random draws that deal long lists like packs of cards, so that every word gets its turn."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._packs: dict[tuple[int, str, str], list[int]] = {}

    def choice(self, seq: Sequence[Form]) -> Form:  # type: ignore[override]
        """An element; of a long list, one that has not been drawn since the list was last used up."""
        return super().choice(seq) if len(seq) < _LONG else self._deal(seq, 1)[0]

    def sample(self, population: Sequence[Form], k: int, *, counts: None = None) -> list[Form]:  # type: ignore[override]
        """The same for several different elements."""
        if len(population) < _LONG or not 0 < k <= _FEW:
            return super().sample(population, k)
        return self._deal(population, k)

    def _deal(self, words: Sequence[Form], count: int) -> list[Form]:
        pack = self._packs.setdefault((len(words), str(words[0]), str(words[-1])), [])
        if len(pack) < count:
            pack[:] = super().sample(range(len(words)), len(words))
        dealt, pack[:] = pack[-count:], pack[:-count]
        return [words[at] for at in dealt]


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
            if tries > 1000 * at_least + 10000:
                raise ValueError(f"only {len(rows)} of {at_least} different examples could be made")
            drawn = block()
            inputs = {normalized(row.inputs) for row in drawn}
            if drawn and len(inputs) == len(drawn) and not inputs & self._seen:
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
