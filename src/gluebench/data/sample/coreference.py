"""WNLI's shape, tiny: twin sentences in which one word decides whom a pronoun means."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from gluebench.data.sample.rows import Row, Shelf, Splits, shares
from gluebench.data.sample.world import MEN, WOMEN, sentence

NOT, ENTAILED = "0", "1"


class Schema(NamedTuple):
    """A sentence with fields for two people {a} {b}, the pronoun {he} and the deciding word {w}."""

    text: str
    first: str
    """The word that makes the pronoun mean {a}."""
    second: str
    """The word that makes it mean {b}."""
    said: str
    """What is said of the one meant, with a field {w} if the deciding word is in it."""


class Filled(NamedTuple):
    """A schema with its two people, of one gender, and their pronoun."""

    schema: Schema
    people: tuple[str, str]
    pronoun: str


_SHARED = (
    Schema(
        "{a} {w} {b} because {he} needed money for the rent",
        "borrowed some money from",
        "lent some money to",
        "needed money for the rent",
    ),
    Schema(
        "{a} {w} {b} because {he} had hurt a hand",
        "was replaced at the piano by",
        "took the place of",
        "had hurt a hand",
    ),
    Schema(
        "{a} {w} {b} because {he} had won the race",
        "was congratulated by",
        "congratulated",
        "had won the race",
    ),
    Schema(
        "{a} {w} {b}, and {he} read it the same evening",
        "got a letter from",
        "wrote a letter to",
        "read the letter",
    ),
    Schema(
        "{a} {w} {b} because {he} wanted to learn the flute",
        "took lessons from",
        "taught",
        "wanted to learn the flute",
    ),
    Schema(
        "{a} {w} {b} because {he} had broken the window", "apologised to", "scolded", "had broken the window"
    ),
    Schema(
        "{a} {w} {b}, because {he} had missed the course", "was helped by", "helped", "had missed the course"
    ),
    Schema(
        "{a} {w} {b}, because {he} was getting wet",
        "took an umbrella from",
        "gave an umbrella to",
        "was getting wet",
    ),
    Schema("{a} {w} {b} because {he} had a broken leg", "was carried by", "carried", "had a broken leg"),
    Schema(
        "{a} {w} {b}, since {he} had not heard the alarm",
        "was warned by",
        "warned",
        "had not heard the alarm",
    ),
    Schema(
        "{a} {w} {b}, and {he} paid for it at once",
        "bought a boat from",
        "sold a boat to",
        "paid for the boat",
    ),
    Schema(
        "{a} {w} {b}, because {he} was a stranger in the town",
        "asked the way of",
        "gave directions to",
        "was a stranger",
    ),
)
"""The deciding word is in the part that the hypothesis leaves out: twins have the same hypotheses."""
_OWN = (
    Schema("{a} could not lift {b} because {he} was too {w}", "weak", "heavy", "was too {w}"),
    Schema("{a} beat {b} in the race because {he} had trained {w}", "harder", "less", "had trained {w}"),
    Schema("{a} passed the ball to {b} because {he} was {w}", "tired", "close to the goal", "was {w}"),
    Schema("{a} envied {b} because {he} was so {w}", "poor", "rich", "was so {w}"),
    Schema("{a} forgave {b} although {he} had been so {w}", "hurt", "unkind", "had been so {w}"),
    Schema("{a} shouted at {b} because {he} was so {w}", "angry", "careless", "was so {w}"),
    Schema("{a} hired {b} because {he} {w}", "was short of staff", "was a good cook", "{w}"),
    Schema("{a} caught up with {b} because {he} ran so {w}", "fast", "slowly", "ran so {w}"),
    Schema("{a} lost to {b} at chess because {he} played so {w}", "badly", "well", "played so {w}"),
    Schema("{a} followed {b} through the forest because {he} {w}", "was lost", "knew the way", "{w}"),
)
"""The deciding word is in the hypothesis too."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train balanced; dev twins of a part of it: the same hypotheses, the other label; test 65 % false."""
    shelf = Shelf(rng)
    twins = shelf.draw(lambda: _block(_drawn(rng, _SHARED)), 2 * sizes["dev"])
    train: list[Row] = []
    dev: list[Row] = []
    for start in range(0, len(twins), 4):
        sides = [twins[start : start + 2], twins[start + 2 : start + 4]]
        rng.shuffle(sides)  # which name the pronoun means must not tell the twins of train from those of dev
        train += sides[0]
        dev += sides[1]
    train += shelf.draw(lambda: _block(_drawn(rng, _SHARED + _OWN)), sizes["train"] - len(train))
    test = shelf.thin(
        lambda: _block(_drawn(rng, _SHARED + _OWN)), shares(sizes["test"], NOT, 0.65, other=ENTAILED)
    )
    rng.shuffle(train)
    rng.shuffle(dev)
    return {"train": train, "dev": dev, "test": test}


def _drawn(rng: Random, schemas: tuple[Schema, ...]) -> Filled:
    names, pronoun = rng.choice(((WOMEN, "she"), (MEN, "he")))
    first, second = rng.sample(names, 2)
    return Filled(rng.choice(schemas), (first, second), pronoun)


def _block(filled: Filled) -> list[Row]:
    """Both twins, two rows each: either name in the pronoun's place."""
    schema, (one, two), pronoun = filled
    rows = []
    for meant, word in ((one, schema.first), (two, schema.second)):
        premise = sentence(schema.text.format(a=one, b=two, he=pronoun, w=word))
        for name in (one, two):
            hypothesis = sentence(f"{name} {schema.said.format(w=word)}")
            rows.append(Row((premise, hypothesis), ENTAILED if name == meant else NOT, premise))
    return rows
