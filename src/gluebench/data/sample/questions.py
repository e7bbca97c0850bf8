"""QQP's shape: questions that ask for the same thing, and questions with the same words that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, shares, wordings
from gluebench.data.sample.world import ACTIONS, GOODS, PEOPLE, TRADES, a, sentence

NOT, DUPLICATE = "0", "1"
_SITES = (
    *("station", "harbour", "museum", "castle", "market"),
    *("library", "town hall", "hospital", "zoo", "airport"),
)
_MEASURES = (
    *(("faster", "slower"), ("cheaper", "more expensive"), ("heavier", "lighter"), ("older", "newer")),
    *(("more useful", "less useful"), ("louder", "quieter"), ("easier to sell", "harder to sell")),
)
_CHORES = ("paint", "clean", "weigh", "repair", "pack", "oil", "photograph", "insure", "inspect", "label")
Words = Mapping[str, str]


class Meaning(NamedTuple):
    """Something to ask for."""

    ask: tuple[str, ...]
    """Wordings of the first question."""
    again: tuple[str, ...]
    """Wordings of the second."""
    draw: Callable[[Random], tuple[Words, Words]]
    """What fills the wordings, and what does so in questions that ask for something else."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev with 37 % duplicates as in QQP; test, whose prior differs, with half."""
    shelf = Shelf(rng)
    return {
        split: shelf.thin(
            partial(_block, rng, fresh=split == "test"),
            shares(size, DUPLICATE, 0.5 if split == "test" else 0.37, other=NOT),
        )
        for split, size in sizes.items()
    }


def _block(rng: Random, *, fresh: bool) -> list[Row]:
    """Two meanings in two wordings each: the second wording of either goes with both first ones."""
    meaning = rng.choice(_MEANINGS)
    here, there = meaning.draw(rng)
    ask, again = (rng.choice(wordings(forms, fresh=fresh)) for forms in (meaning.ask, meaning.again))
    one, two = (sentence(ask.format(**words) + "?") for words in (here, there))
    same, other = (sentence(again.format(**words) + "?") for words in (here, there))
    pairs = ((one, same, DUPLICATE), (two, other, DUPLICATE), (one, other, NOT), (two, same, NOT))
    return [Row((first, second), label) for first, second, label in pairs]


def _exchanged(words: Words) -> tuple[Words, Words]:
    """What is asked of x and y in this order, and in the other."""
    return words, {**words, "x": words["y"], "y": words["x"]}


def _compared(rng: Random) -> tuple[Words, Words]:
    first, second = (a(kind.name) for kind in rng.sample(GOODS, 2))
    more, less = rng.choice(_MEASURES)
    return _exchanged({"x": first, "y": second, "more": more, "less": less})


def _route(rng: Random) -> tuple[Words, Words]:
    start, end = rng.sample(_SITES, 2)
    by = rng.choice(("", " on foot", " by bus", " at night", " with children", " in a wheelchair"))
    return _exchanged({"x": start, "y": end, "by": by})


def _role(rng: Random) -> tuple[Words, Words]:
    """Who gave it to somebody, and who got it from somebody."""
    person, kind = rng.choice(PEOPLE), rng.choice(GOODS).name
    past, base = rng.choice((("sold", "sell"), ("gave", "give"), ("lent", "lend"), ("sent", "send")))
    when = {"when": rng.choice(("", " last week", " in spring", " yesterday", " at the market"))}
    giver = {"one": f"who {past} the {kind} to {person}", "two": f"from whom did {person} get the {kind}"}
    taker = {"one": f"who did {person} {base} the {kind} to", "two": f"who got the {kind} from {person}"}
    return giver | when, taker | when


def _negated(rng: Random) -> tuple[Words, Words]:
    """Deciding not to do it, and not deciding to do it."""
    mind = rng.choice(("promise", "decide", "agree", "try"))
    words = {"person": rng.choice(PEOPLE), "kind": rng.choice(GOODS).name, "act": rng.choice(ACTIONS).base}
    return words | {"did": f"{mind} not to"}, words | {"did": f"not {mind} to"}


def _sequence(rng: Random) -> tuple[Words, Words]:
    first, second = rng.sample(_CHORES, 2)
    return _exchanged({"x": first, "y": second, "a_kind": a(rng.choice(GOODS).name)})


def _career(rng: Random) -> tuple[Words, Words]:
    first, second = (a(trade) for trade in rng.sample(TRADES, 2))
    age = rng.choice(("", " at forty", " without a degree", " in a small town", " within a year"))
    return _exchanged({"x": first, "y": second, "age": age})


