"""Score against cost: which systems nobody beats on both (Ethayarajh and Jurafsky 2020)."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(
    scores: Sequence[float | None], costs: Sequence[Sequence[float | None]]
) -> list[bool | None]:
    """Whether each system is on the front: none has as high a score at as low a cost and is better in one.

    `costs` has a row for each system, lower being better: parameters, latency. None for a system that
    lacks its score or one of its costs; it beats nobody. Raises ValueError for lengths that differ.
    """
    points = [
        None if score is None or None in row else (-score, *(cost for cost in row if cost is not None))
        for score, row in zip(scores, costs, strict=True)
    ]
    known = [point for point in points if point is not None]
    return [None if point is None else not any(_beats(other, point) for other in known) for point in points]


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(mine <= yours for mine, yours in zip(one, other, strict=True))
