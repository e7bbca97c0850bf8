"""Probes for three shortcuts of inference models, in sentences of a grammar of our own.

McCoy, Pavlick and Linzen (ACL 2019) name three: that a premise entails whatever is made of its words
(lexical overlap), whatever run of words stands in it (subsequence), and whatever phrase it contains
(constituent). Each holds for half of the cases here and fails for the other half. Every case is filled with
the same words, so that no word tells the label.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from gluebench.analysis.challenge.item import Item, classes, english
from gluebench.benchmark import Task

MOST = 300
"""Examples of a case: no premise comes twice, and the shortest has 384 wordings."""
_LABELS = {"e": "entailment", "n": "neutral"}
_GRAMMAR = english("shortcuts")
SHORTCUTS: tuple[str, ...] = tuple(_GRAMMAR["cases"])


class Case(NamedTuple):
    """A kind of pair, with what each sentence says of the other."""

    shortcut: str
    name: str
    premise: str
    hypothesis: str
    forward: str
    backward: str
    phenomena: tuple[str, ...]

    @property
    def entailed(self) -> bool:
        """Whether the shortcut leads to the right answer."""
        return self.forward == _LABELS["e"]

    @property
    def title(self) -> str:
        """Unique: "subsequence, no: relative clause"; "no" where the shortcut misleads."""
        return f"{self.shortcut}, {'yes' if self.entailed else 'no'}: {self.name}"


def _cases() -> Iterator[Case]:
    for shortcut, table in _GRAMMAR["cases"].items():
        for line in table.splitlines():
            name, premise, hypothesis, labels, phenomenon = line.split(" | ")
            forward, backward = (_LABELS[letter] for letter in labels)
            yield Case(shortcut, name, premise, hypothesis, forward, backward, (phenomenon,))


CASES = tuple(_cases())


def shortcuts(task: Task, *, each: int = 50, seed: int = 0) -> list[Item]:
    """`each` examples of every case, for a model of an inference task. The same seed gives the same examples.

    Whatever is not entailment counts as right where nothing follows, as in the paper. Raises DataError for a
    task that is not inference, ValueError for a number out of range.
    """
    if not 1 <= each <= MOST:
        raise ValueError(f"{each} examples of each case; expected 1 to {MOST}")
    words = classes(task)
    others = tuple(word for word in task.words if word != words.entailment)
    chance = Random(f"shortcuts/{seed}")
    items: list[Item] = []
    seen: set[str] = set()
    number = 0
    while number < each:
        filling = dict(_filling(chance))
        pairs = [(case.premise.format(**filling), case.hypothesis.format(**filling)) for case in CASES]
        if any(premise in seen for premise, _ in pairs):
            continue
        seen.update(premise for premise, _ in pairs)
        for case, pair in zip(CASES, pairs, strict=True):
            label = words.word(case.forward)
            accepted = (label,) if case.entailed else others
            about = (words.word(case.backward), "artificial", case.phenomena, f"shortcuts-{number}")
            items.append(Item(task.name, case.title, pair, label, accepted, *about))
        number += 1
    return items


def _filling(chance: Random) -> Iterator[tuple[str, str]]:
    """A word for every slot; those of one kind differ."""
    yield from zip("abc", chance.sample(_GRAMMAR["nouns"].split(), 3), strict=True)
    yield from zip("ij", chance.sample(_GRAMMAR["alone"].split(), 2), strict=True)
    for slot, words in _GRAMMAR["slots"].items():
        yield slot, chance.choice(words)
