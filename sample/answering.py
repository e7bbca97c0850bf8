"""QNLI's shape: questions, each with a sentence that answers it and one that nearly does.

A block has two sentences on the same two events and four questions. Each sentence tells one fact of one event
and another fact of the other, so each answers two of the questions: every question and every sentence stands
equally often under both labels, and answers look like what does not answer (`frame.even`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import NamedTuple

from sample.frame import Row, Shelf, Splits, even, wordings
from sample.world import (
    ADVERBS,
    CATEGORIES,
    COUNTRIES,
    DAYS,
    KIN,
    MONTHS,
    PEOPLE,
    SPOTS,
    SURNAMES,
    TOWNS,
    TRADES,
    TRAITS,
    Verb,
    a,
    seen,
    sentence,
    some_deed,
    unseen,
)

ENTAILMENT, NOT = "entailment", "not_entailment"
_TRIES = 200


class Event(NamedTuple):
    """Somebody did something to a thing."""

    person: str
    verb: Verb
    thing: str
    was: str
    described: str
    """The person as the sentence speaks of her or him: "Anna Keller, a retired baker,"."""


class Slot(NamedTuple):
    """One further fact of an event: what may fill it and how it is asked for."""

    fillers: tuple[str, ...]
    asked: tuple[str, ...]


_UNINTENDED = ("lose", "misplace", "drop", "spill", "inherit", "miss", "damage", "break", "find")
"""Nobody does these on purpose, with help, or more eagerly than ever."""
_DOES = "did {person} {base} the {thing}"
_WAS = "{was} the {thing} {participle} by {person}"
_SLOTS = (
    Slot(
        tuple(f"on a {day} in {month}" for day in DAYS for month in MONTHS),
        (f"when {_DOES}", f"which day {_DOES}", f"how long ago {_DOES}", f"when {_WAS}"),
    ),
    Slot(
        tuple(f"{spot} near {town}" for spot in SPOTS if spot.count(" ") == 2 for town in TOWNS[::3]),
        (f"where {_DOES}", f"where exactly {_DOES}", f"whereabouts {_DOES}", f"where {_WAS}"),
    ),
    Slot(
        tuple(f"with help from {a(trade.name)}" for trade in TRADES),
        (
            "who helped {person} to {base} the {thing}",
            "who assisted when {person} {past} the {thing}",
            "who gave {person} a hand to {base} the {thing}",
            "by whom was {person} helped to {base} the {thing}",
        ),
    ),
    Slot(
        (
            *("to please all the neighbours", "because the law required it", "out of boredom and spite"),
            *("for the sake of peace", "to impress a strict jury", "because of the bad weather"),
            *("to win a small prize", "for fear of local burglars", "to raise money for charity"),
            *(f"to raise money for {country}" for country in COUNTRIES if " " not in country),
            *(f"to please a demanding {relative}" for relative in KIN),
            *(f"to impress a visiting {trade.name}" for trade in TRADES[::6]),
            *("because of an old promise", "in order to save time", "because of a silly bet"),
        ),
        (f"why {_DOES}", f"for what reason {_DOES}", f"why exactly {_DOES}", f"why {_WAS}"),
    ),
    Slot(
        tuple(f"more {adverb} than ever before" for adverb in ADVERBS),
        (f"how {_DOES}", f"in what manner {_DOES}", f"in what way {_DOES}", f"how {_WAS}"),
    ),
)
"""All fillers have five words, so that lengths tell nothing."""
_JOINED = (
    "{0}, whereas {1}",
    "{0}, but {1}",
    "{0}, and we also read that {1}",
    "according to the local paper, {0}, and according to a letter, {1}",
    "the diary says that {0}; on another page it says that {1}",
    "it is known that {0}, while of another matter we are told that {1}",
)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Both labels equally often; a quarter of the people and wordings are in the test split only."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, rng, fresh=split == "test"), size) for split, size in sizes.items()
    }


def _block(rng: Random, *, fresh: bool) -> list[Row]:
    """Four questions with both sentences, or nothing if answers look different."""
    for _ in range(_TRIES):
        one, two = _events(rng, fresh=fresh)
        slot, other = rng.sample(_SLOTS, 2)
        ask, ask_other = (rng.choice(wordings(each.asked, fresh=fresh)) for each in (slot, other))
        fillers, other_fillers = rng.sample(slot.fillers, 2), rng.sample(other.fillers, 2)
        joint = rng.choice(wordings(_JOINED, fresh=fresh))
        first = _told(joint, (one, fillers[0]), (two, other_fillers[0]))
        second = _told(joint, (one, other_fillers[1]), (two, fillers[1]))
        rows = [
            Row((_asked(way, event), text), ENTAILMENT if answers else NOT)
            for way, event, answered in (
                (ask, one, first),
                (ask, two, second),
                (ask_other, one, second),
                (ask_other, two, first),
            )
            for text, answers in ((first, answered is first), (second, answered is second))
        ]
        if even(rows, close=True):
            return rows
    return []


def _events(rng: Random, *, fresh: bool) -> tuple[Event, Event]:
    """Two events of different people, verbs and things."""
    part = unseen if fresh else seen
    names, surnames = rng.sample(part(PEOPLE), 2), rng.sample(part(SURNAMES), 2)
    events = []
    for name, surname in zip(names, surnames, strict=True):
        deed, kind = some_deed(rng, mass=True)
        while deed.verb.base in _UNINTENDED:
            deed, kind = some_deed(rng, mass=True)
        verb = rng.choice([deed.verb, deed.same or deed.verb])
        many = rng.random() < 0.5 and kind.plural != kind.name
        person = f"{name} {surname}"
        trait, trade = rng.choice(TRAITS), rng.choice(TRADES).name
        qualities = [each for each in CATEGORIES[kind.category].qualities if each != verb.participle]
        thing = f"{rng.choice(qualities)} {kind.plural if many else kind.name}"
        events.append(
            Event(person, verb, thing, "were" if many else "was", f"{person}, {a(f'{trait} {trade}')},")
        )
    return events[0], events[1]


def _told(joint: str, *facts: tuple[Event, str]) -> str:
    """A sentence that tells both facts."""
    clauses = [f"{event.described} {event.verb.past} the {event.thing} {filler}" for event, filler in facts]
    return sentence(joint.format(*clauses))


def _asked(wording: str, event: Event) -> str:
    return sentence(
        wording.format(person=event.person, thing=event.thing, was=event.was, **event.verb._asdict()) + "?"
    )
