"""How a system's answers to a diagnostic set are spread: confusions, and the two directions of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from operator import eq
from typing import Any, NamedTuple

from gluebench.scoring.intervals import Interval, wilson
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import ClassScore, fields_of, rounded
from gluebench.scoring.tags import places_of


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
    def interval(self) -> Interval | None:
        """Its ends; None of no pairs."""
        return wilson(self.count, self.of).interval if self.of else None

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


class Confusion(NamedTuple):
    """How often each gold label was answered by each label, on some examples."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """`counts[gold][answer]`, both in the order of `labels`."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(map(sum, self.counts))

    @property
    def gold(self) -> tuple[int, ...]:
        """Examples of each gold label."""
        return tuple(map(sum, self.counts))

    @property
    def answered(self) -> tuple[int, ...]:
        """Examples answered by each label."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def classes(self) -> tuple[ClassScore, ...]:
        """The scores of each label, in the order of `labels`."""
        sizes = zip(self.gold, self.answered, strict=True)
        return tuple(ClassScore.of(self.counts[code][code], *size) for code, size in enumerate(sizes))

    @property
    def recall(self) -> tuple[float | None, ...]:
        """Share of each gold label's examples that were answered by it; None for a label without examples."""
        return tuple(score.recall for score in self.classes)

    @property
    def precision(self) -> tuple[float | None, ...]:
        """Share of each label's answers that were right; None for a label never answered."""
        return tuple(score.precision for score in self.classes)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: gold label to answer to count."""
        return {
            gold: dict(zip(self.labels, row, strict=True))
            for gold, row in zip(self.labels, self.counts, strict=True)
        }

    def cells(self) -> Iterator[dict[str, object]]:
        """A record for each cell: gold label, answer, count, and as n the gold label's examples."""
        for gold, row, total in zip(self.labels, self.counts, self.gold, strict=True):
            for answer, count in zip(self.labels, row, strict=True):
                yield {"measure": "count", "gold": gold, "answer": answer, "value": count, "n": total}

    @classmethod
    def of(cls, values: Mapping[str, Mapping[str, int]]) -> Confusion:
        """The table whose `as_dict` gave these values."""
        return cls(tuple(values), tuple(tuple(row[answer] for answer in values) for row in values.values()))


def directions_of(pairs: Pairs, *, mirrored: str | None = None) -> Directions | None:
    """How the two directions of each pair agree; None where the gold has no groups of two.

    `mirrored` is the label that must hold in both directions, as contradiction.
    """
    places = [tuple(at) for at in places_of(pairs.groups or ()).values() if len(at) == 2]
    if not places:
        return None
    labels = pairs.gold.labels
    gold, answers = (
        [(codes[a], codes[b]) for a, b in places] for codes in (pairs.gold.codes, pairs.predicted.codes)
    )
    both_ways = list(zip(gold, answers, strict=True))
    right = Counter(sum(map(eq, *pair)) for pair in both_ways)
    same = [answer[0] == answer[1] for label, answer in both_ways if label[0] == label[1]]
    differ = [answer[0] != answer[1] for label, answer in both_ways if label[0] != label[1]]
    code = labels.index(mirrored) if mirrored is not None else -1
    with_it = [answer[0] != answer[1] for answer in answers if code in answer]
    kinds = [Counter(tuple(sorted(two)) for two in column) for column in (gold, answers)]
    return Directions(
        both=Share(right[2], len(both_ways)),
        one=Share(right[1], len(both_ways)),
        neither=Share(right[0], len(both_ways)),
        alike=Share(sum(same), len(same)),
        apart=Share(sum(differ), len(differ)),
        mirrored=mirrored,
        one_way=Share(sum(with_it), len(with_it)),
        kinds={
            (labels[first], labels[second]): (kinds[0][first, second], kinds[1][first, second])
            for first, second in combinations_with_replacement(range(len(labels)), 2)
            if kinds[0][first, second] or kinds[1][first, second]
        },
        unpaired=len(pairs) - 2 * len(both_ways),
    )
