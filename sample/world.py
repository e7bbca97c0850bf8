"""The words of the sample benchmark by meaning: things in categories, what people do to them, people, places.

`CATEGORIES["instrument"].kinds` are nouns; `DEEDS_ON["instrument"]` are the verbs that go with each of them,
most with another verb for the same deed (`Deed.same`); `SPOTS`, `DAYS`, `NUMBERS`, ... are strings. `seen`
and `unseen` part any of these lists into words for training and words held out for a task's test split.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

_FOLDER = Path(__file__).with_name("lexicon")
_VOWELS = "aeiou"
_SOUNDS_LIKE_CONSONANT = ("uni", "eu", "uku", "uk", "ewe", "one", "use", "ute", "uti")
_DOUBLES = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""Short verbs whose final consonant is doubled: stop, stopped."""
T = TypeVar("T")


class Noun(NamedTuple):
    """A kind of thing, or a trade."""

    name: str
    plural: str
    category: str


class Verb(NamedTuple):
    """The forms of a verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


class Deed(NamedTuple):
    """What somebody does to a thing."""

    verb: Verb
    same: Verb | None
    """Another verb for the same deed."""
    groups: tuple[str, ...]
    """Categories, or groups of them, to whose things it is done."""


class Category(NamedTuple):
    """A category of things; every place and quality fits every kind in it."""

    name: str
    plural: str
    kinds: tuple[Noun, ...]
    groups: tuple[str, ...]
    places: tuple[str, ...]
    qualities: tuple[str, ...]
    mass: bool
    """Whether its nouns have no plural and no article: bread, glass."""


class Activity(NamedTuple):
    """What somebody did, without an object to fill in: "missed the last train"."""

    verb: Verb
    rest: str


def a(noun: str) -> str:
    """A noun phrase with the indefinite article."""
    vowel = noun[0].lower() in _VOWELS and not noun.lower().startswith(_SOUNDS_LIKE_CONSONANT)
    return f"{'an' if vowel or noun.startswith(('honest', 'heir', 'hour')) else 'a'} {noun}"


def sentence(text: str) -> str:
    """The text with a capital letter, and a full stop unless it ends a sentence already."""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


def listed(parts: Sequence[str], joint: str = "and") -> str:
    """Parts as one enumeration: "a, b, and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])}{',' if len(parts) > 2 else ''} {joint} {parts[-1]}"


def plural(noun: str) -> str:
    """The regular plural of a noun."""
    if noun.endswith(("s", "x", "sh", "ch", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def verb(text: str) -> Verb:
    """The forms of a verb: "paint", "write/wrote/written", or "admit+" where a final consonant is doubled."""
    base, *irregular = text.split("/")
    doubled = base.endswith("+") or _DOUBLES.fullmatch(base)
    base = base.rstrip("+")
    stem = base + base[-1] if doubled else base
    third = plural(base) if not base.endswith("o") else base + "es"
    ing = stem[:-1] + "ing" if stem.endswith("e") and not stem.endswith(("ee", "ye")) else stem + "ing"
    if irregular:
        return Verb(base, third, irregular[0], irregular[1], ing)
    if base.endswith("y") and base[-2] not in _VOWELS:
        past = base[:-1] + "ied"
    else:
        past = stem + ("d" if stem.endswith("e") else "ed")
    return Verb(base, third, past, past, ing)


def seen(words: Sequence[T]) -> tuple[T, ...]:
    """The three quarters of a list that every split may use."""
    return _parted(tuple(words))[0]


def unseen(words: Sequence[T]) -> tuple[T, ...]:
    """The quarter of a list that a task may hold out for its test split."""
    return _parted(tuple(words))[1]


@cache
def _parted(words: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(word for place, word in enumerate(words) if place % 4 != 3), words[3::4]


def _noun(text: str, category: str) -> Noun:
    name, _, irregular = text.partition("/")
    return Noun(name, irregular or plural(name), category)


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text("utf-8"))


def _category(name: str, entry: dict[str, Any]) -> Category:
    mass = entry.get("mass", False)
    kinds = tuple(_noun(word, name) for word in entry["words"].split())
    return Category(
        entry.get("singular", name),
        entry.get("plural", plural(entry.get("singular", name))),
        tuple(kind._replace(plural=kind.name) for kind in kinds) if mass else kinds,
        (name, *entry["groups"]),
        tuple(entry["places"]),
        tuple(entry["qualities"].split()),
        mass,
    )


def _deeds() -> tuple[Deed, ...]:
    deeds = []
    for line in (_FOLDER / "verbs.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            first, second, groups = (part.strip() for part in line.split("|"))
            deeds.append(Deed(verb(first), None if second == "-" else verb(second), tuple(groups.split())))
    return tuple(deeds)


def _activity(text: str) -> Activity:
    first, _, rest = text.partition(" ")
    return Activity(verb(first), rest)


def _phrases(text: str) -> tuple[str, ...]:
    """The phrases of a list that are parted by bars or line ends."""
    return tuple(part.strip() for part in text.replace("\n", "|").split("|") if part.strip())


_PEOPLE, _MORE = _load("people.toml"), _load("more.toml")
CATEGORIES = {name: _category(name, entry) for name, entry in _load("things.toml").items()}
"""Name to category."""
DEEDS = _deeds()
DEEDS_ON = {
    name: tuple(deed for deed in DEEDS if set(deed.groups) & set(category.groups))
    for name, category in CATEGORIES.items()
}
"""Category to what is done to its things."""
COUNTED = tuple(category for category in CATEGORIES.values() if not category.mass)
"""The categories whose nouns have a plural."""
WOMEN: tuple[str, ...] = tuple(_PEOPLE["women"].split())
MEN: tuple[str, ...] = tuple(_PEOPLE["men"].split())
PEOPLE = (*WOMEN, *MEN)
SURNAMES: tuple[str, ...] = tuple(
    name for name in (_PEOPLE["surnames"] + "\n" + _PEOPLE["more_surnames"]).split() if name not in PEOPLE
)
TOWNS: tuple[str, ...] = tuple(name for name in _PEOPLE["towns"].split() if name not in (*PEOPLE, *SURNAMES))
TRADES = tuple(_noun(word, "person") for word in _PEOPLE["trades"].split())
ROLES = tuple(_noun(word, "person") for word in _PEOPLE["roles"].split())
"""What else people are: guests, hikers, pupils."""
DAYS: tuple[str, ...] = tuple(_MORE["days"].split())
MONTHS: tuple[str, ...] = tuple(_MORE["months"].split())
NUMBERS: tuple[str, ...] = tuple(_MORE["numbers"].split())
"""Number words; each stands at its own value."""
LANGUAGES: tuple[str, ...] = tuple(_MORE["languages"].split())
SPORTS: tuple[str, ...] = tuple(_MORE["sports"].split())
SUBJECTS: tuple[str, ...] = tuple(_MORE["subjects"].split())
ORGANIZATIONS: tuple[str, ...] = tuple(_MORE["organizations"].split())
SPOTS = _phrases(_MORE["spots"])
"""Where something can happen: "at the harbour"."""
ACTIVITIES = tuple(_activity(text) for text in _phrases(_MORE["deeds"]))
