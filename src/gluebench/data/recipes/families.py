"""Drawing a dev set from pairs that come in families: one premise, one hypothesis, twin schemas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from random import Random


def drawn(keys: Sequence[tuple[Hashable, ...]], wanted: int, pairing: str, chance: Random) -> set[int]:
    """The places of up to `wanted` pairs for dev; the keys are premise, hypothesis and family.

    random: pair by pair. apart: no two of a premise, and each has another pair of its premise left over.
    together: pairs that share any key stay on one side.
    """
    order = chance.sample(range(len(keys)), len(keys))
    if pairing == "random":
        return set(order[:wanted])
    if pairing == "apart":
        return _apart([key[0] for key in keys], order, wanted)
    return _together(keys, order, wanted)


def _apart(premises: Sequence[Hashable], order: Sequence[int], wanted: int) -> set[int]:
    count = Counter(premises)
    used: set[Hashable] = set()
    chosen: set[int] = set()
    for place in order:
        premise = premises[place]
        if len(chosen) < wanted and count[premise] > 1 and premise not in used:
            used.add(premise)
            chosen.add(place)
    return chosen


def _together(keys: Sequence[tuple[Hashable, ...]], order: Sequence[int], wanted: int) -> set[int]:
    """Whole families in the drawn order, as long as they fit."""
    chosen: set[int] = set()
    families = _families(keys)
    seen: set[int] = set()
    for place in order:
        root = families[place]
        if root in seen:
            continue
        seen.add(root)
        family = {other for other, its in enumerate(families) if its == root}
        if len(chosen) + len(family) <= wanted:
            chosen |= family
    return chosen


def _families(keys: Sequence[tuple[Hashable, ...]]) -> list[int]:
    """For each pair the first of its family: those linked, through others perhaps, by a key in common."""
    parent = list(range(len(keys)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[int, Hashable], int] = {}
    for place, key in enumerate(keys):
        for column, value in enumerate(key):
            if value != "":
                one, other = sorted((root(first.setdefault((column, value), place)), root(place)))
                parent[other] = one
    return [root(place) for place in range(len(keys))]
