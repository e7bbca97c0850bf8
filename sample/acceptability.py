"""CoLA's shape: blocks in which every word stands as often in acceptable sentences as in others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from sample import arguments, forms
from sample.frame import Row, Shelf, Splits, shares
from sample.grammar import WORDS, Writer
from sample.world import sentence

GOOD, BAD = "1", "0"
_FAMILIES = (*forms.FAMILIES, *arguments.FAMILIES)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write train and dev with at most one modifier, test with up to two and new words; 70 % acceptable."""
    shelf = Shelf(rng)
    depths = {"train": (0, 0, 0, 1), "dev": (0, 0, 0, 1), "test": (0, 0, 1, 2)}
    return {
        split: shelf.thin(
            partial(_block, Writer(rng, split == "test", depths[split])), shares(size, GOOD, 0.7, other=BAD)
        )
        for split, size in sizes.items()
    }


def _block(writer: Writer) -> list[Row]:
    family = writer.rng.choice(_FAMILIES)
    good, bad = family(writer)
    opening = "" if "?" in good[0] + good[1] else writer.some(WORDS["openings"])
    return [
        Row((sentence(opening + text),), label)
        for texts, label in ((good, GOOD), (bad, BAD))
        for text in texts
    ]
