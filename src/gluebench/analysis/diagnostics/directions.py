"""The two directions of a pair: whether what a system says of one agrees with what it says of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluebench.scoring.intervals import wilson
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of, rounded


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many pairs, with the 95 % interval (Wilson's) of the share."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; None of no pairs."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its ends; None of no pairs."""
        if not self.of:
            return None
        bar = wilson(self.count, self.of)
        return None if bar.low is None or bar.high is None else (bar.low, bar.high)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        low, high = self.interval or (None, None)
        ends = {"low": rounded(low), "high": rounded(high)}
        return {**fields_of(self), "value": rounded(self.value), **ends}


class Directions(NamedTuple):
    """What a system makes of pairs that stand in both directions (section 4 of the paper)."""

    both: Share
    """Pairs with both directions right."""
    one: Share
    """Pairs with exactly one direction right."""
    neither: Share
    alike: Share
    """Of the pairs with one label in both directions: those answered alike both ways, right or wrong."""
    apart: Share
    """Of the pairs whose directions have two labels: those answered differently, right or wrong. A system
    that does not see which sentence is the premise has 0 here."""
    one_way: Share
    """Of the pairs with `mirrored` somewhere in the answers: those that have it in one direction alone, which
    cannot be right whatever the gold says."""
    mirrored: str | None
    """The label that holds in both directions or in none, as a contradiction; None if there is no such."""
    kinds: Mapping[tuple[str, str], tuple[int, int]]
    """Two labels, in no order of directions, to how many pairs have them in gold and in the answers."""
    unpaired: int
    """Examples that are not one of exactly two in their group, and are left out here."""

    def shares(self) -> dict[str, Share]:
        """The shares by name."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, Share)}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        kinds = [
            {"labels": list(labels), "gold": gold, "answers": answers}
            for labels, (gold, answers) in self.kinds.items()
        ]
        return {**fields_of(self._replace(kinds={})), "kinds": kinds}


class _Pair(NamedTuple):
    """The codes of a pair's two examples."""

    gold: tuple[int, int]
    answers: tuple[int, int]

    @property
    def right(self) -> int:
        return sum(gold == answer for gold, answer in zip(self.gold, self.answers, strict=True))


def _answered_apart(pairs: Sequence[_Pair]) -> Share:
    return Share(sum(pair.answers[0] != pair.answers[1] for pair in pairs), len(pairs))


def directions_of(pairs: Pairs, *, mirrored: str | None = None) -> Directions | None:
    """How the two directions of each pair agree; None where the gold has no groups of two.

    `mirrored` is the label that must hold in both directions, as contradiction.
    """
    both_ways = _pairs(pairs)
    if not both_ways:
        return None
    labels = pairs.gold.labels
    right = Counter(pair.right for pair in both_ways)
    same = [pair for pair in both_ways if pair.gold[0] == pair.gold[1]]
    differ = [pair for pair in both_ways if pair.gold[0] != pair.gold[1]]
    code = labels.index(mirrored) if mirrored is not None else -1
    with_it = [pair for pair in both_ways if code in pair.answers]
    return Directions(
        both=Share(right[2], len(both_ways)),
        one=Share(right[1], len(both_ways)),
        neither=Share(right[0], len(both_ways)),
        alike=Share(sum(pair.answers[0] == pair.answers[1] for pair in same), len(same)),
        apart=_answered_apart(differ),
        mirrored=mirrored,
        one_way=_answered_apart(with_it),
        kinds=_kinds(both_ways, labels),
        unpaired=len(pairs) - 2 * len(both_ways),
    )


def _pairs(pairs: Pairs) -> list[_Pair]:
    members: dict[int, list[int]] = {}
    for position, group in enumerate(pairs.groups or ()):
        members.setdefault(group, []).append(position)
    gold, answers = pairs.gold.codes, pairs.predicted.codes
    return [
        _Pair((gold[a], gold[b]), (answers[a], answers[b]))
        for a, b in (tuple(each) for each in members.values() if len(each) == 2)
    ]


def _kinds(both_ways: list[_Pair], labels: tuple[str, ...]) -> dict[tuple[str, str], tuple[int, int]]:
    """In the order of the labels; what occurs in neither is left out."""
    gold = Counter(tuple(sorted(pair.gold)) for pair in both_ways)
    answers = Counter(tuple(sorted(pair.answers)) for pair in both_ways)
    return {
        (labels[first], labels[second]): (gold[first, second], answers[first, second])
        for first in range(len(labels))
        for second in range(first, len(labels))
        if gold[first, second] or answers[first, second]
    }
