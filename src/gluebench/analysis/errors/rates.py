"""How often each system is wrong: over all examples, and by what they are like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from gluebench.analysis.errors.cases import Case, CaseFile
from gluebench.scoring.intervals import Bar, Group, grouped_wilson, proportion_bar

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
    found = [_rate(OVERALL, "", file.cases, len(file.systems))]
    for kind, name, of in _groups(file):
        cases = [case for case in file.cases if of(case)]
        if cases:
            found.append(_rate(kind, name, cases, len(file.systems)))
    return found


class _Part(NamedTuple):
    kind: str
    name: str
    of: Callable[[Case], bool]


def _groups(file: CaseFile) -> Iterator[_Part]:
    for word in file.task.words:
        yield _Part("label", word, _equal(attrgetter("gold"), word))
    for low, high in length_bands([case.length for case in file.cases]):
        yield _Part("length", _words(low, high), _between(low, high))
    if len(file.task.columns) == 2:
        for band in range(BANDS):
            name = f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %"
            yield _Part("overlap", name, _equal(lambda case: overlap_band(case.overlap), band))
    for column in file.task.metadata:
        for value in dict.fromkeys(case.about[column] for case in file.cases if column in case.about):
            yield _Part(column, value, _said(column, value))
    for phenomenon in file.task.phenomena:
        yield _Part("phenomenon", phenomenon.name, _tagged(phenomenon.name))


def _equal(of: Callable[[Case], object], value: object) -> Callable[[Case], bool]:
    return lambda case: of(case) == value


def _between(low: int, high: int) -> Callable[[Case], bool]:
    return lambda case: low <= case.length <= high


def _said(column: str, value: str) -> Callable[[Case], bool]:
    return lambda case: case.about.get(column) == value


def _tagged(name: str) -> Callable[[Case], bool]:
    return lambda case: name in case.phenomena


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
    bars = tuple(_bar(cases, system, count) for system, count in enumerate(wrong))
    return Rate(kind, name, len(cases), wrong, bars)


def _bar(cases: Sequence[Case], system: int, wrong: int) -> Bar:
    if any(case.group is not None for case in cases):
        return grouped_wilson(_hits(cases, system))
    return proportion_bar(wrong, len(cases))


def _hits(cases: Iterable[Case], system: int) -> list[Group]:
    found: dict[int | None, Group] = {}
    for case in cases:
        hits, size = found.get(case.group, (0, 0))
        found[case.group] = Group(hits + case.wrong[system], size + 1)
    return list(found.values())
