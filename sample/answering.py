"""QNLI's shape: a question, and a sentence of the same article that answers it or does not."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shelf, Splits, wordings
from sample.world import (
    LANGUAGES,
    MEN,
    MONTHS,
    NUMBERS,
    ORGANIZATIONS,
    PEOPLE,
    SPORTS,
    SUBJECTS,
    SURNAMES,
    TOWNS,
    TRADES,
    WOMEN,
    a,
    seen,
    unseen,
)

ENTAILMENT, NOT = "entailment", "not_entailment"
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ARTICLES: Mapping[str, Mapping[str, Any]] = _DATA["articles"]
"""Kind of article to its facts, each with sentences and questions."""
FIELDS: Mapping[str, Sequence[str]] = {
    "town": TOWNS,
    "subject": SUBJECTS,
    "trade": tuple(trade.name for trade in TRADES),
    "organization": ORGANIZATIONS,
    "month": MONTHS,
    "language": LANGUAGES,
    "sport": SPORTS,
    "number": NUMBERS[2:],
    "children": NUMBERS[2:8],
    "days": NUMBERS[15:],
    "years": NUMBERS[2:12],
    "price": NUMBERS[3:],
    "year": tuple(map(str, range(1820, 2010))),
    **_DATA["fields"],
}
"""What may fill a field."""
_SAME_FACT = 0.35
"""How often a sentence that does not answer is on the fact that is asked for, if there is such a sentence."""


class Lexicon(NamedTuple):
    """What a split is written with: test has new names and all wordings."""

    rng: Random
    fresh: bool

    def some(self, words: Sequence[str]) -> str:
        """Draw a name that this split uses."""
        return self.rng.choice(unseen(words) if self.fresh else seen(words))

    def wordings(self, forms: Sequence[str]) -> Sequence[str]:
        """The wordings that this split uses."""
        return wordings(forms, fresh=self.fresh)

    def person(self) -> str:
        """Draw a full name."""
        return f"{self.some(PEOPLE)} {self.some(SURNAMES)}"


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Both labels equally often; names and a part of the wordings are new in test."""
    shelf = Shelf(rng)
    return {
        split: shelf.fill(partial(_block, Lexicon(rng, fresh=split == "test")), size)
        for split, size in sizes.items()
    }


def _block(lexicon: Lexicon) -> list[Row]:
    """Two questions on an article: one with a sentence that answers it, one with a sentence that does not."""
    kind = lexicon.rng.choice(list(ARTICLES))
    subject = _subject(lexicon, kind)
    rows = []
    for label, find in ((ENTAILMENT, _answers), (NOT, _others)):
        fact = lexicon.rng.choice(list(ARTICLES[kind]))
        asked = lexicon.rng.choice(list(ARTICLES[kind][fact]["questions"]))
        question = lexicon.rng.choice(lexicon.wordings(ARTICLES[kind][fact]["questions"][asked]))
        told = find(lexicon, ARTICLES[kind], fact, asked)
        rows.append(Row((_filled(lexicon, question, subject), _filled(lexicon, told, subject)), label))
    return rows


def _answers(lexicon: Lexicon, facts: Mapping[str, Any], fact: str, asked: str) -> str:
    """A sentence on the fact that tells what is asked for."""
    forms = lexicon.wordings(facts[fact]["sentences"])
    return lexicon.rng.choice([form for form in forms if tells(form, asked)])


def _others(lexicon: Lexicon, facts: Mapping[str, Any], fact: str, asked: str) -> str:
    """A sentence on the fact that does not, or one on another fact."""
    silent = [form for form in lexicon.wordings(facts[fact]["sentences"]) if not tells(form, asked)]
    if silent and lexicon.rng.random() < _SAME_FACT:
        return lexicon.rng.choice(silent)
    other = lexicon.rng.choice([name for name in facts if name != fact])
    return lexicon.rng.choice(lexicon.wordings(facts[other]["sentences"]))


def tells(sentence: str, asked: str) -> bool:
    """Whether a sentence has the field that is asked for."""
    return "{" + asked + "}" in sentence


def _subject(lexicon: Lexicon, kind: str) -> dict[str, str]:
    """Names and pronouns of what an article is about."""
    make = _SUBJECTS[kind]
    return make(lexicon)


def _person(lexicon: Lexicon) -> dict[str, str]:
    names, she, her, him = lexicon.rng.choice(((WOMEN, "she", "her", "her"), (MEN, "he", "his", "him")))
    last = lexicon.some(SURNAMES)
    return {
        "name": f"{lexicon.some(names)} {last}",
        "last": last,
        "she": she,
        "She": she.capitalize(),
        "her": her,
        "him": him,
    }


def _town(lexicon: Lexicon) -> dict[str, str]:
    return {"name": f"{lexicon.rng.choice(FIELDS['prefixes'])} {lexicon.some(SURNAMES)}"}


def _company(lexicon: Lexicon) -> dict[str, str]:
    return {"name": f"{lexicon.some(SURNAMES)} {lexicon.rng.choice(FIELDS['suffixes'])}"}


def _building(lexicon: Lexicon) -> dict[str, str]:
    name = f"{lexicon.some(SURNAMES)} {lexicon.rng.choice(FIELDS['landmarks'])}"
    return {"the": f"the {name}", "The": f"The {name}"}


def _team(lexicon: Lexicon) -> dict[str, str]:
    return {"name": f"the {lexicon.some(TOWNS)} {lexicon.rng.choice(FIELDS['nicknames'])}"}


_SUBJECTS: Mapping[str, Callable[[Lexicon], dict[str, str]]] = {
    "person": _person,
    "town": _town,
    "company": _company,
    "building": _building,
    "team": _team,
}


def _filled(lexicon: Lexicon, form: str, subject: Mapping[str, str]) -> str:
    """A wording with its fields filled and its article right."""
    words = dict(subject)
    for name in _fields(form):
        if name in ("partner", "person"):
            words[name] = lexicon.person()
        elif name not in words:
            words[name] = lexicon.rng.choice(FIELDS[name])
    if "a {trade}" in form:
        form = form.replace("a {trade}", a(words["trade"]))
    text = form.format(**words)
    return text[0].upper() + text[1:]


def _fields(form: str) -> Iterator[str]:
    return (name for _, name, _, _ in string.Formatter().parse(form) if name)
