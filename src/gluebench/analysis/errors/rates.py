"""How often each system is wrong: over all examples, and by what they are like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gluebench.analysis.errors.cases import Case, CaseFile
from gluebench.scoring.intervals import Bar, share_bar

OVERALL = "overall"
BANDS = 5


class Rate(NamedTuple):
    """Errors of the systems in one group of examples; shares are fractions."""

    kind: str
    """OVERALL, "label", "length", "overlap", "phenomenon", or a column of the metadata."""
    name: str
    n: int
    wrong: tuple[int, ...]
    """Of each system."""
    bars: tuple[Bar, ...]
    """95 % interval of each system's share, or why there is none."""

    def share(self, system: int) -> float:
        """The share that it has wrong."""
        return self.wrong[system] / self.n


def rates(file: CaseFile) -> list[Rate]:
    """The share of wrong answers over all, then by label, length, overlap, metadata and phenomenon.

    Intervals are Wilson's, wider where examples come in groups. Groups without an example are left out.
    """
    systems = len(file.systems)
    parts = ((kind, name, cases) for kind, name, cases in _parts(file) if cases)
    return [
        _rate(OVERALL, "", file.cases, systems),
        *(_rate(kind, name, cases, systems) for kind, name, cases in parts),
    ]


def _parts(file: CaseFile) -> Iterator[tuple[str, str, list[Case]]]:
    """Kind, name and cases of every group."""
    cases = file.cases
    for word in file.task.words:
        yield "label", word, [case for case in cases if case.gold == word]
    for low, high in length_bands([case.length for case in cases]):
        yield "length", _words(low, high), [case for case in cases if low <= case.length <= high]
    if len(file.task.columns) == 2:
        for band in range(BANDS):
            name = f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %"
            yield "overlap", name, [case for case in cases if overlap_band(case.overlap) == band]
    for column in file.task.metadata:
        for value in dict.fromkeys(case.about[column] for case in cases if column in case.about):
            yield column, value, [case for case in cases if case.about.get(column) == value]
    for phenomenon in file.task.phenomena:
        yield "phenomenon", phenomenon.name, [case for case in cases if phenomenon.name in case.phenomena]


def _words(low: int, high: int) -> str:
    return f"{low} words" if low == high else f"{low} to {high} words"


def length_bands(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """At most five ranges of words, first and last included, that hold about equally many examples each."""
    order = sorted(lengths)
    if not order:
        return []
    ends = sorted({order[max(0, len(order) * part // BANDS - 1)] for part in range(1, BANDS + 1)})
    starts = [order[0], *(end + 1 for end in ends[:-1])]
    return list(zip(starts, ends, strict=True))


def overlap_band(share: float | None) -> int | None:
    """The fifth that an overlap falls in, from 0; all words shared belongs to the last."""
    return None if share is None else min(int(share * BANDS + 1e-9), BANDS - 1)


def _rate(kind: str, name: str, cases: Sequence[Case], systems: int) -> Rate:
    wrong = tuple(sum(case.wrong[system] for case in cases) for system in range(systems))
    groups = [case.group for case in cases if case.group is not None] or None
    bars = tuple(share_bar([case.wrong[system] for case in cases], groups) for system in range(systems))
    return Rate(kind, name, len(cases), wrong, bars)
