"""MNLI's shape: everyday scenes with three hypotheses each, and statements with three premises each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from sample import logic, scenes
from sample.frame import Row, Shelf, Splits
from sample.statements import FAMILIES, Writer

_SCENES = 0.6
"""Share of examples from everyday scenes."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """The mismatched sections have other scenes, things, names and wordings than training."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, rng, fresh="mismatched" in split), size)
        for split, size in sizes.items()
    }


def _block(rng: Random, *, fresh: bool) -> list[Row]:
    """One example of each label; families are equally frequent, however rarely a draw has all three."""
    rows: list[Row] = []
    everyday, family = rng.random() < _SCENES, rng.choice(FAMILIES)
    while not rows:
        rows = scenes.block(rng, fresh=fresh) if everyday else logic.block(rng, family(Writer(rng, fresh)))
    return rows
