"""RTE's shape, scarce: short reports whose conclusions need two sentences, or what kind a thing is.

A block is one hypothesis with two reports in the same words, in which two parties have changed places, and
which look alike (`frame.even`). The words of the test split are held out from training.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import NamedTuple

from sample.frame import Row, Shelf, Splits, even, wordings
from sample.world import (
    COLORS,
    COUNTED,
    CROWDS,
    DAYS,
    DEEDS_ON,
    MONTHS,
    NUMBERS,
    ORGANIZATIONS,
    PEOPLE,
    SPOTS,
    SURNAMES,
    TOWNS,
    TRADES,
    Category,
    Deed,
    Noun,
    a,
    seen,
    sentence,
    unseen,
)

ENTAILMENT, NOT = "entailment", "not_entailment"
_TRIES = 200


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


class Draw:
    """Draws words for one split."""

    def __init__(self, rng: Random, *, fresh: bool) -> None:
        self.rng = rng
        self.part = unseen if fresh else seen

    def names(self, count: int) -> list[str]:
        """People by their full names."""
        firsts = self.rng.sample(self.part(PEOPLE), count)
        return [
            f"{one} {two}"
            for one, two in zip(firsts, self.rng.sample(self.part(SURNAMES), count), strict=True)
        ]

    def kinds(self, count: int, group: str) -> list[Noun]:
        """Kinds of things, of different categories of this group."""
        chosen = self.rng.sample([each for each in COUNTED if group in each.groups], count)
        return [self.rng.choice(self.part(each.kinds)) for each in chosen]

    def one(self, words: tuple[str, ...]) -> str:
        """A word of this split."""
        return self.rng.choice(self.part(words))


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Labels equally often; people, things and a quarter of the wordings of test are new."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, Draw(rng, fresh=split == "test"), fresh=split == "test"), size)
        for split, size in sizes.items()
    }


def _block(draw: Draw, *, fresh: bool) -> list[Row]:
    """One hypothesis with two premises, or nothing if they look different."""
    rng = draw.rng
    for _ in range(_TRIES):
        draft = rng.choice((_carried, _owned, _worked, _stored, _travelled, _taught))(draw)
        facts = rng.choice(wordings(draft.said.facts, fresh=fresh))
        told = rng.choice(wordings(draft.said.told, fresh=fresh))
        concluded = rng.choice(wordings(draft.said.concluded, fresh=fresh))
        opening, closing = rng.sample(wordings(_SETTINGS, fresh=fresh), 2)
        if rng.random() < _HABITUAL:
            closing = rng.choice(wordings(_HABITS, fresh=fresh))
        report = [_setting(draw, opening), *rng.sample(facts, 2), told, _setting(draw, closing)]
        hypothesis = sentence(concluded.format(**draft.words))
        rows = []
        for (x, y), label in ((draft.sides, ENTAILMENT), (draft.sides[::-1], NOT)):
            text = " ".join(sentence(part.format(x=x, y=y, **draft.words)) for part in report)
            rows.append(Row((text, hypothesis), label))
        if even(rows):
            return rows
    return []


_SETTINGS = (
    "the {role}s of {town} had been waiting for {number} weeks",
    "it was a cold {day} in {town}",
    "the {organization} of {town} confirmed the story on {day}",
    "about {number} {role}s were watching",
    "the report, written by {a_trade} in {town}, has {number} pages",
    "the {trade} of the {organization} did not want to comment",
    "nobody at the {organization} in {town} was surprised",
    "a spokesman of the {organization} read out a short statement on {day}",
    "the road to {town} was closed that {day}",
    "more than {number} newspapers printed the story",
    "the film about it was shown in {town} on {day}",
    "a retired {trade} from {town} told us the story",
)
_HABITUAL = 0.95
_HABITS = (
    "in the same street {a_trade} {does} {things} and {others}",
    "the {organization} next door pays {a_trade} who {does} {things} and {others}",
    "on the next page one can read of {a_trade} who {does} {things} and {others} every {day}",
    "as a hobby, the mayor of {town} {does} {things} and {others}",
)
"""Sentences that have no bearing on the hypothesis."""


def _known(*verbs: str) -> tuple[tuple[Deed, Category], ...]:
    """Deeds by their verbs, with the categories of things that they are done to."""
    return tuple(
        (deed, category)
        for category in COUNTED
        for deed in DEEDS_ON[category.groups[0]]
        if deed.verb.base in verbs
    )


_PASTIMES = _known(
    *("collect", "repair", "restore", "draw", "photograph", "study", "polish", "grow", "bake", "cook"),
    *("design", "feed", "watch", "visit", "admire", "review", "explore"),
)


def _setting(draw: Draw, wording: str) -> str:
    trade = draw.rng.choice(draw.part(TRADES)).name
    deed, category = draw.rng.choice(_PASTIMES)
    things, others = draw.rng.sample(category.kinds, 2)
    return wording.format(
        role=draw.one(CROWDS),
        town=draw.one(TOWNS),
        number=draw.rng.choice(NUMBERS[3:]),
        day=draw.rng.choice(DAYS),
        does=draw.rng.choice([deed.verb, deed.same or deed.verb]).third,
        things=things.plural,
        others=others.plural,
        organization=draw.one(ORGANIZATIONS),
        trade=trade,
        a_trade=a(trade),
    )


_BOXES = ("box", "crate", "trunk", "bag", "chest", "suitcase", "basket", "barrel", "cupboard", "van")
_CARRIED = Wordings(
    (
        ("the {x} were in the {color} {box}", "the {y} were in the {other} {box}"),
        ("the {color} {box} was full of {x}", "the {other} {box} was full of {y}"),
        (
            "somebody had put the {x} into the {color} {box}",
            "somebody had put the {y} into the {other} {box}",
        ),
        ("inside the {color} {box} were the {x}", "inside the {other} {box} were the {y}"),
    ),
    (
        "{person} left the {color} {box} {place} and took the {other} {box} home",
        "{person} took the {other} {box} home but left the {color} {box} {place}",
        "the {other} {box} went home with {person}, who left the {color} {box} {place}",
    ),
    (
        *("{person} left the {goods} {place}", "the {goods} were left {place} by {person}"),
        *("it was {place} that {person} left the {goods}", "{person} did not take the {goods} home"),
    ),
)


def _carried(draw: Draw) -> Draft:
    one, two = (kind.plural for kind in draw.kinds(2, "small"))
    color, other = draw.rng.sample(COLORS, 2)
    words = {"color": color, "other": other, "box": draw.rng.choice(_BOXES), "goods": one}
    return Draft(_CARRIED, words | {"person": draw.names(1)[0], "place": draw.one(SPOTS)}, (one, two))


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


def _owned(draw: Draw) -> Draft:
    first, second, buyer = draw.names(3)
    kind = draw.kinds(1, "heirloom")[0].name
    words = {"kind": kind, "a_kind": a(kind), "month": draw.rng.choice(MONTHS)}
    return Draft(_OWNED, words | {"first": first, "second": second, "buyer": buyer}, (first, second))


_WORKED = Wordings(
    (
        ("{x} is {a_trade} in the town", "{y} is {an_other} in the town"),
        ("{x} works in the town as {a_trade}", "{y} works in the town as {an_other}"),
        ("{x} has become {a_trade} in the town", "{y} has become {an_other} in the town"),
        ("{x} lives in the town as {a_trade}", "{y} lives in the town as {an_other}"),
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


def _worked(draw: Draw) -> Draft:
    first, second = draw.names(2)
    trade, other = (each.name for each in draw.rng.sample(draw.part(TRADES), 2))
    words = {"trade": trade, "other": other, "a_trade": a(trade), "an_other": a(other)}
    words |= {
        "a_kind": a(draw.kinds(1, "lendable")[0].name),
        "month": draw.rng.choice(MONTHS),
        "first": first,
    }
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
        *("{person} keeps {a_category} {place}", "{person} has {a_category}, and it is {place}"),
        *("{a_category} of {person} is {place}", "{place} {person} keeps {a_category}"),
    ),
)


def _stored(draw: Draw) -> Draft:
    """The conclusion names the category: that a violin is an instrument has to be known."""
    while True:
        one, two = draw.kinds(2, "named")
        category = next(each for each in COUNTED if one in each.kinds).name
        if one.name[0] not in "aeiou" and two.name[0] not in "aeiou":
            break
    person, other = draw.names(2)
    words = {"person": person, "other": other, "a_category": a(category)}
    return Draft(
        _STORED, words | {"place": draw.one(SPOTS), "month": draw.rng.choice(MONTHS)}, (one.name, two.name)
    )


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


def _travelled(draw: Draw) -> Draft:
    first, second, guest = draw.names(3)
    month, later = draw.rng.sample(MONTHS, 2)
    words = {"month": month, "later": later, "guest": guest, "first": first}
    return Draft(_TRAVELLED, words | {"a_kind": a(draw.kinds(1, "lendable")[0].name)}, (first, second))


_TAUGHT = Wordings(
    (
        ("{x} could {verb} {goods}", "{y} could not {verb} {goods}"),
        ("{x} was able to {verb} {goods}", "{y} was not able to {verb} {goods}"),
        ("{x} had learnt to {verb} {goods}", "{y} had never learnt to {verb} {goods}"),
        ("{x} knew how to {verb} {goods}", "{y} had no idea how to {verb} {goods}"),
    ),
    (
        "{first} taught {third} everything that {first} could do, and {second} taught {third} nothing",
        "{third} was taught nothing by {second}, and by {first} everything that {first} could do",
        "from {second} {third} learnt nothing, but from {first} all that {first} could do",
    ),
    (
        *("{third} learnt to {verb} {goods}", "{third} was taught to {verb} {goods}"),
        *("{first} taught {third} to {verb} {goods}", "{third} was shown how to {verb} {goods}"),
    ),
)


_SKILLS = _known(
    *("repair", "mend", "restore", "draw", "design", "build", "sew", "play", "bake", "cook", "sail", "steer"),
    *("prune", "drive", "assemble", "install", "value", "forge", "grow", "translate", "proofread", "treat"),
)
"""What is learnt: a deed, and the things that it is done to."""


def _taught(draw: Draw) -> Draft:
    first, second, third = draw.names(3)
    deed, category = draw.rng.choice(_SKILLS)
    words = {"verb": deed.verb.base, "goods": draw.rng.choice(draw.part(category.kinds)).plural}
    words |= {"first": first, "second": second, "third": third}
    return Draft(_TAUGHT, words, (first, second))
