"""Rank sets of a board from what the grader decided about its pairs. Independent of Django."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Count = list[int] | str
"""Of a system: how many others are better and how many worse; or why it was not tested."""


def counts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, list[Count]]]:
    """Yield each score that `analysis.board.rank_all` decided about, with the counts by position."""
    for score, sets in result["sets"].items():
        tested = sum(low is not None for low in sets["low"])
        counts: list[Count] = list(sets["withheld"])
        for at, low in enumerate(sets["low"]):
            if low is not None:
                counts[at] = [low - 1, tested - sets["high"][at]]
        yield score, counts


def rank_set(count: Sequence[int], ranked: int) -> tuple[int, int]:
    """The ends of a rank set, from the numbers of better and of worse systems among so many ranked ones.

    Ranked systems that were not tested may be better or worse than any other, so that the observed rank
    always lies within.
    """
    better, worse = count
    return 1 + better, ranked - worse
