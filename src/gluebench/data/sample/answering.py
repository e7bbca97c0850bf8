"""QNLI's shape: paragraphs of four to six sentences, each question with its answer and with a near miss.

A near miss is the sentence of the paragraph that shares most words with the question and has no answer to it.
Questions are kept in pairs on one event whose answers are each other's near misses, so that every question
and every sentence stands once under each label, and only where answers share as many words as near misses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, wordings
from gluebench.data.sample.world import ACTIONS, DAYS, GOODS, NUMBERS, PEOPLE, PLACES, Action, Kind, sentence
from gluebench.data.tokens import overlap

ENTAILMENT, NOT = "entailment", "not_entailment"
CLOSE = 0.05
"""How far apart the overlaps of answers and near misses may be."""


class Event(NamedTuple):
    """Somebody did something to a thing."""

    person: str
    action: Action
    kind: Kind


class Asked(NamedTuple):
    """A question and the number of the one sentence of the paragraph that answers it."""

    question: str
    answer: int
    event: Event


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Both labels equally often; a quarter of the wordings are in the test split only."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, rng, fresh=split == "test"), size) for split, size in sizes.items()
    }


def near_miss(asked: Asked, sentences: Sequence[str]) -> int:
    """Number of the sentence that shares most words with the question among those that do not answer it."""
    others = [number for number in range(len(sentences)) if number != asked.answer]
    return max(others, key=lambda number: overlap(asked.question, sentences[number]))


def _block(rng: Random, *, fresh: bool) -> list[Row]:
    """Two questions on one paragraph, each with its answer and its near miss."""
    while True:
        sentences, questions = _paragraph(rng, fresh=fresh)
        misses = [near_miss(asked, sentences) for asked in questions]
        pairs = [
            (one, two)
            for (one, miss), (two, other) in combinations(zip(questions, misses, strict=True), 2)
            if one.event == two.event
            and one.answer == other
            and two.answer == miss
            and _alike(one, two, sentences)
        ]
        if pairs:
            one, two = rng.choice(pairs)
            return [
                Row((asked.question, sentences[number]), ENTAILMENT if number == asked.answer else NOT)
                for asked in (one, two)
                for number in (one.answer, two.answer)
            ]


def _alike(one: Asked, two: Asked, sentences: Sequence[str]) -> bool:
    """Whether the two answers share about as many words with the questions as the two near misses."""
    right = sorted(overlap(asked.question, sentences[asked.answer]) for asked in (one, two))
    wrong = sorted(
        overlap(asked.question, sentences[other.answer]) for asked, other in ((one, two), (two, one))
    )
    return all(abs(first - second) <= CLOSE for first, second in zip(right, wrong, strict=True))


def _paragraph(rng: Random, *, fresh: bool) -> tuple[list[str], list[Asked]]:
    """Two sentences on each of two or three events, and a question for each sentence.

    Each tells one slot of its event and the other slot of something else, so that both are in all sentences.
    """
    person, other, third = rng.sample(PEOPLE, 3)
    first, second = rng.sample(ACTIONS, 2)
    kind, different = rng.sample(GOODS, 2)
    events = rng.sample(
        (
            Event(person, first, kind),
            Event(person, second, kind),
            Event(other, first, kind),
            Event(person, first, different),
        ),
        rng.choice((2, 3)),
    )
    pair = rng.sample(_SLOTS, 2)
    sentences: list[str] = []
    questions: list[Asked] = []
    for event, (slot, other_slot) in rng.sample(
        [(event, way) for event in events for way in (pair, pair[::-1])], 2 * len(events)
    ):
        questions.append(Asked(_asked(rng, event, slot, fresh=fresh), len(sentences), event))
        sentences.append(_told(rng, event, slot, _Aside(third, other_slot), fresh=fresh))
    return sentences, questions


class Slot(NamedTuple):
    """One further fact of an event: what may fill it, how it is told and how it is asked for."""

    fillers: tuple[str, ...]
    told: str
    asked: tuple[str, ...]


class _Aside(NamedTuple):
    """A slot of what somebody else did meanwhile."""

    person: str
    slot: Slot


_DOES = "did {person} {base} the {thing}"
_SLOTS = (
    Slot(
        DAYS,
        "on {}",
        (
            *(f"when {_DOES}", f"which day {_DOES}", f"on what day {_DOES}", f"on which weekday {_DOES}"),
            "when was it that {person} {past} the {thing}",
            "when was the {thing} {participle} by {person}",
            *(
                "what day was the {thing} {participle} by {person}",
                "by {person}, when was the {thing} {participle}",
            ),
        ),
    ),
    Slot(
        PLACES,
        "{}",
        (
            *(
                f"where {_DOES}",
                f"where exactly {_DOES}",
                f"at what place {_DOES}",
                f"in which place {_DOES}",
            ),
            "where was it that {person} {past} the {thing}",
            "where was the {thing} {participle} by {person}",
            *("in what spot was the {thing} {participle} by {person}", "whereabouts " + _DOES),
        ),
    ),
    Slot(
        PEOPLE,
        "together with {}",
        (
            *("who assisted when {person} had to {base} the {thing}", f"with whose help {_DOES}"),
            *("whose help did {person} need to {base} the {thing}", f"together with whom {_DOES}"),
            *(
                "who was with {person} to {base} the {thing}",
                "who joined in when {person} {past} the {thing}",
            ),
            *("with whom was the {thing} {participle} by {person}", f"in whose company {_DOES}"),
        ),
    ),
    Slot(
        NUMBERS[3:],
        "for {} pieces of silver",
        (
            *("how much did {person} spend to {base} the {thing}", f"for how much silver {_DOES}"),
            *("what sum did {person} need to {base} the {thing}", f"at what price {_DOES}"),
            *("what did it cost {person} to {base} the {thing}", f"for which sum {_DOES}"),
            "for how much was the {thing} {participle} by {person}",
            "how many pieces of silver did it take {person} to {base} the {thing}",
        ),
    ),
)
_TOLD = (
    *("{person} {past} the {thing} {slot}", "the {thing} was {participle} {slot} by {person}"),
    *(
        "it was {slot} that {person} {past} the {thing}",
        "the {thing} that {person} {past} {slot} was famous",
    ),
    "everybody knows that the {thing} was {participle} by {person} {slot}",
    *("it is said that {person} {past} the {thing} {slot}", "what {person} {past} {slot} was the {thing}"),
    *("{slot}, {person} {past} the {thing}", "by {person}, the {thing} was {participle} {slot}"),
    "it was {person} who {past} the {thing} {slot}",
)


_ASIDES = (
    *(
        "{told}, while {person} worked {slot}",
        "{told}, and {person} sang {slot}",
        "{told}; {person} danced {slot}",
    ),
    *(
        "while {person} slept {slot}, {told}",
        "{person} read {slot}; {told}",
        "{told}, but {person} rested {slot}",
    ),
    *("while {person} swam {slot}, {told}", "{told}, and {person} cooked {slot}"),
)


def _told(rng: Random, event: Event, slot: Slot, aside: _Aside, *, fresh: bool) -> str:
    """One sentence that gives the slot of the event, and in a side remark one of something else."""
    filler = _other_than(rng, slot.fillers, event.person, aside.person)
    stray = _other_than(rng, aside.slot.fillers, event.person, aside.person)
    forms = _forms(event, synonym=rng.random() < 0.5)
    told = rng.choice(wordings(_TOLD, fresh=fresh)).format(**forms, slot=slot.told.format(filler))
    remark = aside.slot.told.format(stray)
    return sentence(
        rng.choice(wordings(_ASIDES, fresh=fresh)).format(told=told, person=aside.person, slot=remark)
    )


def _other_than(rng: Random, fillers: Sequence[str], *taken: str) -> str:
    while (drawn := rng.choice(fillers)) in taken:
        pass
    return drawn


def _asked(rng: Random, event: Event, slot: Slot, *, fresh: bool) -> str:
    text = rng.choice(wordings(slot.asked, fresh=fresh))
    return sentence(text.format(**_forms(event, synonym=rng.random() < 0.2)) + "?")


def _forms(event: Event, *, synonym: bool) -> dict[str, str]:
    """The words for an event, with the usual verb or the other one."""
    action = event.action
    base, past, participle = action.same if synonym else (action.base, action.past, action.participle)
    return {
        "person": event.person,
        "thing": event.kind.name,
        "base": base,
        "past": past,
        "participle": participle,
    }