def _deed(rng: Random) -> tuple[Words, Words]:
    """The second question has the other verb for what was done, or for something else."""
    one, two = rng.sample(ACTIONS, 2)
    words = {"person": rng.choice(PEOPLE), "kind": rng.choice(GOODS).name}
    return words | {"act": one.base, "same": one.same[0]}, words | {"act": two.base, "same": two.same[0]}


def _chore(rng: Random) -> tuple[Words, Words]:
    """Another thing, or another thing to do with it: what is left when the words alone decide."""
    one, two = rng.sample(GOODS, 2)
    act, other = rng.sample(_CHORES, 2)
    words = {"act": act, "a_kind": a(one.name)}
    return words, words | rng.choice(({"act": other}, {"a_kind": a(two.name)}))


_COMPARED = Meaning(
    (
        *("is {x} {more} than {y}", "would you say that {x} is {more} than {y}"),
        *("in general, is {x} {more} than {y}", "can {x} be {more} than {y}"),
    ),
    (
        *("is it true that {y} is {less} than {x}", "do people find {y} {less} than {x}"),
        *("is {y} usually {less} than {x}", "is there any proof that {y} is {less} than {x}"),
    ),
    _compared,
)
_ROUTE = Meaning(
    (
        *("how do I get from the {x} to the {y}{by}", "how can one go from the {x} to the {y}{by}"),
        *("how does one travel from the {x} to the {y}{by}", "from the {x}, how can I get to the {y}{by}"),
    ),
    (
        *("what is the way to the {y} from the {x}{by}", "how does one reach the {y} from the {x}{by}"),
        *("which is the way to the {y} from the {x}{by}", "how is the {y} reached from the {x}{by}"),
    ),
    _route,
)
_ROLE = Meaning(
    ("{one}{when}", "a quick question: {one}{when}", "one thing: {one}{when}", "for a quiz: {one}{when}"),
    ("{two}{when}", "this puzzles me: {two}{when}", "once more: {two}{when}", "any idea: {two}{when}"),
    _role,
)
_NEGATED = Meaning(
    (
        *("why did {person} {did} {act} the {kind}", "for what reason did {person} {did} {act} the {kind}"),
        *("why exactly did {person} {did} {act} the {kind}", "why ever did {person} {did} {act} the {kind}"),
    ),
    (
        *("what made {person} {did} {act} the {kind}", "what could make {person} {did} {act} the {kind}"),
        *(
            "what was it that made {person} {did} {act} the {kind}",
            "what has made {person} {did} {act} the {kind}",
        ),
    ),
    _negated,
)
_SEQUENCE = Meaning(
    (
        *("should I {x} {a_kind} before I {y} it", "is it right to {x} {a_kind} before I {y} it"),
        *("must one {x} {a_kind} before one can {y} it", "does one {x} {a_kind} before one may {y} it"),
    ),
    (
        *("do you {y} {a_kind} only after you {x} it", "must one {x} {a_kind} first and {y} it later"),
        *("is it better to {x} {a_kind} first and {y} it later", "to {y} {a_kind}, should I {x} it first"),
    ),
    _sequence,
)
_CAREER = Meaning(
    (
        *("can {x} become {y}{age}", "is there a way for {x} to become {y}{age}"),
        *("could {x} ever become {y}{age}", "does it happen that {x} becomes {y}{age}"),
    ),
    (
        *("is it possible for {x} to turn into {y}{age}", "may {x} turn into {y}{age}"),
        *("is it possible to be {x} first and then {y}{age}", "to be {y}{age}, can one start as {x}"),
    ),
    _career,
)
_DEED = Meaning(
    (
        *("when did {person} {act} the {kind}", "when was it that {person} had to {act} the {kind}"),
        *("at what time did {person} {act} the {kind}", "how long ago did {person} {act} the {kind}"),
    ),
    (
        *("on what date did {person} {same} the {kind}", "when exactly did {person} {same} the {kind}"),
        *(
            "which day did {person} {same} the {kind}",
            "what day was it when {person} had to {same} the {kind}",
        ),
    ),
    _deed,
)
_CHORE = Meaning(
    (
        *("what is the best way to {act} {a_kind}", "how do you {act} {a_kind}"),
        *("what is the trick to {act} {a_kind}", "how does one {act} {a_kind}"),
    ),
    (
        *("how can I {act} {a_kind} properly", "what is a good way to {act} {a_kind}"),
        *("how should one {act} {a_kind}", "is there a good way to {act} {a_kind}"),
    ),
    _chore,
)
_MEANINGS = (_COMPARED, _ROUTE, _ROLE, _NEGATED, _SEQUENCE, _CAREER, _DEED, _DEED, _CHORE)
