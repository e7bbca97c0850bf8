"""Drawing the examples that people label, and putting them in an order that tells nothing.

Both directions of a sentence pair are labelled, each for itself, so they must stand far apart: one in the
first half of a sheet, the other in the second, a quarter of the sheet between them. Numbers tell nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gluebench.data import DataError, Table
from gluebench.data.show import entries, rows
from gluebench.scoring.report import fields_of

SCHEMA = "gluebench.annotation/1"


@dataclass(frozen=True, slots=True)
class Draw:
    """What was drawn: for whoever runs the study, not for annotators, since an index tells the direction."""

    benchmark: str
    task: str
    split: str
    seed: int
    annotators: int
    pairs: tuple[tuple[int, int], ...]
    """The two items of each pair; items are numbered from 1, in no order that says anything."""
    items: tuple[int, ...]
    """The index of each item in its split, item 1 first."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {"schema": SCHEMA, **fields_of(self)}


def pairs_of(table: Table) -> list[tuple[int, int]]:
    """Indices of the sentence pairs that stand in the split in both directions, one after the other."""
    found = (entry.rows for entry in entries(rows(table), paired=True))
    return [(each[0].index, each[1].index) for each in found if len(each) == 2]


def draw(table: Table, *, benchmark: str, pairs: int, annotators: int, seed: int) -> Draw:
    """So many pairs by chance: the same for the same data and seed. Raises DataError if there are too few."""
    whole = pairs_of(table)
    if pairs > len(whole):
        where = f"{table.task.name} {table.split}"
        raise DataError([f"{where}: {len(whole)} pairs stand in both directions; {pairs} cannot be drawn"])
    rng = random.Random(seed)
    drawn = rng.sample(whole, pairs)
    numbers = rng.sample(range(1, 2 * pairs + 1), 2 * pairs)
    numbered = list(zip(numbers[::2], numbers[1::2], strict=True))
    index = {
        number: at
        for pair, two in zip(drawn, numbered, strict=True)
        for at, number in zip(pair, two, strict=True)
    }
    items = tuple(index[number] for number in sorted(index))
    return Draw(benchmark, table.task.name, table.split, seed, annotators, tuple(numbered), items)


def sheet_order(drawn: Draw, annotator: int) -> list[int]:
    """The item numbers as that annotator (from 1) meets them: everybody in an order of their own.

    Which direction comes first is a coin's choice for each pair.
    """
    rng = random.Random(f"{drawn.seed}/{annotator}")
    order = [pair if rng.random() < 0.5 else pair[::-1] for pair in drawn.pairs]
    rng.shuffle(order)
    quarters = [order[: len(order) // 2], order[len(order) // 2 :]]
    return [pair[side] for side in (0, 1) for quarter in quarters for pair in _shuffled(quarter, rng)]


def _shuffled(pairs: Sequence[tuple[int, int]], rng: random.Random) -> list[tuple[int, int]]:
    return rng.sample(list(pairs), len(pairs))
