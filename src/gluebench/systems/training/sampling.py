"""Which task the next update is of, which of its examples, and what its loss counts for."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gluebench.systems.neural.model import Body
from gluebench.systems.training.settings import Settings

Item = TypeVar("Item")
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


def sampling_weights(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to its weight in the draws, from its number of training examples."""
    return _counted(examples, settings.sampling, settings.batch_size)


def loss_scales(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to the factor of its loss: the largest task's batches (or examples) over its own."""
    if settings.scaling == "none":
        return dict.fromkeys(examples, 1.0)
    counts = _counted(examples, settings.scaling, settings.batch_size)
    return {name: max(counts.values()) / count for name, count in counts.items()}


def _counted(examples: Mapping[str, int], kind: str, batch_size: int) -> dict[str, float]:
    if kind == "examples":
        return {name: float(count) for name, count in examples.items()}
    return {name: float(batch_count(count, batch_size)) for name, count in examples.items()}


def batch_count(examples: int, batch_size: int) -> int:
    """Batches of one pass, the last one as large as what is left."""
    return -(-examples // batch_size)


class _Draws(ABC, Generic[Item]):
    """An endless stream of draws, made many at a time; a saved state gives the same draws again."""

    def __init__(self, seed: str) -> None:
        self._rng = random.Random(seed)
        self._before = self._rng.getstate()
        self._drawn: list[Item] = []
        self._next = 0

    @abstractmethod
    def _new(self) -> list[Item]:
        """The next draws, from the generator."""

    def next(self) -> Item:
        """The next draw."""
        if self._next == len(self._drawn):
            self._draw()
        self._next += 1
        return self._drawn[self._next - 1]

    def state(self) -> dict[str, Any]:
        """Where the draws stand, for `restore`."""
        return {"before": self._before, "drawn": bool(self._drawn), "next": self._next}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was taken."""
        self._rng.setstate(state["before"])
        self._drawn = []
        if state["drawn"]:
            self._draw()
        self._next = state["next"]

    def _draw(self) -> None:
        self._before = self._rng.getstate()
        self._drawn = self._new()
        self._next = 0


class TaskSampler(_Draws[str]):
    """Draws tasks in proportion to their weights, many at a time, with replacement."""

    def __init__(self, weights: Mapping[str, float], *, seed: int, at_once: int = 10_000) -> None:
        super().__init__(f"{seed}/tasks")
        self._weights = weights
        self._at_once = at_once

    def _new(self) -> list[str]:
        return self._rng.choices(tuple(self._weights), tuple(self._weights.values()), k=self._at_once)


class BatchStream(_Draws[list[int]]):
    """Batches of one task without end: every example once in each pass, in a new order each time.

    A draw is the positions of the examples of a batch.
    """

    def __init__(
        self, name: str, lengths: Sequence[tuple[int, ...]], *, size: int, seed: int, bucketed: bool
    ) -> None:
        super().__init__(f"{seed}/batches/{name}")
        self._lengths = lengths
        self._size = size
        self._bucketed = bucketed

    def _new(self) -> list[list[int]]:
        return plan(self._lengths, size=self._size, rng=self._rng, bucketed=self._bucketed)
