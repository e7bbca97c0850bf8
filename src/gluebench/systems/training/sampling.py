"""Sampling of tasks and examples for each update, and scaling of losses."""

import random
from collections.abc import Iterator, Mapping, Sequence

from gluebench.systems.training.settings import Settings

POOL = 50
"""Batches that are drawn at random together and then sorted by length."""


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
    planned = [batch for pool in _cut(order, POOL * size) for batch in _alike(pool, lengths, size=size)]
    rng.shuffle(planned)
    return planned


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


def batch_count(examples: int, batch_size: int) -> int:
    """Batches of one pass, the last one as large as what is left."""
    return -(-examples // batch_size)


def sampling_weights(examples: Mapping[str, int], settings: Settings) -> dict[str, int]:
    """Task to its weight in the draws, from its number of training examples."""
    if settings.sampling == "examples":
        return dict(examples)
    return {name: batch_count(count, settings.batch_size) for name, count in examples.items()}


def loss_scales(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to the factor of its loss: the largest task's batches (or examples) over its own."""
    if settings.scaling == "none":
        return dict.fromkeys(examples, 1.0)
    size = 1 if settings.scaling == "examples" else settings.batch_size
    counts = {name: batch_count(count, size) for name, count in examples.items()}
    return {name: max(counts.values()) / count for name, count in counts.items()}


def task_draws(weights: Mapping[str, float], *, seed: int, at_once: int = 10_000) -> Iterator[str]:
    """Tasks in proportion to their weights, many at a time, with replacement, without end."""
    rng = random.Random(f"{seed}/tasks")
    names, chances = tuple(weights), tuple(weights.values())
    while True:
        yield from rng.choices(names, chances, k=at_once)


def batch_draws(
    name: str, lengths: Sequence[tuple[int, ...]], *, size: int, seed: int, bucketed: bool
) -> Iterator[list[int]]:
    """Batches of one task, as positions: every example once in each pass, in a new order each time."""
    rng = random.Random(f"{seed}/batches/{name}")
    while True:
        yield from plan(lengths, size=size, rng=rng, bucketed=bucketed)
