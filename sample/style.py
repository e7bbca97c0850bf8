"""What all MNLI-like meanings share: which words a section uses, people, things and deeds."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from sample.world import (
    ACTIVITIES,
    COMMON,
    COUNTED,
    DEEDS_ON,
    KIN,
    PEOPLE,
    ROLES,
    SURNAMES,
    TRADES,
    Category,
    Noun,
    a,
    seen,
    unseen,
)

HELD_OUT = (
    *("boat", "insect", "tree", "jewel", "mammal", "pastry", "gadget", "textile"),
    *("shop", "landform", "weapon", "personal", "footwear"),
)
"""Categories that stand in MNLI's mismatched sections alone."""


class Style(NamedTuple):
    """What a section of MNLI draws on."""

    fresh: bool
    """Whether words and wordings are those that training never uses."""

    def words(self, words: Sequence[str]) -> tuple[str, ...]:
        """Those of a list that this section uses."""
        return unseen(words) if self.fresh else seen(words)

    def nouns(self, nouns: Sequence[Noun]) -> tuple[Noun, ...]:
        """The same for nouns."""
        return unseen(nouns) if self.fresh else seen(nouns)

    def categories(self) -> list[Category]:
        """The categories of things that this section speaks of."""
        return [each for each in COUNTED if (each.groups[0] in HELD_OUT) == self.fresh]


Forms = tuple[tuple[str, ...], tuple[str, ...]]
"""Wordings of training, and fresh ones."""
Wordings = dict[str, Forms]
"""Meaning to its wordings."""


def people(rng: Random, style: Style, count: int) -> tuple[str, ...]:
    """Different people, all named in the same way: by first name, by full name, or by what they are."""
    way = rng.random()
    if way < 0.3:
        jobs = style.nouns(TRADES if rng.random() < 0.7 else ROLES)
        return tuple(f"the {each.name}" for each in rng.sample(jobs, count))
    if way < 0.4:
        whose = rng.choice(("my", "your", "her", "his", "our", "their"))
        return tuple(f"{whose} {each}" for each in rng.sample(style.words(KIN), count))
    names = rng.sample(style.words(PEOPLE), count)
    if way < 0.7:
        return tuple(names)
    return tuple(
        f"{one} {two}" for one, two in zip(names, rng.sample(style.words(SURNAMES), count), strict=True)
    )


def name(rng: Random, style: Style) -> str:
    """Somebody who is not a filler, by a trade with an article, so that it is none of the others."""
    return f"the {rng.choice(style.nouns(TRADES)).name}"


def wording(rng: Random, style: Style, table: Wordings, key: str) -> str:
    """One of the wordings of a meaning that a section uses."""
    return rng.choice(table[key][style.fresh])


def thing(rng: Random, style: Style) -> tuple[Category, Noun]:
    """A kind of thing and its category."""
    category = rng.choice(style.categories())
    return category, rng.choice(category.kinds)


class Done(NamedTuple):
    """A verb phrase in the forms that clauses need."""

    past: str
    base: str
    ing: str
    participle: str


def done(rng: Random, style: Style) -> Done:
    """Something that people did: an activity, or a deed on a thing."""
    if rng.random() < 0.4:
        each = rng.choice(unseen(ACTIVITIES) if style.fresh else (*seen(ACTIVITIES), *COMMON))
        verb, rest = each.verb, each.rest
    else:
        category, kind = thing(rng, style)
        verb = rng.choice(DEEDS_ON[category.groups[0]]).verb
        rest = f"{a(kind.name)}"
    return Done(*(f"{form} {rest}".strip() for form in (verb.past, verb.base, verb.ing, verb.participle)))
