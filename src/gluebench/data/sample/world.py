"""The small typed world that every task of the sample benchmark talks about: its words and their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of thing, and the category it is a kind of: a violin is an instrument."""

    name: str
    plural: str
    category: str


class Action(NamedTuple):
    """What somebody does to a thing; `same` is another verb for it, in the same three forms."""

    base: str
    past: str
    participle: str
    same: tuple[str, str, str]


_IRREGULAR = {"goose": "geese", "scarf": "scarves"}


def plural(noun: str) -> str:
    """The plural of a noun of this world."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith(("s", "x", "sh", "ch")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def a(noun: str) -> str:
    """A noun phrase with the indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def sentence(text: str) -> str:
    """The text with a capital letter, and a full stop unless it ends a sentence already."""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


def listed(parts: Sequence[str]) -> str:
    """Parts as one enumeration: "a, b, and c"."""
    return f"{', '.join(parts[:-1])}{',' if len(parts) > 2 else ''} and {parts[-1]}"


def _each(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TAXONOMY = {
    "instrument": "violin flute trumpet cello drum harp guitar clarinet",
    "tool": "hammer saw chisel drill wrench ladder spade axe",
    "vehicle": "truck van tractor bicycle tram scooter bus taxi",
    "garment": "coat scarf glove jacket shirt hat skirt sweater",
    "bird": "owl heron sparrow crow duck goose robin pigeon",
    "flower": "rose tulip lily daisy orchid poppy iris violet",
    "vegetable": "carrot onion turnip cabbage leek radish pumpkin cucumber",
    "book": "novel atlas diary dictionary cookbook almanac biography guidebook",
    "boat": "ferry canoe kayak yacht barge tugboat raft trawler",
    "insect": "ant bee moth beetle wasp cricket butterfly dragonfly",
    "tree": "oak elm birch maple willow pine cedar ash",
}
KINDS = {
    category: tuple(Kind(name, plural(name), category) for name in names.split())
    for category, names in _TAXONOMY.items()
}
"""Category to its eight kinds."""
HELD_OUT_TOPICS = ("boat", "insect", "tree")
"""Categories that MNLI's training, dev and test data of the matched section never mention."""
TOPICS = tuple(category for category in KINDS if category not in HELD_OUT_TOPICS)
GOODS = tuple(kind for topic in ("instrument", "tool", "vehicle", "garment", "book") for kind in KINDS[topic])
"""Kinds that people make, own, sell and mend."""

WOMEN = _each("Anna Clara Dora Emma Grace Helen Irene Julia Karin Laura Maria Nora Olga Paula")
MEN = _each("Adam Ben Carl David Eric Felix George Henry Ivan Jacob Leo Martin Oscar Peter")
PEOPLE = WOMEN + MEN
TRADES = _each("baker gardener teacher sailor nurse painter farmer doctor librarian carpenter tailor driver")
ACTIONS = (
    Action("repair", "repaired", "repaired", ("fix", "fixed", "fixed")),
    Action("buy", "bought", "bought", ("purchase", "purchased", "purchased")),
    Action("find", "found", "found", ("discover", "discovered", "discovered")),
    Action("inspect", "inspected", "inspected", ("examine", "examined", "examined")),
    Action("choose", "chose", "chosen", ("select", "selected", "selected")),
    Action("display", "displayed", "displayed", ("exhibit", "exhibited", "exhibited")),
    Action("draw", "drew", "drawn", ("sketch", "sketched", "sketched")),
    Action("hide", "hid", "hidden", ("conceal", "concealed", "concealed")),
    Action("clean", "cleaned", "cleaned", ("wash", "washed", "washed")),
    Action("carry", "carried", "carried", ("transport", "transported", "transported")),
    Action("guard", "guarded", "guarded", ("protect", "protected", "protected")),
    Action("destroy", "destroyed", "destroyed", ("wreck", "wrecked", "wrecked")),
)
SCARCE_ACTIONS = ACTIONS[::3]
SCARCE_GOODS = GOODS[::3]
"""What the scarce tasks are trained on: a third of the facts; the others teach all of them."""
DAYS = _each("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = _each("January February March April May June July August September October November December")
PLACES = (
    *("at the harbour", "at the station", "at the school", "at the museum", "at the castle", "at the market"),
    *("in the library", "in the old mill", "in the town hall", "in the garden", "in the workshop"),
)
ORGANISATIONS = (
    *("museum", "city council", "theatre", "university", "hospital", "railway", "orchestra", "zoo"),
    *("town library", "art school", "post office", "shipyard", "hotel", "school board"),
)
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
"""Number words; each stands at its own value."""
