"""MRPC's shape: reports of one event told twice, or of two events that differ in a fact or a role."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shelf, Splits, shape, shares, wordings
from sample.world import (
    CATEGORIES,
    DAYS,
    DEEDS_ON,
    MONTHS,
    NUMBERS,
    PEOPLE,
    SPOTS,
    SURNAMES,
    TOWNS,
    Deed,
    Noun,
    T,
    a,
    seen,
    sentence,
    unseen,
)

NOT, PARAPHRASE = "0", "1"
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
EVENTS: Mapping[str, Mapping[str, Any]] = _DATA["events"]
"""Event to its roles, the two that may change places, and its wordings."""
OPENINGS: Sequence[str] = _DATA["openings"]
_MASS = tuple(kind.name for category in CATEGORIES.values() if category.mass for kind in category.kinds)
_GOODS = tuple(kind for name in _DATA["goods"] for kind in CATEGORIES[name].kinds)


def _third(items: Sequence[T], *, fresh: bool) -> tuple[T, ...]:
    """Return the third of a list that training has, or the rest."""
    return tuple(item for place, item in enumerate(items) if (place % 3 > 0) == fresh)


DEEDS_DONE = {
    fresh: tuple(
        (deed, kind)
        for name in _DATA["handled"]
        for kind in _third(CATEGORIES[name].kinds, fresh=fresh)
        for deed in DEEDS_ON[name]
        if deed.same and deed.verb.base in _DATA["deeds"]["tested" if fresh else "trained"]
    )
    for fresh in (False, True)
}
"""What can be done to what in public, where there are two verbs for it: in training and in test."""


class Report(NamedTuple):
    """An event: role to what fills it, and the deed where there is one."""

    event: str
    facts: Mapping[str, str]
    deed: Deed | None = None


class Lexicon(NamedTuple):
    """What a split is written with: training has a third of things and verbs, test the rest and new names."""

    rng: Random
    fresh: bool

    def some(self, items: Sequence[T]) -> T:
        """Draw from the quarter that is held out or from the rest."""
        return self.rng.choice(unseen(items) if self.fresh else seen(items))

    def filler(self, role: str) -> str:
        """Draw what fills a role of this type."""
        if role == "person":
            return f"{self.some(PEOPLE)} {self.some(SURNAMES)}"
        if role in ("kind", "kinds"):
            kind: Noun = self.rng.choice(_third(_GOODS, fresh=self.fresh))
            return kind.name if role == "kind" else kind.plural
        if role == "mass":
            return self.rng.choice(_third(_MASS, fresh=self.fresh))
        if role == "town":
            return self.some(TOWNS)
        if role in _DATA["fillers"]:
            fillers: Sequence[str] = _DATA["fillers"][role]
            return self.rng.choice(fillers if self.fresh else seen(fillers))
        lists = {"number": NUMBERS[2:], "day": DAYS, "month": MONTHS, "spot": SPOTS}
        items: Sequence[str] = lists.get(role, NUMBERS[2:])
        return self.rng.choice(items)

    def report(self, event: str) -> Report:
        """Draw an event of this type; what fills two of its roles differs."""
        while True:
            deed, kind = self.rng.choice(DEEDS_DONE[self.fresh])
            facts = {
                name: kind.name if role == "deed" else self.filler(role)
                for name, role in EVENTS[event]["roles"].items()
            }
            if len(set(facts.values())) == len(facts):
                return Report(event, facts, deed if "deed" in EVENTS[event]["roles"].values() else None)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write 68 % paraphrases; test on new things, verbs, names and wordings."""
    shelf = Shelf(rng)
    return {
        split: _even(shelf, Lexicon(rng, fresh=split == "test"), shares(size, PARAPHRASE, 0.68, other=NOT))
        for split, size in sizes.items()
    }


def _even(shelf: Shelf, lexicon: Lexicon, wanted: Mapping[str, int]) -> list[Row]:
    """Choose rows so that whatever can be seen of a pair goes with each label equally often."""
    pools: defaultdict[tuple[int, ...], dict[str, list[Row]]] = defaultdict(lambda: {NOT: [], PARAPHRASE: []})
    for row in shelf.draw(lambda: _block(lexicon), 9 * sum(wanted.values())):
        pools[_look(row)][row.label].append(row)
    rows: dict[str, list[Row]] = {NOT: [], PARAPHRASE: []}
    for pool in pools.values():
        size = min(map(len, pool.values()))
        for label, drawn in pool.items():
            rows[label] += lexicon.rng.sample(drawn, size)
    chosen = [row for label, count in wanted.items() for row in lexicon.rng.sample(rows[label], count)]
    lexicon.rng.shuffle(chosen)
    return chosen


def _look(row: Row) -> tuple[int, ...]:
    """Return what can be seen of a pair without understanding it, in coarse steps."""
    first, second, longest, words, pairs, triples, *_ = shape(*row.inputs)
    return (longest, words * 12 // (first + second - words), pairs // 2, triples // 2, (first - second) // 5)


def _block(lexicon: Lexicon) -> list[Row]:
    """Tell two reports that nearly agree in two wordings: two paraphrases and two pairs that are none."""
    event = lexicon.rng.choice(sorted(EVENTS))
    one = lexicon.report(event)
    two = _changed(lexicon, one)
    first, second = lexicon.rng.sample(wordings(EVENTS[event]["wordings"], fresh=lexicon.fresh), 2)
    opening = lexicon.rng.choice(wordings(OPENINGS, fresh=lexicon.fresh))
    openings = [lexicon.rng.choice(("", opening)), ""]
    lexicon.rng.shuffle(openings)
    verbs = [lexicon.rng.random() < 0.5 for _ in range(2)]
    rows = []
    for here, there in ((one, one), (two, two), (one, two), (two, one)):
        texts = (
            sentence(openings[0] + _told(here, first, other=verbs[0])),
            sentence(openings[1] + _told(there, second, other=verbs[1])),
        )
        rows.append(Row(texts, PARAPHRASE if here == there else NOT))
    return rows


def _told(report: Report, wording: str, *, other: bool) -> str:
    """Write the report in the wording, with the deed's verb or the other one for it."""
    fields = dict(report.facts)
    if "kind" in fields:
        fields["a_kind"] = a(fields["kind"])
    if report.deed:
        verb = report.deed.same if other and report.deed.same else report.deed.verb
        fields |= {"past": verb.past, "participle": verb.participle}
    return wording.format(**fields)


def _changed(lexicon: Lexicon, report: Report) -> Report:
    """Return the report with two parties exchanged, with another deed, or with one other fact."""
    one, two = EVENTS[report.event]["exchange"]
    facts = report.facts
    if lexicon.rng.random() < 0.6:
        return report._replace(facts={**facts, one: facts[two], two: facts[one]})
    while True:
        other = lexicon.report(report.event)
        role = lexicon.rng.choice(sorted(facts))
        if report.deed and role == "kind":
            if (deed := _other_deed(lexicon, report)) is not None:
                return report._replace(deed=deed)
        elif other.facts[role] not in facts.values():
            return report._replace(facts={**facts, role: other.facts[role]})


def _other_deed(lexicon: Lexicon, report: Report) -> Deed | None:
    """Draw another deed that is done to the same thing, or none if there is none."""
    known = {
        deed
        for deed, kind in DEEDS_DONE[lexicon.fresh]
        if kind.name == report.facts["kind"] and deed != report.deed
    }
    return lexicon.rng.choice(sorted(known)) if known else None
