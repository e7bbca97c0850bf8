"""QNLI's shape: two sentences on one event, each answering one of two questions about it.

Every question and every sentence stands once under each label, and half of the sentences that do not answer
name a thing of the kind that is asked for (a day, a place) that belongs to something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import ACTIONS, DAYS, GOODS, NUMBERS, PEOPLE, PLACES, Action, Kind, sentence

ENTAILMENT, NOT = "entailment", "not_entailment"


class Event(NamedTuple):
    """Somebody did something to a thing."""

    person: str
    action: Action
    kind: Kind
    helper: str
    stranger: str
    """Somebody who had no part in it."""


class Slot(NamedTuple):
    """One further fact of an event: how it is told, how it is asked for, how it is told of something else."""

    told: str
    asked: str
    elsewhere: str


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """All splits alike, both labels equally often."""
    shelf = Shelf(rng)
    return {split: shelf.fill(lambda: _block(rng), size) for split, size in sizes.items()}


def _block(rng: Random) -> list[Row]:
    person, helper, stranger = rng.sample(PEOPLE, 3)
    event = Event(person, rng.choice(ACTIONS), rng.choice(GOODS), helper, stranger)
    one, two = (make(rng, event) for make in rng.sample((_when, _where, _helped, _cost), 2))
    stray = rng.random() < 0.5
    told = [
        _told(rng, event, slot, other.elsewhere if stray else "") for slot, other in ((one, two), (two, one))
    ]
    asked = [_asked(event, slot) for slot in (one, two)]
    return [
        Row((asked[question], told[answer]), ENTAILMENT if question == answer else NOT)
        for question in (0, 1)
        for answer in (0, 1)
    ]


def _told(rng: Random, event: Event, slot: Slot, stray: str) -> str:
    """One sentence that gives the slot, and perhaps a like fact of another event."""
    past, participle = rng.choice(((event.action.past, event.action.participle), event.action.same[1:]))
    person, thing = event.person, event.kind.name
    templates = (
        f"{person} {past} the {thing} {slot.told}",
        f"the {thing} was {participle} {slot.told} by {person}",
        f"it was {slot.told} that {person} {past} the {thing}",
        f"the {thing} that {person} {past} {slot.told} is still there",
        f"everybody knows that the {thing} was {participle} by {person} {slot.told}",
    )
    return sentence(rng.choice(templates) + stray)


def _asked(event: Event, slot: Slot) -> str:
    text = slot.asked.format(person=event.person, base=event.action.base, thing=event.kind.name)
    return sentence(text + "?")


def _when(rng: Random, event: Event) -> Slot:
    day, other = rng.sample(DAYS, 2)
    asked = rng.choice(("when did {person} {base} the {thing}", "which day did {person} {base} the {thing}"))
    return Slot(
        f"on {day}",
        asked,
        rng.choice((f", but left again on {other}", f", and {event.stranger} came on {other}")),
    )


def _where(rng: Random, event: Event) -> Slot:
    place, other = rng.sample(PLACES, 2)
    asked = rng.choice(
        ("where did {person} {base} the {thing}", "where exactly did {person} {base} the {thing}")
    )
    return Slot(
        place,
        asked,
        rng.choice((f", while {event.stranger} was {other}", f", and not a word was said {other}")),
    )


def _helped(rng: Random, event: Event) -> Slot:
    asked = rng.choice(
        (
            "who assisted when {person} had to {base} the {thing}",
            "whose help did {person} need to {base} the {thing}",
        )
    )
    return Slot(f"together with {event.helper}", asked, f", and {event.stranger} stayed alone")


def _cost(rng: Random, event: Event) -> Slot:
    amount, other = rng.sample(NUMBERS[3:], 2)
    asked = rng.choice(
        (
            "how much did {person} spend to {base} the {thing}",
            "what sum did {person} need to {base} the {thing}",
        )
    )
    return Slot(
        f"for {amount} pieces of silver", asked, f", and {event.stranger} earned {other} pieces of silver"
    )
