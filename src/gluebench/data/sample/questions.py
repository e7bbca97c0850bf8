"""QQP's shape: questions that ask for the same thing, and questions with the same words that do not."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, shares
from gluebench.data.sample.world import ACTIONS, GOODS, PEOPLE, TRADES, a, sentence

NOT, DUPLICATE = "0", "1"
_SITES = (
    "station",
    "harbour",
    "museum",
    "castle",
    "market",
    "library",
    "town hall",
    "hospital",
    "zoo",
    "airport",
)
_MEASURES = (
    *(("faster", "slower"), ("cheaper", "more expensive"), ("heavier", "lighter"), ("older", "newer")),
    *(("more useful", "less useful"), ("louder", "quieter"), ("easier to sell", "harder to sell")),
)
_CHORES = ("paint", "clean", "weigh", "repair", "pack", "oil", "photograph", "insure", "inspect", "label")


class Crossed(NamedTuple):
    """Two questions, each in two phrasings: the first of each pair goes with both of the other's seconds."""

    one: tuple[str, str]
    two: tuple[str, str]


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev with 37 % duplicates as in QQP; test, whose prior differs, with half."""
    shelf = Shelf(rng)
    return {
        split: shelf.thin(
            lambda: _block(rng), shares(size, DUPLICATE, 0.5 if split == "test" else 0.37, other=NOT)
        )
        for split, size in sizes.items()
    }


def _block(rng: Random) -> list[Row]:
    make = rng.choice((_comparison, _route, _role, _negation, _sequence, _career, _topic, _topic))
    (one, same_as_one), (two, same_as_two) = make(rng)
    pairs = (
        (one, same_as_one, DUPLICATE),
        (two, same_as_two, DUPLICATE),
        (one, same_as_two, NOT),
        (two, same_as_one, NOT),
    )
    return [Row((sentence(first + "?"), sentence(second + "?")), label) for first, second, label in pairs]


def _comparison(rng: Random) -> Crossed:
    first, second = (kind.name for kind in rng.sample(GOODS, 2))
    more, less = rng.choice(_MEASURES)
    ask = rng.choice(
        ("is {} {} than {}", "would you say that {} is {} than {}", "in general, is {} {} than {}")
    )
    again = rng.choice(
        ("is it true that {} is {} than {}", "do people find {} {} than {}", "is {} usually {} than {}")
    )
    first, second = a(first), a(second)
    return Crossed(
        (ask.format(first, more, second), again.format(second, less, first)),
        (ask.format(second, more, first), again.format(first, less, second)),
    )


def _route(rng: Random) -> Crossed:
    start, end = rng.sample(_SITES, 2)
    by = rng.choice(("", " on foot", " by bus", " at night", " with children", " in a wheelchair"))
    ask = rng.choice(("how do I get from the {} to the {}", "how can one go from the {} to the {}"))
    again = rng.choice(("what is the way to the {1} from the {0}", "how does one reach the {1} from the {0}"))
    return Crossed(
        (ask.format(start, end) + by, again.format(start, end) + by),
        (ask.format(end, start) + by, again.format(end, start) + by),
    )


def _role(rng: Random) -> Crossed:
    person, kind = rng.choice(PEOPLE), rng.choice(GOODS).name
    past, base = rng.choice((("sold", "sell"), ("gave", "give"), ("lent", "lend"), ("sent", "send")))
    when = rng.choice(("", " last week", " in spring", " yesterday", " at the market"))
    return Crossed(
        (f"who {past} the {kind} to {person}{when}", f"from whom did {person} get the {kind}{when}"),
        (f"who did {person} {base} the {kind} to{when}", f"who got the {kind} from {person}{when}"),
    )


def _negation(rng: Random) -> Crossed:
    person, kind = rng.choice(PEOPLE), rng.choice(GOODS).name
    act = rng.choice(ACTIONS).base
    mind = rng.choice(("promise", "decide", "agree", "try"))
    return Crossed(
        (
            f"why did {person} {mind} not to {act} the {kind}",
            f"what made {person} {mind} not to {act} the {kind}",
        ),
        (
            f"why did {person} not {mind} to {act} the {kind}",
            f"what made {person} not {mind} to {act} the {kind}",
        ),
    )


def _sequence(rng: Random) -> Crossed:
    first, second = rng.sample(_CHORES, 2)
    kind = rng.choice(GOODS).name
    ask = f"should I {{}} {a(kind)} before I {{}} it"
    again = rng.choice(
        (
            f"do you {{1}} {a(kind)} only after you {{0}} it",
            f"must one {{0}} {a(kind)} first and {{1}} it later",
        )
    )
    return Crossed(
        (ask.format(first, second), again.format(first, second)),
        (ask.format(second, first), again.format(second, first)),
    )


def _career(rng: Random) -> Crossed:
    first, second = (a(trade) for trade in rng.sample(TRADES, 2))
    age = rng.choice(("", " at forty", " without a degree", " in a small town", " within a year"))
    ask = rng.choice(("can {} become {}", "how hard is it for {} to become {}"))
    again = (
        "is it possible for {} to turn into {}"
        if ask.startswith("can")
        else "how difficult is it for {} to turn into {}"
    )
    return Crossed(
        (ask.format(first, second) + age, again.format(first, second) + age),
        (ask.format(second, first) + age, again.format(second, first) + age),
    )


def _topic(rng: Random) -> Crossed:
    """Questions on different things: what is left when the words alone decide."""
    one, two = rng.sample(GOODS, 2)
    act, other = rng.sample(_CHORES, 2)
    ask = rng.choice(("what is the best way to {} {}", "how do you {} {}", "what do I need to {} {}"))
    again = {"wha": "how can I {} {} properly", "how": "what is a good way to {} {}"}[ask[:3]]
    if ask.startswith("what do"):
        again = "which things are needed to {} {}"
    return Crossed(
        (ask.format(act, a(one.name)), again.format(act, a(one.name))),
        (ask.format(other, a(two.name)), again.format(other, a(two.name))),
    )
