"""Where to cut a batch of sentences, sorted by length, so that an LSTM spends least on padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def groups(lengths: Sequence[int], *, step: int | None) -> list[int]:
    """The bounds of the cheapest groups, from 0 to the number of sentences.

    A group costs its longest length times (its sentences + step): `step` is what one time step costs beside
    the sentences' own work, in sentences. With None nothing is cut.
    """
    if step is None:
        return [0, len(lengths)]
    # only where the length changes can a cut save anything
    bounds = [0, *(at for at, (one, two) in enumerate(pairwise(lengths), 1) if one != two), len(lengths)]
    best: list[tuple[float, int]] = [(0, 0)]  # cost up to each bound, and where its last group begins
    for at, end in enumerate(bounds[1:], 1):
        width = lengths[end - 1]
        best.append(
            min((best[begin][0] + width * (end - bounds[begin] + step), begin) for begin in range(at))
        )
    cuts = [len(bounds) - 1]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return [bounds[cut] for cut in reversed(cuts)]
