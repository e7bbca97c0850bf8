"""RTE's shape, scarce: short news of two events, and a statement that follows from it or does not."""

from __future__ import annotations

import string
from collections.abc import Mapping
from functools import partial
from random import Random

from sample.events import EVENTS, Lexicon
from sample.frame import Row, Shelf, Splits
from sample.world import sentence

ENTAILMENT, NOT = "entailment", "not_entailment"
_DIRECTED = 0.6
"""Share of statements that say which of two parties did what."""
_EXCHANGED = 0.45
"""Share of these in which the parties have changed places, where the statement does not follow."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Labels equally often; people, things and a quarter of the wordings of test are new."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, Lexicon(rng, fresh=split == "test")), size)
        for split, size in sizes.items()
    }


def _block(lexicon: Lexicon) -> list[Row]:
    """News with a statement that follows, and other news with one that does not."""
    return [_row(lexicon, follows=True), _row(lexicon, follows=False)]


def _row(lexicon: Lexicon, *, follows: bool) -> Row:
    rng = lexicon.rng
    told, beside = (lexicon.event(name) for name in rng.sample(sorted(EVENTS), 2))
    reports = [lexicon.report(told), lexicon.report(beside)]
    rng.shuffle(reports)
    directed = rng.random() < _DIRECTED
    wording = lexicon.wording(EVENTS[told.name]["directed" if directed else "facts"])
    if not follows and directed and rng.random() < _EXCHANGED:
        told = told.exchanged()
    elif not follows:
        told = lexicon.changed(told, rng.choice(_named(wording)))
    return Row((" ".join(reports), sentence(told.told(wording))), ENTAILMENT if follows else NOT)


def _named(wording: str) -> list[str]:
    """The roles that a wording names."""
    return [name.removeprefix("a_") for _, name, _, _ in string.Formatter().parse(wording) if name]
