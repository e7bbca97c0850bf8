"""The order of a board: standard competition ranking, where ties share a rank and no score has none."""

from __future__ import annotations

from collections.abc import Sequence


def competition_ranks(scores: Sequence[float | None]) -> list[int | None]:
    """The rank of each score, 1 for the highest: one more than the number of higher scores.

    None, an incomplete submission's score, has no rank and takes none from others.
    """
    first: dict[float, int] = {}
    for place, score in enumerate(_descending(scores), start=1):
        first.setdefault(score, place)
    return [None if score is None else first[score] for score in scores]


def board_order(scores: Sequence[float | None], *, lowest_first: bool = False) -> list[int]:
    """Positions from the highest score to the lowest, or turned round, then those without one.

    Ties keep their order.
    """
    sign = 1.0 if lowest_first else -1.0
    return sorted(range(len(scores)), key=lambda at: (scores[at] is None, sign * (scores[at] or 0.0)))


def best(scores: Sequence[float | None]) -> float | None:
    """The highest score of a column, or None where there is none to compare: fewer than two."""
    descending = _descending(scores)
    return descending[0] if len(descending) > 1 else None


def _descending(scores: Sequence[float | None]) -> list[float]:
    return sorted((score for score in scores if score is not None), reverse=True)
