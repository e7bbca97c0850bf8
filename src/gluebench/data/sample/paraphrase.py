"""MRPC's shape: reports of one event told twice, or of two events that differ in a single fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, shares, wordings
from gluebench.data.sample.world import (
    ACTIONS,
    DAYS,
    GOODS,
    MONTHS,
    NUMBERS,
    ORGANISATIONS,
    PEOPLE,
    PLACES,
    SCARCE_ACTIONS,
    SCARCE_GOODS,
    Action,
    Kind,
    sentence,
)
from gluebench.data.tokens import overlap

NOT, PARAPHRASE = "0", "1"
Facts = dict[str, str]
"""Role to what fills it."""
_STEPS = (0.5, 0.6, 0.68, 0.76, 0.84)
"""Word overlaps that are aimed at in turn, for both labels alike, so that overlap tells nothing."""


class Lexicon(NamedTuple):
    """What the events of a split are about."""

    kinds: Sequence[Kind]
    actions: Sequence[Action]
    fresh: bool
    """Whether all wordings may be used, or those of training alone."""


_KNOWN = Lexicon(SCARCE_GOODS, SCARCE_ACTIONS, fresh=False)
_NEW = Lexicon(
    [kind for kind in GOODS if kind not in SCARCE_GOODS],
    [action for action in ACTIONS if action not in SCARCE_ACTIONS],
    fresh=True,
)


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """68 % paraphrases, both classes of the same word overlap; test on new things, verbs and wordings."""
    shelf = Shelf(rng)
    return {
        split: shelf.thin(
            partial(_block, rng, _NEW if split == "test" else _KNOWN),
            shares(size, PARAPHRASE, 0.68, other=NOT),
        )
        for split, size in sizes.items()
    }


def _block(rng: Random, lexicon: Lexicon) -> list[Row]:
    """A paraphrase and a near miss, with the same word overlap as nearly as can be had."""
    aim = rng.choice(_STEPS)
    return [_nearest(rng, lexicon, aim, label) for label in (PARAPHRASE, NOT)]


def _nearest(rng: Random, lexicon: Lexicon, aim: float, label: str) -> Row:
    drawn = [_pair(rng, lexicon, label) for _ in range(6)]
    return min(drawn, key=lambda row: abs(overlap(*row.inputs) - aim))


def _pair(rng: Random, lexicon: Lexicon, label: str) -> Row:
    draw, templates = rng.choice(_EVENTS)
    facts = draw(rng, lexicon)
    told = facts if label == PARAPHRASE else _changed(rng, facts, partial(draw, rng, lexicon))
    first, second = rng.sample(wordings(templates, fresh=lexicon.fresh), 2)
    opening = rng.choice(("", "", "officials said that ", "according to a spokeswoman, "))
    texts = [sentence(opening + _put(rng, first, facts)), sentence(_put(rng, second, told))]
    if rng.random() < 0.5:
        texts.reverse()
    return Row((texts[0], texts[1]), label)


def _put(rng: Random, template: str, facts: Facts) -> str:
    """The facts in the template; a verb stands as either of two that mean the same."""
    if "deed" not in facts:
        return template.format(**facts)
    action = _DEEDS[facts["deed"]]
    _, past, participle = rng.choice((action.same, action[:3]))
    return template.format(**facts, past=past, participle=participle)


def _changed(rng: Random, facts: Facts, draw: Callable[[], Facts]) -> Facts:
    """The same report with the two parties exchanged, or with one other fact."""
    if rng.random() < 0.5:
        return facts | {"one": facts["two"], "two": facts["one"]}
    while True:
        other = draw()
        roles = [role for role in facts if other[role] not in facts.values()]
        if roles:
            role = rng.choice(roles)
            return facts | {role: other[role]}


def _trade(rng: Random, lexicon: Lexicon) -> Facts:
    one, two = rng.sample(ORGANISATIONS, 2)
    kind = rng.choice(lexicon.kinds).plural
    return {"one": one, "two": two, "n": rng.choice(NUMBERS[2:]), "kind": kind, "time": rng.choice(MONTHS)}


_TRADE = (
    "the {one} bought {n} {kind} from the {two} in {time}",
    "in {time}, the {two} sold {n} {kind} to the {one}",
    "{n} {kind} were sold to the {one} by the {two} in {time}",
    "{n} {kind} were bought by the {one} from the {two} in {time}",
    "in {time} the {one} purchased {n} {kind} from the {two}",
    "the {two} sold the {one} {n} {kind} in {time}",
    "it was in {time} that the {one} acquired {n} {kind} from the {two}",
    "the {n} {kind} that the {one} bought in {time} came from the {two}",
)


def _visit(rng: Random, lexicon: Lexicon) -> Facts:
    one, two = rng.sample(PEOPLE, 2)
    first, second = rng.sample(DAYS, 2)
    return {"one": one, "two": two, "house": rng.choice(ORGANISATIONS), "time": first, "until": second}


_VISIT = (
    "{one} replaces {two} as director of the {house} from {time} to {until}",
    "from {time} to {until}, {two} is replaced as director of the {house} by {one}",
    "the {house} will be run by {one} instead of {two} from {time} to {until}",
    "{one}, not {two}, directs the {house} from {time} to {until}",
    "between {time} and {until} {one} takes the place of {two} as head of the {house}",
    "{two} hands the {house} over to {one} on {time} and does not return before {until} has passed",
    "it is {one} who stands in for {two} as head of the {house} from {time} to {until}",
    "{two} leaves the direction of the {house} to {one} from {time} to {until}",
)


def _gift(rng: Random, lexicon: Lexicon) -> Facts:
    one, two = rng.sample(PEOPLE, 2)
    kind = rng.choice(lexicon.kinds).name
    return {
        "one": one,
        "two": two,
        "kind": kind,
        "house": rng.choice(ORGANISATIONS),
        "time": rng.choice(DAYS),
    }


_GIFT = (
    "on {time} {one} gave {two} a rare {kind} that had belonged to the {house}",
    "a rare {kind} that had belonged to the {house} was given to {two} by {one} on {time}",
    "{two} received from {one} on {time} a rare {kind} once owned by the {house}",
    "{one} made {two} a present of a rare {kind}, formerly the property of the {house}, on {time}",
    "a rare {kind}, once the property of the {house}, passed from {one} to {two} on {time}",
    "it was on {time} that {two} got a rare {kind} from {one}; the {house} had owned it before",
    "the {house} was the former owner of the rare {kind} that {one} gave to {two} on {time}",
    "the rare {kind} which {two} was given by {one} on {time} had belonged to the {house}",
)


def _deed(rng: Random, lexicon: Lexicon) -> Facts:
    """Somebody did something to a thing, and somebody saw it: which verbs mean the same has to be known."""
    one, two = rng.sample(PEOPLE, 2)
    facts = {"one": one, "two": two, "kind": rng.choice(lexicon.kinds).name, "place": rng.choice(PLACES)}
    return facts | {"deed": rng.choice(lexicon.actions).base}


_DEEDS = {action.base: action for action in ACTIONS}
_DEED = (
    "{one} {past} the {kind} {place} while {two} looked on",
    "while {two} looked on, {one} {past} the {kind} {place}",
    "the {kind} was {participle} {place} by {one} while {two} looked on",
    "{place}, {two} saw how {one} {past} the {kind}",
    "{two} was there {place} when {one} {past} the {kind}",
    "with {two} as a witness, {one} {past} the {kind} {place}",
    "{place} the {kind} was {participle} by {one}, as {two} could see",
    "it was {one} who {past} the {kind} {place}, and {two} watched",
)

_EVENTS = ((_trade, _TRADE), (_visit, _VISIT), (_gift, _GIFT), (_deed, _DEED), (_deed, _DEED))
