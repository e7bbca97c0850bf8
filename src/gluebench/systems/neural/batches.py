"""Batches of examples of like lengths, so that little is spent on padding."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from gluebench.systems.neural.body import Body

POOL = 50
"""Batches that are drawn at random together and then sorted by length."""


def batches(
    prepared: Sequence[Any], body: Body, *, size: int, rng: random.Random, bucketed: bool = True
) -> Iterator[tuple[list[int], Any]]:
    """Positions and collated batch, for all prepared items once, in an order drawn from `rng`.

    The whole order is drawn before the first batch is collated: the generator then stands where the next
    pass begins, however many batches are taken.
    """
    for positions in plan([body.lengths(item) for item in prepared], size=size, rng=rng, bucketed=bucketed):
        yield positions, body.collate([prepared[position] for position in positions])


def plan(
    lengths: Sequence[tuple[int, ...]], *, size: int, rng: random.Random, bucketed: bool = True
) -> list[list[int]]:
    """Positions of each batch: shuffled, or (bucketed) like lengths together and the batches shuffled.

    Every batch has `size` positions but one, which has what is left over.
    """
    order = list(range(len(lengths)))
    rng.shuffle(order)
    if not bucketed:
        return _cut(order, size)
    found = [batch for pool in _cut(order, POOL * size) for batch in _alike(pool, lengths, size=size)]
    rng.shuffle(found)
    return found


def _alike(pool: list[int], lengths: Sequence[tuple[int, ...]], *, size: int) -> list[list[int]]:
    """Batches of one pool, by the first text's length in strips, and within each by the second's."""
    by_first = sorted(pool, key=lambda position: lengths[position])
    strips = max(1, round((len(pool) / size) ** 0.5)) if len(lengths[pool[0]]) > 1 else 1
    width = size * -(-len(pool) // (size * strips))
    sorted_strips = [
        sorted(strip, key=lambda position: lengths[position][::-1]) for strip in _cut(by_first, width)
    ]
    return [batch for strip in sorted_strips for batch in _cut(strip, size)]


def _cut(positions: list[int], size: int) -> list[list[int]]:
    return [positions[start : start + size] for start in range(0, len(positions), size)]
