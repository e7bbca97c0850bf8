"""RTE's shape, scarce: conclusions that need two sentences, or a fact about kinds that few examples teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from gluebench.data.sample.rows import Row, Shelf, Splits
from gluebench.data.sample.world import GOODS, MONTHS, PEOPLE, PLACES, TRADES, Kind, a, sentence

ENTAILMENT, NOT = "entailment", "not_entailment"
_COLOURS = ("red", "blue", "green", "white", "black", "yellow")
_BOXES = ("box", "crate", "trunk", "bag", "chest", "case")


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev on a third of the kinds, test on the rest; both labels equally often."""
    shelf = Shelf(rng)
    known, new = GOODS[::3], [kind for position, kind in enumerate(GOODS) if position % 3]
    return {
        split: shelf.fill(partial(_block, rng, new if split == "test" else known), size)
        for split, size in sizes.items()
    }


def _block(rng: Random, kinds: Sequence[Kind]) -> list[Row]:
    """One hypothesis with two premises of the same words, in which two names have changed places."""
    make = rng.choice((_carried, _owned, _worked, _stored, _travelled, _taught))
    template, (first, second), hypothesis = make(rng, kinds)
    premises = (template.format(first, second), template.format(second, first))
    return [
        Row((premise, sentence(hypothesis)), label)
        for premise, label in zip(premises, (ENTAILMENT, NOT), strict=True)
    ]


Draft = tuple[str, tuple[str, str], str]
"""Premise with two fields, what fills them where the hypothesis follows, and the hypothesis."""


def _shuffled(rng: Random, facts: Sequence[str], conclusion: str) -> str:
    """The facts in any order, then what is said on top of them."""
    return " ".join(sentence(fact) for fact in [*rng.sample(facts, len(facts)), conclusion])


def _carried(rng: Random, kinds: Sequence[Kind]) -> Draft:
    one, two = rng.sample(kinds, 2)
    colour, other = rng.sample(_COLOURS, 2)
    box, person, place = rng.choice(_BOXES), rng.choice(PEOPLE), rng.choice(PLACES)
    facts = (f"the {{0}} are in the {colour} {box}", f"the {{1}} are in the {other} {box}")
    told = f"{person} left the {colour} {box} {place} and took the {other} {box} home"
    return _shuffled(rng, facts, told), (one.plural, two.plural), f"{person} left the {one.plural} {place}"


def _owned(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, buyer = rng.sample(PEOPLE, 3)
    kind, month = rng.choice(kinds).name, rng.choice(MONTHS)
    facts = (f"{{0}} had inherited {a(kind)}", f"{{1}} had inherited no {kind}")
    told = f"in {month} {first} sold {buyer} the whole inheritance, and {second} sold {buyer} nothing"
    return _shuffled(rng, facts, told), (first, second), f"{buyer} got {a(kind)} from {first} in {month}"


def _worked(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second = rng.sample(PEOPLE, 2)
    trade, other = rng.sample(TRADES, 2)
    kind, month = rng.choice(kinds).name, rng.choice(MONTHS)
    facts = (f"{{0}} is {a(trade)}", f"{{1}} is {a(other)}")
    told = f"in {month} every {trade} in the town was given {a(kind)}, and no {other} was given anything"
    return _shuffled(rng, facts, told), (first, second), f"in {month} {first} was given {a(kind)}"


def _stored(rng: Random, kinds: Sequence[Kind]) -> Draft:
    """The conclusion names the category: that a violin is an instrument has to be known."""
    one = rng.choice(kinds)
    two = rng.choice([kind for kind in kinds if kind.category != one.category])
    person, other = rng.sample(PEOPLE, 2)
    place = rng.choice(PLACES)
    facts = (f"{person} owns one {{0}}", f"{other} owns one {{1}}")
    told = (
        f"what {person} owns has been {place} since {rng.choice(MONTHS)}; what {other} owns is kept elsewhere"
    )
    return _shuffled(rng, facts, told), (one.name, two.name), f"there is {a(one.category)} {place}"


def _travelled(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, guest = rng.sample(PEOPLE, 3)
    month, later = sorted(rng.sample(range(12), 2))
    kind = rng.choice(kinds).name
    facts = (f"{{0}} was in town only in {MONTHS[month]}", f"{{1}} was in town only in {MONTHS[later]}")
    told = f"in {MONTHS[month]} {guest} lent {a(kind)} to everybody in town, and in {MONTHS[later]} to nobody"
    return _shuffled(rng, facts, told), (first, second), f"{guest} lent {a(kind)} to {first}"


def _taught(rng: Random, kinds: Sequence[Kind]) -> Draft:
    first, second, third = rng.sample(PEOPLE, 3)
    kind = rng.choice(kinds)
    verb = rng.choice(("repair", "choose", "sell", "draw", "clean"))
    facts = (f"{{0}} can {verb} {kind.plural}", f"{{1}} cannot {verb} {kind.plural}")
    told = f"{first} taught {third} everything that {first} can do, and {second} taught {third} nothing"
    return _shuffled(rng, facts, told), (first, second), f"{third} has learnt to {verb} {kind.plural}"
