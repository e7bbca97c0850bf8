"""Events in the news, and reports on them: MRPC tells them twice, RTE draws conclusions from them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import wordings
from sample.world import (
    CATEGORIES,
    DAYS,
    MONTHS,
    NUMBERS,
    PEOPLE,
    SURNAMES,
    TOWNS,
    T,
    a,
    seen,
    sentence,
    unseen,
)

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
EVENTS: Mapping[str, Mapping[str, Any]] = _DATA["events"]
"""Event to its roles, the two that may change places, its wordings, and what follows from it."""
OPENINGS: Sequence[str] = _DATA["openings"]
_GOODS = tuple(kind for name in _DATA["goods"] for kind in CATEGORIES[name].kinds)
_FILLERS: Mapping[str, Sequence[str]] = {
    "town": TOWNS,
    "day": DAYS,
    "month": MONTHS,
    "number": NUMBERS[2:],
    "kind": tuple(kind.name for kind in _GOODS),
    "kinds": tuple(kind.plural for kind in _GOODS),
    "mass": tuple(kind.name for each in CATEGORIES.values() if each.mass for kind in each.kinds),
    "high": NUMBERS[11:],
    "low": NUMBERS[2:11],
    **_DATA["fillers"],
}
"""What may fill a role of each type."""
_ALL = ("day", "month", "number", "high", "low")
"""Lists of which no part is held out."""


class Event(NamedTuple):
    """What happened."""

    name: str
    facts: Mapping[str, str]
    """Role to what fills it."""

    def exchanged(self) -> Event:
        """The same with two parties in each other's place."""
        one, two = EVENTS[self.name]["exchange"]
        return self._replace(facts={**self.facts, one: self.facts[two], two: self.facts[one]})

    def told(self, wording: str) -> str:
        """The event, or a part of it, in a wording."""
        kind = self.facts.get("kind")
        return wording.format(**self.facts, a_kind=a(kind) if kind else "")


class Lexicon(NamedTuple):
    """What a split is written with: test has new names, things and wordings."""

    rng: Random
    fresh: bool

    def some(self, items: Sequence[T]) -> T:
        """Draw from the quarter that is held out or from the rest."""
        return self.rng.choice(unseen(items) if self.fresh else seen(items))

    def wording(self, forms: Sequence[str]) -> str:
        """Draw a wording that the split uses."""
        return self.rng.choice(wordings(forms, fresh=self.fresh))

    def filler(self, kind: str) -> str:
        """Draw what fills a role of this type."""
        if kind == "person":
            return f"{self.some(PEOPLE)} {self.some(SURNAMES)}"
        if kind in _ALL:
            return self.rng.choice(_FILLERS[kind])
        return self.some(_FILLERS[kind])

    def event(self, name: str) -> Event:
        """Draw an event of this name; what fills two of its roles differs."""
        while True:
            facts = {role: self.filler(kind) for role, kind in EVENTS[name]["roles"].items()}
            if len(set(facts.values())) == len(facts):
                return Event(name, facts)

    def changed(self, event: Event, role: str) -> Event:
        """The event with another filler in a role."""
        while True:
            filler = self.filler(EVENTS[event.name]["roles"][role])
            if filler not in event.facts.values():
                return event._replace(facts={**event.facts, role: filler})

    def report(self, event: Event) -> str:
        """One sentence that tells the event, sometimes with where it was heard."""
        opening = self.wording(OPENINGS) if self.rng.random() < 0.3 else ""
        return sentence(opening + event.told(self.wording(EVENTS[event.name]["wordings"])))
