"""QQP's shape: questions that ask for the same thing, and questions with the same words that do not.

A block has one thing asked of x and y and the same asked of y and x, a first wording, and two second ones:
one names x and y in the order of the first, the other turns it round. So every question stands under both
labels, and duplicates keep or turn the order of the words as often as the others (`frame.even`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shelf, Splits, even, shares, wordings
from sample.world import (
    CATEGORIES,
    COUNTED,
    COUNTRIES,
    DEEDS,
    DEEDS_ON,
    LANGUAGES,
    PEOPLE,
    SPORTS,
    STEPS,
    SUBJECTS,
    SURNAMES,
    TOWNS,
    TRADES,
    Verb,
    a,
    seen,
    sentence,
    unseen,
)

NOT, DUPLICATE = "0", "1"
_TRIES = 200
Words = Mapping[str, str]
Part = Callable[[Sequence[Any]], tuple[Any, ...]]
"""Which part of a list a split may use."""


class Meaning(NamedTuple):
    """Something to ask for."""

    ask: tuple[str, ...]
    """Wordings of the first question."""
    again: tuple[tuple[str, str], ...]
    """Wordings of the second, in pairs: x and y turned round, and in the order of the first."""
    draw: Callable[[Random, Part], tuple[Words, Words]]
    """What fills the wordings, and the same with x and y exchanged."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev with 37 % duplicates as in QQP; test, whose prior differs, with half."""
    shelf = Shelf(rng)
    splits: Splits = {}
    for split, size in sizes.items():
        block = partial(_block, rng, fresh=split == "test")
        if split == "test":
            splits[split] = shelf.fill(block, size)
        else:
            splits[split] = shelf.thin(block, shares(size, DUPLICATE, 0.37, other=NOT))
    return splits


def _block(rng: Random, *, fresh: bool) -> list[Row]:
    """Eight pairs of questions, or nothing if duplicates look different."""
    meaning = rng.choice(_MEANINGS)
    known = wordings(meaning.again, fresh=False)
    again = meaning.again[len(known) :] if fresh else known
    for _ in range(_TRIES):
        both = meaning.draw(rng, unseen if fresh else seen)
        ask = rng.choice(wordings(meaning.ask, fresh=fresh))
        first = [_question(ask, words) for words in both]
        rows = []
        for form in rng.choice(again):
            second = [_question(form, words) for words in both]
            rows += [
                Row((one, two), DUPLICATE if at == where else NOT)
                for at, one in enumerate(first)
                for where, two in enumerate(second)
            ]
        if even(rows, close=True):
            return rows
    return []


def _question(wording: str, words: Words) -> str:
    return sentence(wording.format(**words) + "?")


def _exchanged(words: Words) -> tuple[Words, Words]:
    """What is asked of x and y in this order, and in the other."""
    return words, {**words, "x": words["y"], "y": words["x"]}


_MORE = (
    *(("dearer", "cheaper", "costlier"), ("prettier", "uglier", "lovelier"), ("bigger", "smaller", "larger")),
    ("rarer", "commoner", "scarcer"),
)
_MORE_PLACES = (
    *(("bigger", "smaller", "larger"), ("richer", "poorer", "wealthier"), ("prettier", "uglier", "lovelier")),
    *(("noisier", "quieter", "louder"), ("dearer", "cheaper", "costlier")),
)
"""More of something, less of it, and another word for more."""


_MORE_PEOPLE = (
    *(("cleverer", "dumber", "smarter"), ("richer", "poorer", "wealthier"), ("faster", "slower", "quicker")),
    *(("slimmer", "fatter", "thinner"), ("happier", "sadder", "merrier")),
)


def _people(rng: Random, part: Part) -> tuple[Words, Words]:
    firsts, lasts = rng.sample(part(PEOPLE), 2), rng.sample(part(SURNAMES), 2)
    one, two = (f"{first} {last}" for first, last in zip(firsts, lasts, strict=True))
    more, less, again = rng.choice(_MORE_PEOPLE)
    return _exchanged({"x": one, "y": two, "more": more, "less": less, "again": again})


