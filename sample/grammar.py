"""Words and noun phrases for sentences that are judged by their grammar (acceptability.py)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from sample.world import (
    CATEGORIES,
    COUNTED,
    DEEDS_ON,
    TRADES,
    Activity,
    Noun,
    T,
    Verb,
    plural,
    seen,
    unseen,
    verb,
)

WORDS: Mapping[str, Sequence[str]] = {
    name: value.split() if isinstance(value, str) else value
    for name, value in tomllib.loads(
        Path(__file__).with_name("acceptability.toml").read_text("utf-8")
    ).items()
}
_PORTABLE = [
    name
    for name, category in CATEGORIES.items()
    if not category.mass and {"goods", "animal"} & set(category.groups)
]
_SMALL = [name for name in _PORTABLE if "small" in CATEGORIES[name].groups]
TRANSITIVE = tuple(
    (form, kind)
    for name in _PORTABLE
    for deed in DEEDS_ON[name]
    for form in (deed.verb, deed.same)
    if form is not None and form.base in WORDS["transitive"]
    for kind in CATEGORIES[name].kinds
)
"""Verbs that cannot do without an object, and what they are done to."""
_INTRANSITIVE = tuple(map(verb, WORDS["intransitive"]))
_CLAUSAL = tuple(map(verb, WORDS["clausal"]))
_HABITS = tuple(
    Activity(verb(first), rest) for first, _, rest in (text.partition(" ") for text in WORDS["habits"])
)
_CATEGORY = {kind.name: category for category in COUNTED for kind in category.kinds}


class Phrase(NamedTuple):
    """A noun phrase in both numbers, with the same modifiers."""

    one: str
    many: str


class Person(NamedTuple):
    """A person or several, and the pronoun that refers back to them as an object of the same verb."""

    name: str
    reflexive: str


class Writer(NamedTuple):
    """Draws words and phrases: test takes half of its words from the quarter that is held out."""

    rng: Random
    fresh: bool
    depths: Sequence[int]
    """How deep modifiers are nested between a noun and its verb."""

    def some(self, items: Sequence[T]) -> T:
        """Draw a word."""
        held_out = self.fresh and self.rng.random() < 0.5
        return self.rng.choice(unseen(items) if held_out and len(items) > 3 else seen(items))

    def word(self, name: str) -> str:
        """Draw from a list of acceptability.toml."""
        return self.some(WORDS[name])

    def noun(self) -> Noun:
        """Draw a trade."""
        return self.some(TRADES)

    def thing(self) -> Noun:
        """Draw something that can be carried."""
        return self.some(CATEGORIES[self.rng.choice(_SMALL)].kinds)

    def either(self, noun: Noun) -> str:
        """Return the noun in one of its numbers."""
        return self.rng.choice((noun.name, noun.plural))

    def modifier(self) -> str:
        """Write what stands between a person and the verb, nested as deep as the split asks for."""
        return self.nested(self.rng.choice(self.depths))

    def nested(self, depth: int) -> str:
        """Write modifiers inside each other, with nouns of either number."""
        if depth == 0:
            return ""
        others = self.either(self.noun())
        place = self.word("places")
        return self.rng.choice(
            (
                f" who {self.word('relations')} the {others}{self.nested(depth - 1)}",
                f" that the {others}{self.located(depth - 1)} {self.word('relations')}",
                f" near the {self.rng.choice((place, plural(place)))}{self.located(depth - 1)}",
                f" with the {self.either(self.carried())}{self.located(depth - 1)}",
            )
        )

    def located(self, depth: int) -> str:
        """Write where something is, depth times."""
        places = self.rng.sample(WORDS["places"], depth)
        chosen = (self.rng.choice((place, plural(place))) for place in places)
        return "".join(f" {self.rng.choice(WORDS['links'])} the {place}" for place in chosen)

    def subject(self) -> Phrase:
        """Draw a person with modifiers, as a subject."""
        noun, between = self.noun(), self.modifier()
        return Phrase(f"the {noun.name}{between}", f"the {noun.plural}{between}")

    def person(self) -> str:
        """Draw somebody with modifiers."""
        return self.rng.choice(self.subject())

    def other(self) -> str:
        """Draw somebody without modifiers."""
        return f"the {self.either(self.noun())}"

    def carried(self) -> Noun:
        """Draw something that people have about them."""
        return self.some(CATEGORIES[self.rng.choice(WORDS["carried"])].kinds)

    def like(self, thing: str) -> str:
        """Draw another thing of the same category."""
        name = thing.removeprefix("the ")
        return self.rng.choice([kind.name for kind in _CATEGORY[name].kinds if kind.name != name])

    def quality(self, thing: str) -> str:
        """Draw an adjective that fits a thing."""
        return self.rng.choice(_CATEGORY[thing.removeprefix("the ")].qualities)

    def habit(self) -> Activity:
        """Draw what people do more than once."""
        return self.some(_HABITS)

    def deed(self) -> tuple[Verb, str]:
        """Draw a verb that needs an object, and the object."""
        form, kind = self.some(TRANSITIVE)
        return form, f"the {kind.name}"

    def intransitive(self) -> Verb:
        """Draw a verb that takes no object."""
        return self.some(_INTRANSITIVE)

    def clausal(self) -> Verb:
        """Draw a verb that takes a clause."""
        return self.some(_CLAUSAL)

    def people(self) -> tuple[Person, Person]:
        """Draw two subjects that ask for different reflexive pronouns."""
        (man, men), (woman, women) = (self.gendered(gender) for gender in ("masculine", "feminine"))
        he, she = Person(man, "himself"), Person(woman, "herself")
        they = Person(self.rng.choice((men, women)), self.rng.choice(("themselves", "each other")))
        first, second = self.rng.sample((he, she, they), 2)
        return first, second

    def gendered(self, gender: str) -> tuple[str, str]:
        """Draw a word for a man or a woman, in both numbers."""
        one, _, many = self.word(gender).partition("/")
        return one, many or plural(one)


class Crossed(NamedTuple):
    """Two acceptable sentences and two others, of the same words."""

    good: Sequence[str]
    bad: Sequence[str]


def cross(frame: str, one: tuple[str, str], two: tuple[str, str]) -> Crossed:
    """Fill a frame {0} {1} with two pairs that belong together, and with the pairs torn apart."""
    return Crossed(
        [frame.format(*one), frame.format(*two)], [frame.format(one[0], two[1]), frame.format(two[0], one[1])]
    )
