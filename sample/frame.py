"""What the generators make, and how balanced blocks of it fill a split.

A block is a list of rows that belong together and hold every label equally often over the same words. `even`
says whether its labels also have the same `shape`: overlap, longest match, common runs of words, lengths and
negations of the two texts. A generator draws blocks until one is even, and a `Shelf` puts whole blocks into
splits, none of whose texts stands twice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
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
"""Draws a few examples that belong together. No rows mean that the draw was not balanced: another is made."""
Form = TypeVar("Form")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_NEGATIONS = frozenset(
    (
        *("not", "no", "none", "nobody", "nothing", "neither", "nor", "never", "cannot", "without"),
        *("hardly", "few", "fewer", "less", "least"),
    )
)


def words(text: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def normalized(inputs: Sequence[str]) -> tuple[str, ...]:
    """The inputs without case and punctuation: two rows that agree in it are duplicates."""
    return tuple(" ".join(words(text)) for text in inputs)


Shape = tuple[int, ...]
"""What can be seen of a pair of texts without understanding them; equal shapes look alike."""


def shape(first: str, second: str, *, places: bool = False) -> Shape:
    """Lengths, longest common run, words common in order, common words, pairs and triples, negations.

    With `places`, also where the longest common run stands, and common runs of four letters.
    """
    one, two = words(first), words(second)
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    match = matcher.find_longest_match()
    in_order = sum(each.size for each in matcher.get_matching_blocks())
    shared = (len(_runs(one, size) & _runs(two, size)) for size in (1, 2, 3))
    negations = (sum(word in _NEGATIONS for word in text) for text in (one, two))
    where = (match.a, match.b, len(_pieces(first) & _pieces(second))) if places else ()
    return (len(one), len(two), match.size, in_order, *shared, *negations, *where)


def _pieces(text: str) -> set[str]:
    return {text.lower()[at : at + 4] for at in range(len(text))}


def _runs(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[at : at + size]) for at in range(len(text) - size + 1)}


def even(rows: Sequence[Row], *, places: bool = False) -> bool:
    """Whether every label has the same shapes."""
    by_label: defaultdict[str, list[Shape]] = defaultdict(list)
    for row in rows:
        by_label[row.label].append(shape(*row.inputs[:2], places=places))
    first, *others = (sorted(shapes) for shapes in by_label.values())
    return all(first == other for other in others)


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
