"""Rank sets of a board from what the grader decided about its pairs. Independent of Django."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NO_SCORE = "it has no such score"
Count = list[int] | str
"""Of a system: how many others are better and how many worse; or why it was not tested."""


def counts_of(result: Mapping[str, Any]) -> Iterator[tuple[str, list[Count]]]:
    """Yield each score that `analysis.board.rank_all` decided about, with the counts by position."""
    from gluebench.analysis.rank import packed

    mean = result["boards"][""]["rules"]["mean"]
    usual = {
        "low": [place["rank_low"] for place in mean["places"]],
        "withheld": [mean["withheld"]] * len(mean["places"]),
    }
    size = len(result["names"])
    for score, better in result["decisions"].items():
        sets = usual if score == "" else result["sets"][score]
        tested = [at for at, low in enumerate(sets["low"]) if low is not None]
        part = packed.restrict(packed.unpack_decisions(better, size), tested)
        counts: list[Count] = [reason or NO_SCORE for reason in sets["withheld"]]
        for at, low, high in zip(tested, part.low, part.high, strict=True):
            counts[at] = [low - 1, len(tested) - high]
        yield score, counts


def rank_set(count: Sequence[int], ranked: int) -> tuple[int, int]:
    """The ends of a rank set, from the numbers of better and of worse systems among so many ranked ones.

    Ranked systems that were not tested may be better or worse than any other, so that the observed rank
    always lies within.
    """
    better, worse = count
    return 1 + better, ranked - worse