def _compared(rng: Random, part: Part) -> tuple[Words, Words]:
    if rng.random() < 0.3:
        return _people(rng, part)
    if rng.random() < 0.4:
        first, second = rng.sample(part(TOWNS if rng.random() < 0.6 else COUNTRIES), 2)
        more, less, again = rng.choice(_MORE_PLACES)
    else:
        goods = rng.choice([each for each in COUNTED if "goods" in each.groups])
        first, second = (a(kind.name) for kind in rng.sample(part(goods.kinds), 2))
        more, less, again = rng.choice(_MORE)
    return _exchanged({"x": first, "y": second, "more": more, "less": less, "again": again})


def _sequence(rng: Random, part: Part) -> tuple[Words, Words]:
    """Two things to do with something, in one order and in the other."""
    usual = part([deed for deed in DEEDS if deed.verb.base in STEPS])
    known = {
        each.groups[0]: [deed.verb for deed in usual if deed in DEEDS_ON[each.groups[0]]] for each in COUNTED
    }
    goods = rng.choice([each for each in COUNTED if len(known[each.groups[0]]) > 1])
    one, two = rng.sample(known[goods.groups[0]], 2)
    thing = a(rng.choice(part(goods.kinds)).name)
    return _steps(one, two, thing), _steps(two, one, thing)


def _steps(one: Verb, two: Verb, thing: str) -> Words:
    return {"x": one.base, "y": two.base, "xing": one.ing, "ying": two.ing, "a_kind": thing}


def _career(rng: Random, part: Part) -> tuple[Words, Words]:
    first, second = (a(trade.name) for trade in rng.sample(part(TRADES), 2))
    age = rng.choice(
        ("", " these days", " without a degree", " in a small town", f" in {rng.choice(COUNTRIES)}")
    )
    return _exchanged({"x": first, "y": second, "age": age})


def _learning(rng: Random, part: Part) -> tuple[Words, Words]:
    """What helps with what."""
    one, two = rng.sample(part(rng.choice((SUBJECTS, SPORTS, LANGUAGES))), 2)
    return _exchanged({"x": one, "y": two})


def _taste(rng: Random, part: Part) -> tuple[Words, Words]:
    """What to have instead of what."""
    names = ("fruit", "vegetable", "pastry", "nut", "sweet", "mushroom")
    one, two = rng.sample(part([kind.plural for name in names for kind in CATEGORIES[name].kinds]), 2)
    who = rng.choice(("children", "guests", "athletes", "patients", "pupils", "students"))
    return _exchanged({"x": one, "y": two, "who": who})


