"""MRPC's shape: reports of one event told twice, or of two events that differ in a fact or a role."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from sample.events import EVENTS, Lexicon
from sample.frame import Row, Shelf, Splits, shares

NOT, PARAPHRASE = "0", "1"
_EXCHANGED = 0.25
"""Share of the other pairs in which two parties change places; in the rest one to three facts differ."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write 68 % paraphrases; test on new things, names and wordings."""
    shelf = Shelf(rng)
    return {
        split: shelf.thin(
            partial(_block, Lexicon(rng, fresh=split == "test")), shares(size, PARAPHRASE, 0.68, other=NOT)
        )
        for split, size in sizes.items()
    }


def _block(lexicon: Lexicon) -> list[Row]:
    """Tell an event twice, and a second event beside one that nearly agrees with it."""
    name = lexicon.rng.choice(sorted(EVENTS))
    same, one = lexicon.event(name), lexicon.event(name)
    other = one
    if lexicon.rng.random() < _EXCHANGED:
        other = one.exchanged()
    else:
        for role in lexicon.rng.sample(sorted(one.facts), lexicon.rng.choice((1, 2, 3))):
            other = lexicon.changed(other, role)
    rows = [
        Row((lexicon.report(same), lexicon.report(same)), PARAPHRASE),
        Row((lexicon.report(one), lexicon.report(other)), NOT),
    ]
    return [] if any(len(set(row.inputs)) == 1 for row in rows) else rows
