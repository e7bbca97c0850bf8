"""Rank sets of a board from what the grader decided about its pairs. Independent of Django."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NO_SCORE = "it has no such score"
Count = list[int] | str
"""Of a system: how many others are better and how many worse; or why it was not tested."""


def counts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, list[Count]]]:
    """Yield each score that `analysis.board.rank_all` decided about, with the counts by position.

    The rank sets of a score are those among the systems that were tested on it.
    """
    mean = result["boards"][""]["rules"]["mean"]
    places = mean["places"]
    usual = {
        "low": [place["rank_low"] for place in places],
        "high": [place["rank_high"] for place in places],
        "withheld": [mean["withheld"]] * len(places),
    }
    for score in result["decisions"]:
        sets = usual if score == "" else result["sets"][score]
        tested = len(sets["low"]) - sets["low"].count(None)
        counts: list[Count] = []
        for low, high, reason in zip(sets["low"], sets["high"], sets["withheld"], strict=True):
            counts.append((reason or NO_SCORE) if low is None else [low - 1, tested - high])
        yield score, counts


def rank_set(count: Sequence[int], ranked: int) -> tuple[int, int]:
    """The ends of a rank set, from the numbers of better and of worse systems among so many ranked ones.

    Ranked systems that were not tested may be better or worse than any other, so that the observed rank
    always lies within.
    """
    better, worse = count
    return 1 + better, ranked - worse