_MEANINGS = (
    Meaning(
        (
            *("is {x} {more} than {y}", "would you say that {x} is {more} than {y}"),
            *("is {x} really {more} than {y}", "do most people find {x} {more} than {y}"),
            *("would you call {x} {more} than {y}", "is it true that {x} is {more} than {y}"),
            *("in general, is {x} {more} than {y}", "can {x} be {more} than {y}"),
        ),
        (
            ("does {y} count as {less} beside {x}", "does {x} count as {again} beside {y}"),
            ("would you call {y} {less} next to {x}", "would you call {x} {again} next to {y}"),
            ("compared with {x}, is {y} {less}", "compared with {y}, is {x} {again}"),
            ("does {y} seem {less} to you than {x}", "does {x} seem {again} to you than {y}"),
            ("next to {x}, does {y} look {less}", "next to {y}, does {x} look {again}"),
            ("measured against {x}, is {y} the {less} one", "measured against {y}, is {x} the {again} one"),
            ("set against {x}, does {y} seem {less}", "set against {y}, does {x} seem {again}"),
            ("do people find {y} {less} after seeing {x}", "do people find {x} {again} after seeing {y}"),
        ),
        _compared,
    ),
    Meaning(
        (
            *("should I {x} {a_kind} before I {y} it", "is it right to {x} {a_kind} before I {y} it"),
            *("do people {x} {a_kind} before they {y} it", "would you {x} {a_kind} before you {y} it"),
            *("ought one to {x} {a_kind} before one may {y} it", "do I {x} {a_kind} before I {y} it"),
            *("must one {x} {a_kind} before one can {y} it", "does one {x} {a_kind} before one may {y} it"),
        ),
        (
            ("does {ying} {a_kind} come after {xing} it", "does {xing} {a_kind} come before {ying} it"),
            ("is {ying} {a_kind} done after {xing} it", "is {xing} {a_kind} done before {ying} it"),
            (
                "does one start {ying} {a_kind} after {xing} it",
                "does one stop {xing} {a_kind} before {ying} it",
            ),
            (
                "will {ying} {a_kind} be later than {xing} it",
                "will {xing} {a_kind} be earlier than {ying} it",
            ),
            ("is {ying} {a_kind} meant to follow {xing} it", "is {xing} {a_kind} meant to precede {ying} it"),
            ("is {ying} {a_kind} the step after {xing} it", "is {xing} {a_kind} the step before {ying} it"),
            (
                "should {ying} {a_kind} happen after {xing} it",
                "should {xing} {a_kind} happen before {ying} it",
            ),
            ("has {ying} {a_kind} to follow {xing} it", "has {xing} {a_kind} to precede {ying} it"),
        ),
        _sequence,
    ),
    Meaning(
        (
            *("can {x} become {y}{age}", "is there a way for {x} to become {y}{age}"),
            *("might {x} become {y}{age}", "does {x} ever become {y}{age}"),
            *("is {x} able to become {y}{age}", "is it realistic for {x} to become {y}{age}"),
            *("could {x} ever become {y}{age}", "is it possible for {x} to become {y}{age}"),
        ),
        (
            ("can {y} have started as {x}{age}", "can {x} still end as {y}{age}"),
            ("might {y} have begun as {x}{age}", "might {x} then finish as {y}{age}"),
            ("does {y} ever start out as {x}{age}", "does {x} ever end up as {y}{age}"),
            (
                "is it possible for {y} to have begun as {x}{age}",
                "is it possible for {x} to end up as {y}{age}",
            ),
            ("could {y} have begun as {x}{age}", "could {x} yet finish as {y}{age}"),
            ("has {y} ever been {x} before{age}", "does {x} ever become {y} later{age}"),
            ("could {y} have started off as {x}{age}", "could {x} still end up as {y}{age}"),
            ("can {y} have been {x} at first{age}", "can {x} turn into {y} at last{age}"),
        ),
        _career,
    ),
    Meaning(
        (
            *("does {x} help me to learn {y}", "will knowing {x} make {y} easier"),
            *("is {x} a help in learning {y}", "would {x} be useful for {y}"),
            *("will {x} help me with {y}", "does it pay to study {x} for {y}"),
            *("is {x} of any use for {y}", "can {x} make me better at {y}"),
        ),
        (
            ("does {y} gain a lot from {x}", "does {x} pave the way to {y}"),
            ("is {y} made easier by {x}", "is {x} an entry to {y}"),
            ("can {y} build upon {x}", "can {x} prepare for {y}"),
            ("is {y} helped along by {x}", "is {x} a preparation for {y}"),
            ("does {y} come easier with {x}", "does {x} lead over to {y}"),
            ("will {y} be quicker thanks to {x}", "will {x} be good training for {y}"),
            ("do skills in {y} profit from {x}", "do skills in {x} assist with {y}"),
            ("can {y} ever profit from {x}", "can {x} ever assist with {y}"),
        ),
        _learning,
    ),
    Meaning(
        (
            *("do {who} prefer {x} to {y}", "do {who} like {x} better than {y}"),
            *("would {who} sooner have {x} than {y}", "do {who} usually prefer {x} to {y}"),
            *("is it true that {who} favor {x} over {y}", "do {who} go for {x} rather than {y}"),
            *("would {who} choose {x} rather than {y}", "in general, do {who} favor {x} over {y}"),
        ),
        (
            ("do {who} rank {y} below {x}", "do {who} rank {x} above {y}"),
            ("do {who} place {y} behind {x}", "do {who} place {x} before {y}"),
            ("do {who} want {y} less than {x}", "do {who} want {x} more than {y}"),
            ("are {y} less popular than {x} with {who}", "are {x} more popular than {y} with {who}"),
            ("do {y} come second to {x} for {who}", "do {x} come ahead of {y} for {who}"),
            ("will {who} take {y} later than {x}", "will {who} take {x} sooner than {y}"),
            (
                "set against {x}, are {y} less popular with {who}",
                "set against {y}, are {x} more popular with {who}",
            ),
            ("are {y} rated below {x} by {who}", "are {x} rated above {y} by {who}"),
        ),
        _taste,
    ),
)
