"""Holm's adjustment of p-values for their number."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values adjusted for their number, in the order given (Holm 1979).

    The smallest is multiplied by how many there are, the next by one less, and so on; none may
    fall below the one before it, and none exceeds 1.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    floor = 0.0
    for rank, position in enumerate(sorted(range(count), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (count - rank) * p_values[position]))
        adjusted[position] = floor
    return tuple(adjusted)
