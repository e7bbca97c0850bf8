"""How a system's answers to a diagnostic set are spread: confusions, and the two directions of a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from operator import eq
from typing import Any, NamedTuple

from gluebench.scoring.intervals import Interval, wilson
from gluebench.scoring.metrics.counts import ClassScore, label_scores
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import fields_of, rounded
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
        kinds = []
        for labels, (gold, answers) in self.kinds.items():
            kinds.append({"labels": list(labels), "gold": gold, "answers": answers})
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
    def classes(self) -> tuple[ClassScore, ...]:
        """The scores of each label, in the order of `labels`."""
        return tuple(label_scores(self.labels, self.counts).values())

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: gold label to answer to count."""
        values = {}
        for gold, row in zip(self.labels, self.counts, strict=True):
            values[gold] = dict(zip(self.labels, row, strict=True))
        return values

    def cell_records(self) -> Iterator[dict[str, object]]:
        """A record for each cell: gold label, answer, count, and as n the gold label's examples."""
        for gold, row in zip(self.labels, self.counts, strict=True):
            for answer, count in zip(self.labels, row, strict=True):
                yield {"measure": "count", "gold": gold, "answer": answer, "value": count, "n": sum(row)}

    @classmethod
    def of(cls, values: Mapping[str, Mapping[str, int]]) -> Confusion:
        """The table whose `as_dict` gave these values."""
        labels = tuple(values)
        counts = []
        for gold in labels:
            counts.append(tuple(values[gold][answer] for answer in labels))
        return cls(labels, tuple(counts))


def directions_of(pairs: Pairs, *, mirrored: str | None = None) -> Directions | None:
    """How the two directions of each pair agree; None where the gold has no groups of two.

    `mirrored` is the label that must hold in both directions, as contradiction.
    """
    gold: list[tuple[int, int]] = []
    answers: list[tuple[int, int]] = []
    for places in places_of(pairs.groups or ()).values():
        if len(places) == 2:
            forward, backward = places
            gold.append((pairs.gold.codes[forward], pairs.gold.codes[backward]))
            answers.append((pairs.predicted.codes[forward], pairs.predicted.codes[backward]))
    if not gold:
        return None

    labels = pairs.gold.labels
    mirrored_code = -1  # no label's
    if mirrored is not None:
        mirrored_code = labels.index(mirrored)
    right: Counter[int] = Counter()
    alike = []
    apart = []
    one_way = []
    for of_gold, answered in zip(gold, answers, strict=True):
        right[sum(map(eq, of_gold, answered))] += 1
        answered_alike = answered[0] == answered[1]
        if of_gold[0] == of_gold[1]:
            alike.append(answered_alike)
        else:
            apart.append(not answered_alike)
        if mirrored_code in answered:
            one_way.append(not answered_alike)

    # The two labels of a pair in no order of directions.
    in_gold = Counter(tuple(sorted(codes)) for codes in gold)
    in_answers = Counter(tuple(sorted(codes)) for codes in answers)
    kinds = {}
    for codes in combinations_with_replacement(range(len(labels)), 2):
        if in_gold[codes] or in_answers[codes]:
            kinds[labels[codes[0]], labels[codes[1]]] = (in_gold[codes], in_answers[codes])
    return Directions(
        both=Share(right[2], len(gold)),
        one=Share(right[1], len(gold)),
        neither=Share(right[0], len(gold)),
        alike=Share(sum(alike), len(alike)),
        apart=Share(sum(apart), len(apart)),
        mirrored=mirrored,
        one_way=Share(sum(one_way), len(one_way)),
        kinds=kinds,
        unpaired=len(pairs) - 2 * len(gold),
    )
