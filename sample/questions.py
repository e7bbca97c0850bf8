"""QQP's shape: pairs of questions from the web, duplicates if they ask for the same thing."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sample.frame import Row, Shelf, Splits, shares, wordings
from sample.world import a, seen

NOT, DUPLICATE = "0", "1"
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DOMAINS: Mapping[str, Mapping[str, Any]] = _DATA["domains"]
"""Domain to its topics and intents."""
COMPARISONS: Sequence[Mapping[str, Any]] = _DATA["comparisons"]
_COMPARED = 0.15
"""Share of pairs that compare two topics."""


class Asked(NamedTuple):
    """What a question asks for."""

    domain: str
    intent: int
    topics: tuple[str, ...]
    """One, or two that are compared, the first of which is said to be more."""


class Lexicon(NamedTuple):
    """What a split is written with: test has all topics and wordings, training not all."""

    rng: Random
    fresh: bool

    def topics(self, domain: str, number: int) -> tuple[str, ...]:
        """Draw different topics of a domain."""
        words = DOMAINS[domain]["topics"].split()
        return tuple(self.rng.sample(words if self.fresh else seen(words), number))

    def wording(self, forms: Sequence[str]) -> str:
        """Draw a wording."""
        return self.rng.choice(wordings(forms, fresh=self.fresh))


def generate(rng: Random, sizes: Mapping[str, int]) -> Splits:
    """Train and dev with 37 % duplicates as in QQP; test, whose prior differs, with half."""
    shelf = Shelf(rng)
    splits: Splits = {}
    for split, size in sizes.items():
        share = 0.5 if split == "test" else 0.37
        lexicon = Lexicon(rng, fresh=split == "test")
        splits[split] = shelf.thin(partial(_pairs, lexicon), shares(size, DUPLICATE, share, other=NOT))
    return splits


def _pairs(lexicon: Lexicon) -> list[Row]:
    """One question with a duplicate, and with another question that may look like one."""
    draw = _compared if lexicon.rng.random() < _COMPARED else _single
    first, duplicate, other = draw(lexicon)
    return [Row((first, duplicate), DUPLICATE), Row((first, other), NOT)] if first != duplicate else []


def _single(lexicon: Lexicon) -> tuple[str, str, str]:
    rng = lexicon.rng
    domain = rng.choice(list(DOMAINS))
    one, two = rng.sample(range(len(DOMAINS[domain]["intents"])), 2)
    topic, another = lexicon.topics(domain, 2)
    asked = Asked(domain, one, (topic,))
    changed = rng.choice(
        (
            *[asked._replace(intent=two)] * 3,
            asked._replace(topics=(another,)),
            Asked(domain, two, (another,)),
        )
    )
    return _written(lexicon, asked), _written(lexicon, asked), _written(lexicon, changed)


def _written(lexicon: Lexicon, asked: Asked) -> str:
    text = lexicon.wording(DOMAINS[asked.domain]["intents"][asked.intent])
    topic = asked.topics[0]
    return text.replace("a {x}", a(topic)).replace("{x}", topic)


def _compared(lexicon: Lexicon) -> tuple[str, str, str]:
    """Two topics: more of the one is less of the other, and not more of the other."""
    entry = lexicon.rng.choice(COMPARISONS)
    one, two = lexicon.topics(entry["domain"], 2)
    first = lexicon.rng.choice(entry["same"]).format(x=one, y=two)
    duplicates = [form.format(x=one, y=two) for form in entry["same"]]
    duplicates += [form.format(x=two, y=one) for form in entry["turned"]]
    others = [form.format(x=two, y=one) for form in entry["same"]]
    others += [form.format(x=one, y=two) for form in entry["turned"]]
    sizes = tuple(map(lexicon.rng.choice, (duplicates, others)))
    return first, sizes[0], sizes[1]
