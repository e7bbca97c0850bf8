"""RTE's shape, scarce: conclusions that need two sentences, or a fact about kinds that few examples teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, wordings
from gluebench.data.sample.world import (
    GOODS,
    MONTHS,
    PEOPLE,
    PLACES,
    SCARCE_GOODS,
    TRADES,
    Kind,
    a,
    sentence,
)

ENTAILMENT, NOT = "entailment", "not_entailment"
_COLOURS = ("red", "blue", "green", "white", "black", "yellow")
_BOXES = ("box", "crate", "trunk", "bag", "chest", "case")


class Wordings(NamedTuple):
    """How the two facts of a premise are put, what is said on top of them, and the hypothesis."""

    facts: tuple[tuple[str, str], ...]
    told: tuple[str, ...]
    concluded: tuple[str, ...]


class Draft(NamedTuple):
    """A meaning in its wordings, what fills their fields, and the two that may change places."""

    said: Wordings
    words: Mapping[str, str]
    sides: tuple[str, str]
    """What stands in the fields {x} and {y} where the hypothesis follows; exchanged, it does not."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev on a third of the kinds, test on the rest and in more wordings; labels equally often."""
    shelf = Shelf(rng)
    new = [kind for kind in GOODS if kind not in SCARCE_GOODS]
    return {
        split: shelf.fill(
            partial(_block, rng, new if split == "test" else SCARCE_GOODS, fresh=split == "test"), size
        )
        for split, size in sizes.items()
    }


def _block(rng: Random, kinds: Sequence[Kind], *, fresh: bool) -> list[Row]:
    """One hypothesis with two premises of the same words, in which two parties have changed places."""
    draft = rng.choice((_carried, _owned, _worked, _stored, _travelled, _taught))(rng, kinds)
    facts = rng.choice(wordings(draft.said.facts, fresh=fresh))
    told = rng.choice(wordings(draft.said.told, fresh=fresh))
    concluded = rng.choice(wordings(draft.said.concluded, fresh=fresh))
    premise = [*rng.sample(facts, 2), told]
    hypothesis = sentence(concluded.format(**draft.words))
    rows = []
    for (x, y), label in ((draft.sides, ENTAILMENT), (draft.sides[::-1], NOT)):
        text = " ".join(sentence(part.format(x=x, y=y, **draft.words)) for part in premise)
        rows.append(Row((text, hypothesis), label))
    return rows


_CARRIED = Wordings(
    (
        ("the {x} are in the {colour} {box}", "the {y} are in the {other} {box}"),
        ("the {colour} {box} is full of {x}", "the {other} {box} is full of {y}"),
        (
            "somebody has put the {x} into the {colour} {box}",
            "somebody has put the {y} into the {other} {box}",
        ),
        ("inside the {colour} {box} are the {x}", "inside the {other} {box} are the {y}"),
    ),
    (
        "{person} left the {colour} {box} {place} and took the {other} {box} home",
        "{person} took the {other} {box} home but left the {colour} {box} {place}",
        "the {other} {box} went home with {person}, who left the {colour} {box} {place}",
    ),
    (
        *("{person} left the {goods} {place}", "the {goods} were left {place} by {person}"),
        *("it was {place} that {person} left the {goods}", "{place}, {person} left the {goods}"),
    ),
)


def _carried(rng: Random, kinds: Sequence[Kind]) -> Draft:
    one, two = (kind.plural for kind in rng.sample(kinds, 2))
    colour, other = rng.sample(_COLOURS, 2)
    words = {"colour": colour, "other": other, "box": rng.choice(_BOXES), "goods": one}
    words |= {"person": rng.choice(PEOPLE), "place": rng.choice(PLACES)}
    return Draft(_CARRIED, words, (one, two))


_OWNED = Wordings(
    (
        ("{x} had inherited {a_kind}", "{y} had inherited no {kind}"),
        ("an aunt had left {x} {a_kind}", "an aunt had left {y} no {kind}"),
        ("{a_kind} was among what {x} inherited", "no {kind} was among what {y} inherited"),
        ("there was {a_kind} in the inheritance of {x}", "there was no {kind} in the inheritance of {y}"),
    ),
    (
        "in {month} {first} sold {buyer} the whole inheritance, and {second} sold {buyer} nothing",
        "{buyer} bought the whole inheritance of {first} in {month}, and nothing from {second}",
        "in {month} all that {first} had inherited went to {buyer}, and {second} sold {buyer} nothing",
    ),
    (
        *("{buyer} got {a_kind} from {first} in {month}", "in {month} {first} sold {a_kind} to {buyer}"),
        *("in {month} {buyer} bought {a_kind} from {first}", "{first} sold {buyer} {a_kind} in {month}"),
    ),
)


