"""MNLI's shape: one hypothesis with a premise for each label.

In dev, test and half of training, the three premises are one premise whose fillers have changed places, and
they look alike: nothing but who or what stands where tells the labels apart. The other half of training has
premises of one sentence, as the diagnostic set has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from sample.families import FAMILIES
from sample.frame import Row, Shelf, Splits
from sample.logic import crossed, singles
from sample.style import Style

_DEPTHS = {False: (3,), True: (3, 4)}
_TRIES = 3000


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Matched test has deeper premises than training; mismatched ones other words and wordings as well."""
    shelf = Shelf(rng)
    splits: Splits = {}
    for split, size in sizes.items():
        style = Style("mismatched" in split)
        depths = _DEPTHS[split.startswith("test")]
        short = size // 6 * 3 if split == "train" else 0
        rows = shelf.fill(lambda: _single(rng), short)
        rows += shelf.fill(partial(_crossed, rng, style, depths), size - short)
        rng.shuffle(rows)
        splits[split] = rows
    return splits


def _crossed(rng: Random, style: Style, depths: Sequence[int]) -> list[Row]:
    """A block of one family: families are equally frequent, however rarely their draws are even."""
    family = rng.choice(FAMILIES)
    drafts = (family(rng, style, rng.choice(depths)) for _ in range(_TRIES))
    return next(filter(None, (crossed(rng, draft) for draft in drafts)), [])


def _single(rng: Random) -> list[Row]:
    """Three premises of one sentence for one hypothesis."""
    return singles(rng, rng.choice(FAMILIES)(rng, Style(False), 6))
