"""Which task the next update is of, and which of its examples."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from gluebench.systems.neural.batches import plan


def batch_count(examples: int, batch_size: int) -> int:
    """Batches of one pass, the last one as large as what is left."""
    return -(-examples // batch_size)


class TaskSampler:
    """Draws tasks in proportion to their weights, many at a time, with replacement."""

    def __init__(self, weights: Mapping[str, float], *, seed: int, at_once: int = 10_000) -> None:
        self._names = tuple(weights)
        self._weights = tuple(weights.values())
        self._rng = random.Random(f"{seed}/tasks")
        self._at_once = at_once
        self._before = self._rng.getstate()
        self._drawn: list[str] = []
        self._next = 0

    def next(self) -> str:
        """The task of the next update."""
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
        self._drawn = self._rng.choices(self._names, self._weights, k=self._at_once)
        self._next = 0


class BatchStream:
    """Batches of one task without end: every example once in each pass, in a new order each time."""

    def __init__(
        self, name: str, lengths: Sequence[tuple[int, ...]], *, size: int, seed: int, bucketed: bool
    ) -> None:
        self._lengths = lengths
        self._size = size
        self._bucketed = bucketed
        self._rng = random.Random(f"{seed}/batches/{name}")
        self._before = self._rng.getstate()
        self._planned: list[list[int]] = []
        self._next = 0

    def next(self) -> list[int]:
        """Positions of the examples of the next batch."""
        if self._next == len(self._planned):
            self._plan()
        self._next += 1
        return self._planned[self._next - 1]

    def state(self) -> dict[str, Any]:
        """Where the stream stands, for `restore`."""
        return {"before": self._before, "drawn": bool(self._planned), "next": self._next}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was taken."""
        self._rng.setstate(state["before"])
        self._planned = []
        if state["drawn"]:
            self._plan()
        self._next = state["next"]

    def _plan(self) -> None:
        self._before = self._rng.getstate()
        self._planned = plan(self._lengths, size=self._size, rng=self._rng, bucketed=self._bucketed)
        self._next = 0