def _owned(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, buyer = rng.sample(PEOPLE, 3)
    kind = rng.choice(kinds).name
    words = {"kind": kind, "a_kind": a(kind), "month": rng.choice(MONTHS)}
    return Draft(_OWNED, words | {"first": first, "second": second, "buyer": buyer}, (first, second))


_WORKED = Wordings(
    (
        ("{x} is {a_trade}", "{y} is {an_other}"),
        ("{x} works as {a_trade}", "{y} works as {an_other}"),
        ("{x} has become {a_trade}", "{y} has become {an_other}"),
        ("{x} earns a living as {a_trade}", "{y} earns a living as {an_other}"),
    ),
    (
        "in {month} every {trade} in the town was given {a_kind}, and no {other} was given anything",
        "in {month} no {other} in the town was given anything, and every {trade} was given {a_kind}",
        "each {trade} in the town, but not one {other}, received {a_kind} in {month}",
    ),
    (
        *("in {month} {first} was given {a_kind}", "{first} received {a_kind} in {month}"),
        *("{a_kind} was given to {first} in {month}", "in {month} somebody gave {first} {a_kind}"),
    ),
)


def _worked(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second = rng.sample(PEOPLE, 2)
    trade, other = rng.sample(TRADES, 2)
    words = {"trade": trade, "other": other, "a_trade": a(trade), "an_other": a(other)}
    words |= {"a_kind": a(rng.choice(kinds).name), "month": rng.choice(MONTHS), "first": first}
    return Draft(_WORKED, words, (first, second))


_STORED = Wordings(
    (
        ("{person} owns one {x}", "{other} owns one {y}"),
        ("a single {x} belongs to {person}", "a single {y} belongs to {other}"),
        ("{person} has nothing but one {x}", "{other} has nothing but one {y}"),
        ("the only thing {person} has is a rare {x}", "the only thing {other} has is a rare {y}"),
    ),
    (
        "what {person} owns has been {place} since {month}; what {other} owns is kept elsewhere",
        "since {month} everything of {other} is kept elsewhere; everything of {person} is {place}",
        "the property of {person} has been {place} since {month}, that of {other} never was",
    ),
    (
        *("there is {a_category} {place}", "{person} keeps {a_category} {place}"),
        *("{a_category} of {person} is {place}", "{place} there is {a_category}"),
    ),
)


def _stored(rng: Random, kinds: Sequence[Kind]) -> Draft:
    """The conclusion names the category: that a violin is an instrument has to be known."""
    one = rng.choice(kinds)
    two = rng.choice([kind for kind in kinds if kind.category != one.category])
    person, other = rng.sample(PEOPLE, 2)
    words = {"person": person, "other": other, "a_category": a(one.category)}
    words |= {"place": rng.choice(PLACES), "month": rng.choice(MONTHS)}
    return Draft(_STORED, words, (one.name, two.name))


_TRAVELLED = Wordings(
    (
        ("{x} was in town only in {month}", "{y} was in town only in {later}"),
        ("{x} came to town for {month} alone", "{y} came to town for {later} alone"),
        (
            "in {month} and in no other month, {x} was in town",
            "in {later} and in no other month, {y} was in town",
        ),
        ("{x} spent {month} in town and never came again", "{y} spent {later} in town and never came again"),
    ),
    (
        "in {month} {guest} lent {a_kind} to everybody in town, and in {later} to nobody",
        "{guest} lent {a_kind} to everybody who was in town in {month}, and to nobody in {later}",
        "in {later} {guest} lent nothing, but in {month} {a_kind} to everybody in town",
    ),
    (
        *("{guest} lent {a_kind} to {first}", "{first} borrowed {a_kind} from {guest}"),
        *("{a_kind} was lent to {first} by {guest}", "{guest} lent {first} {a_kind}"),
    ),
)


def _travelled(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, guest = rng.sample(PEOPLE, 3)
    month, later = rng.sample(MONTHS, 2)
    words = {"month": month, "later": later, "guest": guest, "first": first}
    return Draft(_TRAVELLED, words | {"a_kind": a(rng.choice(kinds).name)}, (first, second))


_TAUGHT = Wordings(
    (
        ("{x} can {verb} {goods}", "{y} cannot {verb} {goods}"),
        ("{x} is able to {verb} {goods}", "{y} is not able to {verb} {goods}"),
        ("{x} has learnt to {verb} {goods}", "{y} has never learnt to {verb} {goods}"),
        ("{x} knows how to {verb} {goods}", "{y} has no idea how to {verb} {goods}"),
    ),
    (
        "{first} taught {third} everything that {first} can do, and {second} taught {third} nothing",
        "{third} was taught nothing by {second}, and by {first} everything that {first} can do",
        "from {second} {third} learnt nothing, but from {first} all that {first} can do",
    ),
    (
        *("{third} has learnt to {verb} {goods}", "{third} was taught to {verb} {goods}"),
        *("{first} taught {third} to {verb} {goods}", "{third} was shown how to {verb} {goods}"),
    ),
)


def _taught(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, third = rng.sample(PEOPLE, 3)
    verb = rng.choice(("repair", "choose", "sell", "draw", "clean"))
    words = {"verb": verb, "goods": rng.choice(kinds).plural}
    return Draft(_TAUGHT, words | {"first": first, "second": second, "third": third}, (first, second))
