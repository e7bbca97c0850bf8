"""WNLI's shape, tiny: twin texts in which one wording decides whom a pronoun means."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from sample.frame import Row, Shelf, Splits, shares
from sample.world import MEN, WOMEN, seen, sentence, unseen

NOT, ENTAILED = "0", "1"
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CLOSINGS: Sequence[str] = _DATA["closings"]


class Schema(NamedTuple):
    """A text with fields for two people, the pronoun and the deciding wording (coreference.toml)."""

    text: str
    first: str
    second: str
    said: str


class People(NamedTuple):
    """Two people of one gender, and their pronoun."""

    one: str
    two: str
    pronoun: str


def _schemas(name: str) -> tuple[Schema, ...]:
    return tuple(Schema(**entry) for entry in _DATA[name])


SHARED, OWN = _schemas("shared"), _schemas("own")
"""Of training and dev: with the deciding wording in the premise alone, and in both texts."""
HELD_OUT = (*_schemas("shared_test"), *_schemas("own_test"))
"""Of the test split."""


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Write a balanced train split, dev twins of a part of it, a test of new schemas and names."""
    shelf = Shelf(rng)
    twins = shelf.draw(lambda: _block(rng, SHARED, fresh=False), 2 * sizes["dev"])
    train: list[Row] = []
    dev: list[Row] = []
    for start in range(0, len(twins), 4):
        sides = [twins[start : start + 2], twins[start + 2 : start + 4]]
        rng.shuffle(sides)  # which name the pronoun means must not tell the twins of train from those of dev
        train += sides[0]
        dev += sides[1]
    train += shelf.draw(lambda: _block(rng, SHARED + OWN, fresh=False), sizes["train"] - len(train))
    test = shelf.thin(
        partial(_block, rng, HELD_OUT, fresh=True), shares(sizes["test"], NOT, 0.65, other=ENTAILED)
    )
    rng.shuffle(train)
    rng.shuffle(dev)
    return {"train": train, "dev": dev, "test": test}


def _people(rng: Random, *, fresh: bool) -> People:
    names, pronoun = rng.choice(((WOMEN, "she"), (MEN, "he")))
    one, two = rng.sample(unseen(names) if fresh else seen(names), 2)
    return People(one, two, pronoun)


def _block(rng: Random, schemas: Sequence[Schema], *, fresh: bool) -> list[Row]:
    """Write both twins, two rows each: either name in the pronoun's place."""
    schema, people = rng.choice(schemas), _people(rng, fresh=fresh)
    closing = rng.choice(("", " " + rng.choice(unseen(CLOSINGS) if fresh else seen(CLOSINGS))))
    return [
        row
        for word, meant in ((schema.first, people.one), (schema.second, people.two))
        for row in _rows(schema, people, closing, word, meant)
    ]


def _rows(schema: Schema, people: People, closing: str, word: str, meant: str) -> list[Row]:
    fields = {"a": people.one, "b": people.two, "he": people.pronoun}
    word = word.format(**fields)
    premise = sentence(schema.text.format(w=word, **fields)) + closing
    return [
        Row(
            (premise, sentence(f"{name} {schema.said.format(w=word)}")),
            ENTAILED if name == meant else NOT,
            premise,
        )
        for name in (people.one, people.two)
    ]
